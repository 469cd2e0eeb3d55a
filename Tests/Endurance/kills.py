"""Steward is killed between each two steps of "delete, strike, report", and started again on the same store."""

import json
import subprocess
import threading
import time

from tap import Tap
from town import Watcher
from voice import Voices
from world import PROGRAM, World

CHANNELS = ["lobby", "general", "support", "staff"]

CONFIG = """
accounts:
  town:
    service: twilio
    identity: steward
    endpoint: "ws://127.0.0.1:{port}/v3/wsconnect"
    token: {{url: "http://127.0.0.1:{tokens}/token"}}
    join: [lobby, general, support, staff]
storage: {{file: steward.db}}
report_to: staff
bots: bots
"""

BOT = """
version: 1
ladders:
  conduct: {steps: {99: [{mute: 1d}]}}
defaults: {report_to: staff}
rules:
  bad:
    when: [messageAdded, messageEdited]
    if: {text: [bad]}
    breaker: none
    do:
      - delete
      - strike: {points: 1, ladder: conduct, reason: a bad word}
      - report: "{{ user.name }} wrote something bad"
"""

# Between two moments that the line shows lies the decision itself, which is hit by chance: some milliseconds later.
MOMENTS = [
    ("message", "before it comes"),
    ("message", "after it comes"),
    ("message", "after it comes", 0.001),
    ("message", "after it comes", 0.002),
    ("message", "after it comes", 0.004),
    ("message", "after it comes", 0.008),
    ("delete", "before it is asked"),
    ("delete", "after it is asked"),
    ("delete", "before it is answered"),
    ("delete", "after it is answered"),
    ("report", "before it is asked"),
    ("report", "after it is asked"),
    ("report", "before it is answered"),
    ("report", "after it is answered"),
    ("report", "after it is answered", 0.002),
]


class Court(World):
    def __init__(self):
        super().__init__()
        self.voices: Voices | None = None
        self.killed = threading.Event()
        self.delay = 0.0
        self.runs = 0

    def __exit__(self, kind, *rest):
        if self.voices:
            self.voices.close()
        super().__exit__(kind, *rest)

    def start(self) -> None:
        (self.folder / "bots").mkdir()
        (self.folder / "bots/bad.yaml").write_text(BOT)
        self.start_server("--admins", "mod,steward")
        self.voices = Voices(self.port)
        mod = self.voices.login("mod")
        self.sids = {name: mod.create(name) for name in CHANNELS}
        self.tap = Tap(self.port, "bad of", self.sids["staff"], self._kill)
        (self.folder / "config.yaml").write_text(CONFIG.format(port=self.tap.port, tokens=self.tokens.server_port))
        self.run_steward()
        self.watcher = Watcher(self.port)

    def run_steward(self) -> None:
        self.runs += 1
        self.start_steward()
        self.wait_for(lambda: self.log_lines("ready: ") >= self.runs, "steward to be ready")

    def _kill(self) -> None:
        time.sleep(self.delay)
        self.steward.kill()
        self.steward.wait()
        self.killed.set()

    def ask_steward(self, *words: str) -> str:
        command = [PROGRAM, *words, "--config", self.folder / "config.yaml"]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=30).stdout

    def lines(self, *words: str) -> list[dict]:
        return [json.loads(line) for line in self.ask_steward(*words, "--json").splitlines() if line.startswith("{")]

    def play(self, name: str, what: str, when: str, delay: float = 0) -> None:
        """One offender, one kill, one restart."""
        self.killed.clear()
        self.delay = delay
        voice = self.voices.login(name)
        voice.join(self.sids["lobby"])
        voice.ask(f"fine of {name}", self.sids["lobby"])
        self.tap.moment = (what, when)
        voice.say(f"bad of {name}", self.sids["lobby"])
        if not self.killed.wait(20):
            raise TimeoutError(f"{what}, {when}: that moment did not come")
        self.run_steward()

    def is_settled(self, name: str) -> bool:
        cases = self.lines("cases", "--user", name)
        return bool(cases) and all(deed["state"] != "asked" for found in cases for deed in found["actions"])

    def wrong(self, name: str) -> list[str]:
        """What does not agree about one offender."""
        trouble: list[str] = []

        def expect(what: str, found, wanted) -> None:
            if found != wanted:
                trouble.append(f"{what}: {found} instead of {wanted}")

        lobby = self.watcher.texts("lobby", name)
        expect("the channel", lobby, [f"fine of {name}"])
        cases = self.lines("cases", "--user", name)
        expect("the case", [[(d["action"], d["state"]) for d in c["actions"]] for c in cases], [[("delete", "done"), ("send", "done")]])
        reports = [text for text in self.watcher.texts("staff", "steward") if text.startswith(f"{name} wrote")]
        expect("the report", reports, [f"{name} wrote something bad\ncase {c['case']}" for c in cases])
        known = json.loads(self.ask_steward("state", "export", "--user", name))
        ledgers = [value["strikes"] for value in known["remembered"] if value["name"] == "strikes.conduct"]
        expect("the ledger", [strike["points"] for ledger in ledgers for strike in ledger], [1])
        audit = [line for line in self.lines("audit") if line.get("cases") == [c["case"] for c in cases]]
        lines = sorted(f"{line['action']} {line['state']}" for line in audit)
        expect("the audit log", lines, ["delete asked", "delete done", "strike done"])
        return trouble


def kills() -> list[str]:
    trouble: list[str] = []
    with Court() as court:
        court.trouble = trouble
        court.start()
        names = {f"eve{number}x": moment for number, moment in enumerate(MOMENTS)}
        for name, moment in names.items():
            court.play(name, *moment)
            court.wait_for(lambda: court.is_settled(name), f"the case of {name}")
            wrong = court.wrong(name)
            print(f"  {' '.join(map(str, moment))}: {'agree' if not wrong else wrong}", flush=True)
        # Whatever was too much may have come later.
        time.sleep(2)
        for name, moment in names.items():
            trouble += [f"killed at {' '.join(map(str, moment))}: {line}" for line in court.wrong(name)]
        trouble += court._stopped()
        court.tap.close()
        return trouble
