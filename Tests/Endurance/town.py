"""A chat server, a steward with the moderation that ships, people who talk, and one who watches."""

import random
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from person import Gone, Person
from voice import Voice, Voices
from world import World

BOTS = Path(__file__).resolve().parents[2] / "bots"
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
{limits}
bots: bots
"""

QUESTIONS = r"""
version: 1
rules:
  questions:
    when: messageAdded
    if: {text: {regex: '^question (?<number>\d+)'}}
    do:
      - reply: "answer {{ match.number }}"
"""

WORDS = (
    "apple bridge candle dragon engine forest garden harbour island jungle kettle lantern mountain needle ocean "
    "pepper quarry river saddle thunder umbrella valley window yellow zebra basket copper dinner eagle feather glove "
    "honey iron jacket kitchen ladder marble novel orange pocket rabbit silver ticket velvet winter"
).split()


class Watcher:
    """Sees everything in the channels, with the time at which it saw it."""

    def __init__(self, port: int):
        self.person = Person(port, "watcher")
        self.sids = {c["name"]: c["sid"] for c in self.person.welcome["channels"]}
        self.names = {sid: name for name, sid in self.sids.items()}
        self.lock = threading.Lock()
        # By channel: what was written and when, by index; and which index was deleted when, in order.
        self.written: dict[str, dict[int, tuple[float, str, str]]] = {name: {} for name in self.sids}
        self.deleted: dict[str, list[tuple[float, int]]] = {name: [] for name in self.sids}
        self.left: list[tuple[float, str, str]] = []
        for name in CHANNELS:
            self.person.ask({"do": "join", "channel": self.sids[name]})
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self) -> None:
        try:
            self.person.socket.settimeout(None)
            while True:
                word = self.person.receive()
                name = self.names.get(word.get("channel"), "")
                now = time.monotonic()
                with self.lock:
                    if word["on"] == "message":
                        message = word["message"]
                        self.written[name][message["index"]] = (now, message["author"], message["text"])
                    elif word["on"] == "deleted":
                        self.deleted[name].append((now, word["message"]["index"]))
                    elif word["on"] == "left":
                        self.left.append((now, name, word["member"]["name"]))
        except (Gone, OSError):
            pass

    def texts(self, name: str, author: str | None = None) -> list[str]:
        """What stands there now."""
        with self.lock:
            gone = {index for _, index in self.deleted[name]}
            return [t for i, (_, who, t) in sorted(self.written[name].items()) if i not in gone and author in (None, who)]

    def times(self, name: str, author: str) -> list[float]:
        with self.lock:
            return [at for at, who, _ in self.written[name].values() if who == author]


class Town(World):
    def __init__(self, limits: str = "", seed: int = 1):
        super().__init__()
        self.limits = limits
        self.chance = random.Random(seed)
        self.voices: Voices | None = None

    def __exit__(self, kind, *rest):
        if self.voices:
            self.voices.close()
        super().__exit__(kind, *rest)

    def start(self, members: list[str]) -> None:
        """Members are there already when steward comes, so none of them is a stranger who joins."""
        shutil.copytree(BOTS / "lists", self.folder / "bots/lists")
        for file in ["03-moderation.yaml", "04-anti-raid.yaml"]:
            shutil.copy(BOTS / file, self.folder / "bots")
        (self.folder / "bots/questions.yaml").write_text(QUESTIONS)
        limits = CONFIG.format(port=self.port, tokens=self.tokens.server_port, limits=self.limits)
        (self.folder / "config.yaml").write_text(limits)
        self.start_server("--admins", "mod,steward", "--writes", "5000")
        self.voices = Voices(self.port)
        self.mod = self.voices.login("mod")
        self.sids = {name: self.mod.create(name) for name in CHANNELS}
        for name in CHANNELS:
            self.mod.join(self.sids[name])
        self.members = self.enter_all(members, "lobby", "general")
        self.start_steward()
        self.wait_for(lambda: self.log_lines("ready: ") > 0, "steward to be ready")
        self.watcher = Watcher(self.port)

    def enter(self, name: str, *channels: str) -> Voice:
        voice = self.voices.login(name)
        for channel in channels:
            voice.join(self.sids[channel])
        return voice

    def enter_all(self, names: list[str], *channels: str) -> dict[str, Voice]:
        with ThreadPoolExecutor(16) as pool:
            return dict(zip(names, pool.map(lambda name: self.enter(name, *channels), names)))

    def sentence(self) -> str:
        return " ".join(self.chance.sample(WORDS, 9))

    def memory(self) -> float:
        """What steward has in memory, in MB."""
        with open(f"/proc/{self.steward.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
