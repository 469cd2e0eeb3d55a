"""Rooms on a homeserver, the people in them, and a steward who answers their questions."""

import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from homeserver import Homeserver
from world import PROGRAM

CONFIG = """
accounts:
  matrix:
    service: matrix
    homeserver: "{address}"
    login: {{user: {user}, password: "${{env:MATRIX_PASSWORD}}"}}
    {account}
storage: {{file: steward.db}}
{limits}
bots: bots
"""

BOT = r"""
version: 1
rules:
  clean:
    when: messageAdded
    exempt: none
    breaker: none
    if: {text: nincompoop}
    do:
      - delete
  answer:
    when: messageAdded
    if: {text: {regex: '^question (?<number>\d+)$'}}
    do:
      - reply: "answer {{ match.number }}"
"""


def quantile(values: list[float], q: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * q))] if values else float("nan")


def number(text: str, word: str) -> int | None:
    first, _, rest = text.rpartition("\n")[2].partition(" ")
    return int(rest) if first == word and rest.isdigit() else None


def delays(said: list[dict], question: str, answer: str) -> list[float]:
    """From each question to its answer, by the server's clock, in ms."""
    asked: dict[int, float] = {}
    found = []
    for event in said:
        text = event["content"].get("body", "")
        if (n := number(text, question)) is not None:
            asked[n] = event["origin_server_ts"]
        elif (n := number(text, answer)) is not None and n in asked:
            found.append(event["origin_server_ts"] - asked[n])
    return found


