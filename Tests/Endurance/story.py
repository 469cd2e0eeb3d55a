#!/usr/bin/env python3
"""The release program in a short story, told by people on sockets, for what only an optimized program does wrong.

    story.py shipped     steward with the configuration and the bots that ship, and its own chat server
    story.py troubles    tokens of a few seconds, a cut, a kill and a restart in the middle; as Twilio, then as Sendbird
    story.py commands    each command that changes nothing, and the help of all

Ends with 1 when something else happens than should, and then shows the end of the log. Uses .build/release/steward, or
the program that STEWARD_PROGRAM names; loopback only, and a folder of its own.
"""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from person import Gone, Person
from voice import Voices
from world import PROGRAM, World, free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60


class Wrong(Exception):
    """Something else happened."""


class Guest:
    """Somebody at the page, who remembers all that they see."""

    def __init__(self, port: int, name: str, needs_token: bool = False):
        token = ""
        if needs_token:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/token?identity={name}", timeout=10) as answer:
                token = json.load(answer)["token"]
        self.person = Person(port, name, token)
        self.name = name
        self.sids = {c["name"]: c["sid"] for c in self.person.welcome["channels"]}
        self.seen: list[dict] = []
        self.number = 0
        self.change = threading.Condition()
        self.person.socket.settimeout(None)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                word = self.person.receive()
                with self.change:
                    self.seen.append(word)
                    self.change.notify_all()
        except (Gone, OSError):
            pass

    def sees(self, what: str, wanted) -> dict:
        """Waits until something like that was seen."""
        with self.change:
            found = self.change.wait_for(lambda: next((w for w in self.seen if wanted(w)), None), PATIENCE)
        if found is None:
            raise Wrong(f"{self.name} waited in vain for {what}")
        return found

    def ask(self, do: str, channel: str | None = None, **more) -> dict:
        self.number += 1
        number = self.number
        order = {"do": do, "n": number} | more
        if channel:
            order["channel"] = self.sids.get(channel, channel)
        self.person.send(order)
        answer = self.sees(f"the answer to {order}", lambda word: word.get("n") == number)
        if answer["on"] == "error":
            raise Wrong(f"{self.name}: {order}: {answer['text']}")
        return answer

    def say(self, text: str, channel: str) -> str:
        """Its sid."""
        index = self.ask("say", channel, text=text)["index"]
        sid = self.sids[channel]

        def wanted(word: dict) -> bool:
            return word["on"] == "message" and word["channel"] == sid and word["message"]["index"] == index

        return self.sees("their own message", wanted)["message"]["sid"]

    def hears(self, text: str, channel: str, author: str = "steward") -> dict:
        sid = self.sids[channel]

        def wanted(word: dict) -> bool:
            message = word.get("message") or {}
            is_there = word["on"] == "message" and word.get("channel") == sid
            return is_there and message.get("author") == author and text in message.get("text", "")

        return self.sees(f'"{text}" of {author} in {channel}', wanted)

    def misses(self, message: str) -> None:
        """Waits until that message was deleted."""
        self.sees("a message to go", lambda word: word["on"] == "deleted" and word["message"]["sid"] == message)


class Steward:
    """The program with the configuration that ships, but for the port, the folder, and one moderator's name."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="steward-story-"))
        self.port = free_port()
        text = (ROOT / "config.yaml").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")
        wanted = 'moderator: {twilio: "channel admin"'
        if wanted not in text:
            raise Wrong(f"config.yaml has no {wanted}")
        text = text.replace(wanted, wanted + ', users: ["twilio:mia"]')
        text = text.replace("{file: state/steward.db}", "{file: state/steward.db, keep_events: 7d}")
        (self.folder / "config.yaml").write_text(text)
        shutil.copytree(ROOT / "bots", self.folder / "bots")
        self.process: subprocess.Popen | None = None
        self.log = self.folder / "steward.log"

    def start(self) -> None:
        before = self.log.read_text().count("ready: ") if self.log.exists() else 0
        with open(self.log, "ab") as log:
            command = [PROGRAM, "run", "--config", self.folder / "config.yaml"]
            self.process = subprocess.Popen(command, stderr=log, cwd=self.folder)
        self.logs("ready: ", before + 1)

    def logs(self, text: str, count: int = 1) -> None:
        end = time.monotonic() + PATIENCE
        while self.log.read_text().count(text) < count:
            if self.process.poll() is not None:
                raise Wrong(f"steward ended with {self.process.returncode}")
            if time.monotonic() > end:
                raise Wrong(f'waited in vain for "{text}" in the log')
            time.sleep(0.02)

    def run(self, *words: str, code: int = 0) -> str:
        """A command beside it."""
        return run([*words, "--config", str(self.folder / "config.yaml")], self.folder, code)

    def stop(self) -> None:
        """It ends by itself with 0, and leaves nothing open."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE)
        if code != 0:
            raise Wrong(f"steward ended with {code} at SIGTERM")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                raise Wrong("its port is still open")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if kind:
            show(self.log)
        else:
            shutil.rmtree(self.folder)


