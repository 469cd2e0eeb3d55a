"""Who is muted for ten minutes is muted until the minute it ends, whatever they and steward do meanwhile."""

import signal
import time

from crowd import Stage
from town import Town

RULE = """
version: 1
rules:
  asked-for:
    when: messageAdded
    if: {text: {equals: mute me}}
    do: [{mute: %dm}]
"""


def muted(minutes: int) -> list[str]:
    with Town() as town:
        town.start(["max", "ana"])
        (town.folder / "bots/asked-for.yaml").write_text(RULE % minutes)
        loaded = town.log_lines("loaded ")
        town.steward.send_signal(signal.SIGHUP)
        town.wait_for(lambda: town.log_lines("loaded ") > loaded, "the rule")
        stage, lobby = Stage(town), town.sids["lobby"]
        voice, start = town.members["max"], time.monotonic()
        voice.say("mute me", lobby)
        time.sleep(1)
        said = 0

        def speak() -> str:
            nonlocal said
            said += 1
            text = f"words of mine, number {said}"
            voice.say(text, lobby)
            return text

        def silent(scene: str) -> None:
            text = speak()
            stage.check(scene, lambda: stage.is_gone(text))

        silent("muted at once")
        voice.leave(lobby)
        voice.join(lobby)
        silent("muted after coming back")
        restart(town, signal.SIGTERM)
        silent("muted after a restart")
        restart(town, signal.SIGKILL)
        silent("muted after a kill")
        while time.monotonic() < start + minutes * 60 - 10:
            time.sleep(min(30, max(0, start + minutes * 60 - 10 - time.monotonic())))
            silent(f"muted {time.monotonic() - start:.0f} s after it began")
        time.sleep(max(0, start + minutes * 60 + 2 - time.monotonic()))
        stage.stays(f"heard {time.monotonic() - start:.0f} s after it began", speak(), seconds=10)
        town.trouble = stage.trouble
        return stage.trouble


def restart(town: Town, kind: int) -> None:
    ready = town.log_lines("ready: ")
    town.steward.send_signal(kind)
    town.steward.wait()
    town.start_steward()
    town.wait_for(lambda: town.log_lines("ready: ") > ready, "steward to be ready")
