"""What the rules that ship with steward promise, played among 200 members who go on talking."""

import threading
import time

from town import Town
from voice import Voice


class Stage:
    """Plays scenes in the lobby and notes which did not end as they should."""

    def __init__(self, town: Town):
        self.town = town
        self.lobby = town.sids["lobby"]
        self.trouble: list[str] = []
        self.extras = 0

    def somebody(self) -> Voice:
        """A member who has not been in a scene yet."""
        self.extras += 1
        return self.town.members[f"member{self.extras}"]

    def newcomer(self, name: str) -> Voice:
        return self.town.enter(name, "lobby", "general")

    def check(self, scene: str, holds, seconds: float = 10) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                print(f"  {scene}: no", flush=True)
                return self.trouble.append(scene)
            time.sleep(0.05)
        print(f"  {scene}: {time.monotonic() - end + seconds:.1f} s", flush=True)

    def stays(self, scene: str, text: str, name: str = "lobby", seconds: float = 2) -> None:
        """Something that would be wrong must not happen a little later either."""
        self.check(f"{scene} is said", lambda: self.is_there(text, name))
        time.sleep(seconds)
        if not self.is_there(text, name):
            print(f"  {scene}: no", flush=True)
            self.trouble.append(scene)

    def is_there(self, text: str, name: str = "lobby") -> bool:
        return any(text in said for said in self.town.watcher.texts(name))

    def is_gone(self, text: str, name: str = "lobby") -> bool:
        with self.town.watcher.lock:
            was = any(text in said for _, _, said in self.town.watcher.written[name].values())
        return was and not self.is_there(text, name)

    def staff_read(self, text: str) -> bool:
        return self.is_there(text, "staff")


def play(stage: Stage) -> None:
    town, lobby = stage.town, stage.lobby
    rude = stage.somebody()
    rude.say("you n1ncompoop", lobby)
    stage.check("a slur is deleted, padding seen through", lambda: stage.is_gone("n1ncompoop"))
    stage.check("staff read of it", lambda: stage.staff_read("n1ncompoop"))
    rude.say("muted words of mine", lobby)
    stage.check("its author is muted", lambda: stage.is_gone("muted words of mine"))
    rude.leave(lobby)
    rude.join(lobby)
    rude.say("words after coming back", lobby)
    stage.check("leaving and coming back helps nobody", lambda: stage.is_gone("words after coming back"))

    town.mod.say("who of you said nincompoop", lobby)
    stage.stays("moderators are left alone", "who of you said nincompoop")

    newcomer = stage.newcomer("newcomer")
    newcomer.say("see https://shop.example.net/offers", lobby)
    stage.check("a newcomer's link is deleted", lambda: stage.is_gone("shop.example.net/offers"))
    stage.check("and explained", lambda: stage.is_there("links open up after your first day"))
    stage.check("for twenty seconds", lambda: stage.is_gone("links open up after your first day"), 30)

    permitted = stage.newcomer("permitted")
    town.mod.say("!permit permitted 5m", lobby)
    time.sleep(1)
    permitted.say("see https://shop.example.net/permitted", lobby)
    stage.stays("a permit opens links", "shop.example.net/permitted")

    loud = stage.somebody()
    loud.say("WHY DOES NOBODY EVER LISTEN TO ME", lobby)
    stage.check("shouting gets a hint", lambda: stage.is_there("No need to shout"))
    stage.stays("and stays", "WHY DOES NOBODY EVER LISTEN TO ME")

    caller = stage.somebody()
    caller.say("@everyone look at me", lobby)
    stage.check("who calls everyone is deleted", lambda: stage.is_gone("@everyone look at me"))
    caller.say("one more thing of mine", lobby)
    stage.check("and muted", lambda: stage.is_gone("one more thing of mine"))

    flooder = stage.somebody()
    words = [f"flood {word} {town.sentence()}" for word in ("one", "two", "three", "four", "five", "six", "seven")]
    for text in words:
        flooder.say(text, lobby)
        time.sleep(0.5)
    stage.check("seven messages in ten seconds are deleted together", lambda: all(stage.is_gone(text) for text in words))

    echo = stage.somebody()
    copies = [f"Buy my wonderful book today, only {left} left" for left in (5, 4, 3)]
    for text in copies:
        echo.say(text, lobby)
        time.sleep(0.5)
    stage.check("much the same three times is deleted", lambda: all(stage.is_gone(text) for text in copies))
    stage.check("and warned of", lambda: stage.is_there("repeating the same message"))

    stage.somebody().say("see https://bit.ly/abcdef", lobby)
    stage.check("short links are deleted", lambda: stage.is_gone("bit.ly/abcdef"))
    stage.somebody().say("wall\n" * 41, lobby)
    stage.check("a wall of text is deleted", lambda: stage.is_gone("wall\nwall"))
    stage.somebody().say("what the heck is this", lobby)
    stage.stays("a rule on dry run does nothing", "what the heck is this")