def show(log: Path) -> None:
    print(f"the end of {log}:")
    print("\n".join(log.read_text(errors="replace").splitlines()[-30:]) if log.exists() else "(nothing)", flush=True)


def run(words: list[str], folder: Path = ROOT, *codes: int) -> str:
    """Runs a command to its end; its output. A signal that ended it is a negative code."""
    end = subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, timeout=120)
    if end.returncode not in (codes or (0,)):
        text = (end.stdout + end.stderr).decode(errors="replace")[-3000:]
        raise Wrong(f"steward {' '.join(words)} ended with {end.returncode}:\n{text}")
    return end.stdout.decode()


def shipped() -> None:
    with Steward() as steward:
        steward.start()
        mia = Guest(steward.port, "mia", needs_token=True)
        for channel in ["general", "support", "staff"]:
            mia.ask("join", channel)
        max_ = Guest(steward.port, "max")
        max_.ask("join", "general")
        mia.hears("Welcome,", "general")
        mia.hears("max", "general")
        mia.say("how do I get a refund?", "support")
        mia.hears("Refunds take 3-5 working days", "support")
        max_.say("!help", "general")
        max_.sees("the help", lambda word: "!karma" in (word.get("message") or {}).get("text", ""))
        max_.say("the site is down again", "general")
        mia.hears("the site is down again", "staff")
        # An edit brings in a link, which a newcomer may not post.
        edited = max_.say("look at this", "general")
        max_.ask("edit", "general", message=edited, text="see https://shop.example.net/x")
        mia.misses(edited)
        mia.hears("Please keep it friendly. Rule: link from a new member.", "general")
        # A moderator's hand, and the way back.
        mia.say("!mute @max 1h loud", "general")
        mia.sees("the sign", lambda word: word["on"] == "edited" and "🔇" in str(word["message"]))
        mia.misses(max_.say("do you hear me?", "general"))
        case = re.search(r"\bC\d+\b(?=.*\bmute\b)", steward.run("cases"))
        if not case:
            raise Wrong("no case of a mute:\n" + steward.run("cases"))
        steward.run("undo", case.group())
        steward.logs(f"{case.group()} is undone")
        heard = max_.say("do you hear me now?", "general")
        # Slurs: removed, and staff know. What came before is settled by then.
        mia.misses(max_.say("you n1ncompoop", "general"))
        mia.hears("You are not heard here for a day", "general")
        mia.hears("Third strike for max", "staff")
        if any(w["on"] == "deleted" and w["message"]["sid"] == heard for w in mia.seen):
            raise Wrong("what was said after the undo is gone")
        # A channel comes, is renamed, and goes.
        voices = Voices(steward.port)
        ben = voices.login("ben")
        picnic = ben.create("picnic")
        ben.join(picnic)
        ben.request("POST", f"{ben.links}/{picnic}/Participants", {"identity": "steward"})
        mia.sids["picnic"] = picnic
        mia.ask("join", "picnic")
        for title in ["Picnic on Sunday", "Picnic on Monday", ""]:
            ben.request("POST", f"{ben.links}/{picnic}", {"friendly_name": title})
        ben.ask("!karma ben", picnic)
        mia.hears("ben has 0 points.", "picnic")
        ben.request("DELETE", f"{ben.links}/{picnic}")
        voices.close()
        # New rules, wrong ones, and none.
        (steward.folder / "bots/more.yaml").write_text(
            "version: 1\nrules:\n  tea: {when: messageAdded, if: {text: [tea]}, do: [{reply: Tea is ready.}]}\n"
        )
        steward.process.send_signal(signal.SIGHUP)
        steward.logs("anew")
        mia.say("is there tea?", "general")
        mia.hears("Tea is ready.", "general")
        (steward.folder / "bots/more.yaml").write_text("version: 1\nrules: [\n")
        steward.process.send_signal(signal.SIGHUP)
        steward.logs("the old rules stay")
        (steward.folder / "bots/more.yaml").unlink()
        max_.ask("leave", "general")
        mia.sees("max to leave", lambda word: word["on"] == "left" and word["member"]["name"] == "max")
        mia.say("!karma mia", "general")
        mia.hears("mia has 0 points.", "general")
        for words in [
            ["rules"],
            ["cases"],
            ["cases", case.group()],
            ["audit", "--since", "1h"],
            ["replay"],
            ["replay", "--rules", str(steward.folder / "bots")],
            ["state", "export", str(steward.folder / "all.jsonl")],
            ["check", "--live"],
        ]:
            steward.run(*words)
        steward.run("explain", "--say", "how do I get a refund?", "--in", "general", "--as", "max", "--all")
        steward.stop()
        steward.start()
        steward.stop()
        for words in [["rules"], ["cases"], ["audit", "--since", "1h"], ["check"]]:
            steward.run(*words)