class Parish:
    def __init__(self, server: Homeserver, limits: str = "", bot: str = BOT, account: str = "", user: str = "steward"):
        self.server, self.limits, self.bot, self.account, self.user = server, limits, bot, account, user
        self.folder = Path(tempfile.mkdtemp(prefix="steward-parish-"))
        self.rooms: list[str] = []
        self.people: list[str] = []
        self.places: list[list[str]] = []
        self.asked = self.said = 0
        self.steward: subprocess.Popen | None = None
        self.log = open(self.folder / "steward.log", "wb")
        self.isWrong = False

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.end(signal.SIGKILL)
        self.log.close()
        if kind is None and not self.isWrong:
            shutil.rmtree(self.folder)
        else:
            print("kept for a look:", self.folder)

    def start(self, rooms: int, people: int, each_in_one: bool = False, others: list[str] = []) -> None:
        """Rooms with steward in them, who may delete; everybody in all of them, or each in one."""
        mayor = self.server.person("mayor")
        own = self.server.user(self.user)
        powers = {"power_level_content_override": {"users": {mayor: 100, own: 50}}}
        with ThreadPoolExecutor(4) as pool:
            self.people = list(pool.map(lambda n: self.server.person(f"p{n}"), range(people)))
            self.rooms = list(
                pool.map(lambda n: self.server.room(mayor, f"room{n}", room_version="11", **powers), range(rooms))
            )
            self.mayor = mayor
            token = self.server.login(self.user)
            list(pool.map(lambda room: self.server.join(room, token=token), self.rooms))
            for other in others:
                list(pool.map(lambda room: self.server.join(room, token=other), self.rooms))
            if each_in_one:
                self.places = [[self.rooms[n % rooms]] for n in range(people)]
            else:
                self.places = [self.rooms] * people
            pairs = [(room, user) for user, places in zip(self.people, self.places) for room in places]
            list(pool.map(lambda pair: self.server.join(*pair), pairs))
        self.start_steward()

    def start_beside(self, other: "Parish") -> None:
        """In the same rooms."""
        self.rooms, self.people, self.places, self.mayor = other.rooms, other.people, other.places, other.mayor
        token = self.server.login(self.user)
        for room in self.rooms:
            self.server.join(room, token=token)
        self.start_steward()

    # Steward

    def start_steward(self) -> None:
        (self.folder / "bots").mkdir(exist_ok=True)
        (self.folder / "bots/answer.yaml").write_text(self.bot)
        (self.folder / "config.yaml").write_text(
            CONFIG.format(address=self.server.address, user=self.user, account=self.account, limits=self.limits)
        )
        before = self.log_lines("ready: ")
        self.steward = subprocess.Popen(
            [PROGRAM, "run", "--config", self.folder / "config.yaml"],
            stderr=self.log,
            cwd=self.folder,
            env=os.environ | {"MATRIX_PASSWORD": f"{self.user}-pass"},
        )
        self.wait_for(lambda: self.log_lines("ready: ") > before, "steward to be ready", 120)

    def end(self, how: int = signal.SIGTERM) -> None:
        if self.steward:
            self.steward.send_signal(how)
            self.steward.wait()
            self.steward = None

    def kill(self) -> None:
        self.end(signal.SIGKILL)
        self.start_steward()

    def log_lines(self, words: str) -> int:
        return (self.folder / "steward.log").read_text().count(words)

    def wait_for(self, holds, what: str, seconds: float = 30, pause: float = 0.2) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if self.steward and self.steward.poll() is not None:
                self.isWrong = True
                raise RuntimeError(f"steward ended; see {self.folder}/steward.log")
            if time.monotonic() > end:
                self.isWrong = True
                raise TimeoutError(f"waited {seconds} s for {what}")
            time.sleep(pause)

    def memory(self) -> float:
        """What steward has in memory, in MB."""
        with open(f"/proc/{self.steward.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

    def refreshes(self) -> int:
        """How many refresh tokens the server gave beyond the first."""
        with sqlite3.connect(f"file:{self.server.folder}/homeserver.db?mode=ro", uri=True) as data:
            return (data.execute("select max(id) from refresh_tokens").fetchone()[0] or 1) - 1

    def said_by_steward(self) -> int:
        """How many messages of its the server keeps; cheaper than reading the rooms."""
        with sqlite3.connect(f"file:{self.server.folder}/homeserver.db?mode=ro", uri=True) as data:
            count = "select count(*) from events where type = 'm.room.message' and sender = ?"
            return data.execute(count, [self.server.user(self.user)]).fetchone()[0]

    # People

    def voices(self, count: int) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(count)

    def say(self, text: str, who: int | None = None) -> str:
        if who is None:
            who, self.said = self.said % len(self.people), self.said + 1
            room = self.places[who][self.said % len(self.places[who])]
        else:
            room = self.places[who][0]
        return self.server.say(text, room, self.people[who])

    def ask(self) -> int:
        """The next person asks the next question in the next room; its number."""
        asked, self.asked = self.asked, self.asked + 1
        who = asked % len(self.people)
        self.server.say(f"question {asked}", self.rooms[asked % len(self.rooms)], self.people[who])
        return asked

    # What came of it

    def everything(self, room: str | None = None) -> list[dict]:
        rooms = [room] if room else self.rooms
        return [event for room in rooms for event in self.server.messages(room, self.mayor)]

    def standing(self, word: str) -> list[str]:
        texts = [event["content"].get("body", "") for event in self.everything()]
        return [text for text in texts if word in text]

    def answers(self, room: str | None = None) -> list[int]:
        own = self.server.user(self.user)
        found = [number(e["content"].get("body", ""), "answer") for e in self.everything(room) if e["sender"] == own]
        return [n for n in found if n is not None]

    def wrong_answers(self, patience: float) -> list[str]:
        """Waits for the last answers; what is missing, twice or out of order."""
        end = time.monotonic() + patience
        while len(set(self.answers())) < self.asked and time.monotonic() < end:
            time.sleep(1)
        # What would come twice comes now.
        time.sleep(3)
        trouble = self.misordered()
        self.isWrong = bool(trouble)
        return trouble

    def misordered(self, answers_only: bool = False) -> list[str]:
        trouble = []
        for place, room in enumerate(self.rooms):
            answers = self.answers(room)
            if answers_only:
                if answers != sorted(set(answers)):
                    trouble.append(f"room{place}: answers out of order or twice: {answers}")
                continue
            asked = [number(e["content"].get("body", ""), "question") for e in self.everything(room)]
            asked = [n for n in asked if n is not None]
            if answers == asked:
                continue
            missing, twice = sorted(set(asked) - set(answers)), [n for n in answers if answers.count(n) > 1]
            trouble.append(f"room{place}: {len(missing)} missing {missing[:5]}, {len(twice)} twice {twice[:5]}")
            if not missing and not twice:
                first = next(i for i, (a, b) in enumerate(zip(asked, answers)) if a != b)
                trouble.append(f"room{place}: out of order from {asked[first]}: {answers[first:first + 5]}")
        return trouble