def split(stage: Stage) -> None:
    """Forty members lose their connection and come back."""
    reports = len(stage.town.watcher.texts("staff"))
    members = [stage.town.members[f"member{number}"] for number in range(100, 140)]
    for voice in members:
        voice.leave(stage.lobby)
    for voice in members:
        voice.join(stage.lobby)
        time.sleep(0.1)
    time.sleep(3)
    stage.check("a server split is no raid", lambda: len(stage.town.watcher.texts("staff")) == reports, 0)


def storm(stage: Stage) -> None:
    """Twelve strangers with one text."""
    strangers = [stage.newcomer(f"stranger{number}") for number in range(12)]
    stage.check("many strangers are told to staff", lambda: stage.staff_read("Watch mode is on"))
    for number, voice in enumerate(strangers[:3]):
        voice.say(f"free coins at cool-place {number}", stage.lobby)
        time.sleep(0.3)
    stage.check("three with one text are a raid", lambda: stage.staff_read("Raid confirmed"))
    stage.check("what they wrote is deleted", lambda: not stage.is_there("cool-place"))
    stage.check(
        "and they are removed",
        lambda: {name for _, _, name in stage.town.watcher.left} >= {f"stranger{number}" for number in range(3)},
    )
    strangers[5].say("hello from a stranger", stage.lobby)
    stage.check("other strangers are not heard", lambda: stage.is_gone("hello from a stranger"))


def crowd() -> list[str]:
    with Town() as town:
        town.start([f"member{number}" for number in range(200)])
        stage = Stage(town)
        stop = threading.Event()
        spoken: list[str] = []

        def talk() -> None:
            while not stop.is_set():
                for number in range(20, 200):
                    if stop.wait(0.1):
                        return
                    text = f"question {len(spoken)} {town.sentence()}"
                    spoken.append(text)
                    town.members[f"member{number}"].say(text, town.sids["general" if number % 2 else "lobby"])

        talking = threading.Thread(target=talk, daemon=True)
        talking.start()
        # Everybody has been seen before the first scene.
        time.sleep(20)
        play(stage)
        split(stage)
        stop.set()
        talking.join()
        time.sleep(3)
        there = town.watcher.texts("lobby") + town.watcher.texts("general")
        lost = [text for text in spoken if text not in there]
        answers = {text for text in there if text.startswith("answer")}
        print(f"200 members said {len(spoken)} things, {len(lost)} of them were deleted, {len(answers)} answered", flush=True)
        if lost:
            stage.trouble.append(f"{len(lost)} innocent messages were deleted, such as: {lost[0]}")
        if len(answers) != len(spoken):
            stage.trouble.append(f"{len(spoken) - len(answers)} questions without an answer")
        storm(stage)
        town.trouble = stage.trouble + town._stopped()
        return town.trouble