def troubles() -> None:
    for service in ["twilio", "sendbird"]:
        with World(token_life=4, service=service) as world:
            try:
                world.start()
                end = time.monotonic() + 12
                for number in range(40):
                    world.ask()
                    harm = {
                        5: "cut",
                        12: "cut between post and reply",
                        18: "kill",
                        24: "kill between post and reply",
                        32: "restart the server",
                    }.get(number)
                    if harm:
                        world.harm(harm)
                while time.monotonic() < end:
                    world.ask()
                    time.sleep(0.5)
                trouble = world.wrong_answers(patience=PATIENCE)
                if world.tokens_given < 4:
                    trouble.append(f"only {world.tokens_given} tokens")
                world.steward.send_signal(signal.SIGTERM)
                code = world.steward.wait(timeout=PATIENCE)
                if code != 0:
                    trouble.append(f"steward ended with {code} at SIGTERM")
                world.server.send_signal(signal.SIGTERM)
                code = world.server.wait(timeout=PATIENCE)
                if code != 0:
                    trouble.append(f"the chat server ended with {code} at SIGTERM")
                if trouble:
                    raise Wrong(f"{service}: " + "; ".join(trouble[:10]))
            except Exception:
                show(world.folder / "server.log")
                show(world.folder / "steward.log")
                raise


def commands() -> None:
    with tempfile.TemporaryDirectory(prefix="steward-story-") as name:
        folder = Path(name)
        shutil.copy(ROOT / "config.yaml", folder)
        shutil.copytree(ROOT / "bots", folder / "bots")
        shutil.copytree(ROOT / "bots", folder / "others")
        with open(folder / "others/02-faq.yaml", "a") as rules:
            rules.write("\n  tea:\n    when: messageAdded\n    if: {text: [tea]}\n    do: [{reply: Tea is ready.}]\n")
        names = re.findall(r"^  ([a-z]+)  +\S", run(["help"]), re.MULTILINE)
        if len(names) < 15:
            raise Wrong(f"help lists only {names}")
        for command in names:
            for words in [["help", command], [command, "--help"]]:
                if "steward " + command not in run(words):
                    raise Wrong(f"steward {' '.join(words)} does not speak of it")
        for words in [
            ["version"],
            ["check"],
            ["test"],
            ["test", "--junit", "results.xml"],
            ["rules"],
            ["rules", "--json"],
            ["explain", "--say", "how do I get a refund?", "--in", "lobby", "--all"],
            ["explain", "--say", "you n1ncompoop", "--in", "lobby", "--json"],
            ["fmt", "--check"],
            ["schema"],
            ["schema", "--config"],
            ["docs"],
            ["docs", "--rules"],
            ["diff", "bots", "bots"],
            ["completion", "bash"],
            ["completion", "zsh"],
            ["completion", "fish"],
        ]:
            run(words, folder)
        # There is nothing to look at yet, which is no crash.
        for words in [["cases"], ["audit"], ["replay"], ["state", "export"], ["undo", "C1"], ["nonsense"], ["run", "--config", "none"]]:
            run(words, folder, 0, 1, 2, 78)
        if "tea" not in run(["diff", "bots", "others"], folder, 1):
            raise Wrong("diff does not see the new rule")
        (folder / "bots/06-broken.yaml").write_text("version: 1\nrules: [\n")
        run(["check"], folder, 1)


STORIES = {"shipped": shipped, "troubles": troubles, "commands": commands}


def main() -> int:
    try:
        chosen = [STORIES[name] for name in sys.argv[1:]] or list(STORIES.values())
    except KeyError:
        print(__doc__)
        return 2
    for story in chosen:
        began = time.monotonic()
        try:
            story()
        except Exception as error:
            print(f"wrong: {story.__name__}: {error!r}" if not isinstance(error, Wrong) else f"wrong: {story.__name__}: {error}")
            return 1
        print(f"{story.__name__}: held, {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
