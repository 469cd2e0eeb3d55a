"""A chat server, a steward and some people, each in a process or socket of its own."""

import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from person import Gone, Person

PROGRAM = Path(os.environ.get("STEWARD_PROGRAM") or Path(__file__).resolve().parents[2] / ".build/release/steward")
CHANNELS = ["one", "two", "three", "four"]
# So many that nobody writes again within two seconds of an answer, which would look like a bot to the loop guard.
PEOPLE = 200

APPLICATION = "01234567-89AB-CDEF-0123-456789ABCDEF"

ACCOUNTS = {
    "twilio": """
accounts:
  twilio:
    service: twilio
    identity: steward
    endpoint: "ws://127.0.0.1:{port}/v3/wsconnect"
""",
    "sendbird": """
accounts:
  sendbird:
    service: sendbird
    app: {application}
    user: steward
    endpoint: "ws://127.0.0.1:{port}"
""",
}

CONFIG = """\
    token: {{url: "http://127.0.0.1:{tokens}/token"}}
    join: [{channels}]
storage: {{file: steward.db}}
bots: bots
"""

BOT = r"""
version: 1
rules:
  answer:
    when: messageAdded
    if: {text: {regex: '^question (?<number>\d+)$'}}
    do:
      - reply: "answer {{ match.number }}"
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class World:
    def __init__(self, token_life: int = 3600, service: str = "twilio"):
        self.service = service
        self.folder = Path(tempfile.mkdtemp(prefix="steward-endurance-"))
        self.port = free_port()
        self.token_life = token_life
        self.tokens_given = 0
        self.asked = 0
        self.trouble: list[str] = []
        self.server = self.steward = None
        self.people: dict[str, Person] = {}
        self.log = open(self.folder / "steward.log", "wb")
        self._serve_tokens()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for process in (self.steward, self.server):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.log.close()
        self.tokens.shutdown()
        if kind is None and not self.trouble:
            shutil.rmtree(self.folder)
        else:
            print("kept for a look:", self.folder)

    def _serve_tokens(self) -> None:
        """Between steward and the token endpoint stands one that counts and shortens."""
        world = self

        class Tokens(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                address = f"http://127.0.0.1:{world.port}{self.path}&ttl={world.token_life}"
                try:
                    with urllib.request.urlopen(address, timeout=5) as answer:
                        body = answer.read()
                    world.tokens_given += 1
                    self.send_response(200)
                except OSError:
                    body = b"{}"
                    self.send_response(503)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.tokens = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tokens)
        threading.Thread(target=self.tokens.serve_forever, daemon=True).start()

    def start(self) -> None:
        (self.folder / "bots").mkdir()
        (self.folder / "bots/answer.yaml").write_text(BOT)
        (self.folder / "config.yaml").write_text(
            (ACCOUNTS[self.service] + CONFIG).format(
                port=self.port, application=APPLICATION, tokens=self.tokens.server_port, channels=", ".join(CHANNELS)
            )
        )
        self.start_server()
        self.start_steward()
        self.wait_for(lambda: self.log_lines("ready: ") > 0, "steward to be ready")
        first = self.person("watcher")
        self.sids = {c["name"]: c["sid"] for c in first.welcome["channels"] if c["name"] in CHANNELS}
        assert len(self.sids) == len(CHANNELS), self.sids

    def start_server(self, *options: str) -> None:
        command = [PROGRAM, "server", "--listen", f"127.0.0.1:{self.port}", "--state", self.folder / "chat.db"]
        command += ["--app", APPLICATION]
        self.server = subprocess.Popen([*command, "--faults", *options], stderr=open(self.folder / "server.log", "ab"))
        self.wait_for(self._answers, "the chat server")

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def start_steward(self) -> None:
        self.steward = subprocess.Popen(
            [PROGRAM, "run", "--config", self.folder / "config.yaml"], stderr=self.log, cwd=self.folder
        )

    def wait_for(self, holds, what: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds} s for {what}")
            time.sleep(0.02)

    def log_lines(self, words: str) -> int:
        return (self.folder / "steward.log").read_text().count(words)

    # People

    def person(self, name: str) -> Person:
        if name not in self.people:
            self.people[name] = Person(self.port, name)
        return self.people[name]

    def patiently(self, name: str, work):
        """Does the work, with a new connection whenever the old one is gone."""
        end = time.monotonic() + 60
        while True:
            try:
                return work(self.person(name))
            except Gone:
                self.people.pop(name, None)
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
            except ValueError as error:
                if "too much at once" not in str(error):
                    raise
                time.sleep(0.2)

    def ask(self) -> None:
        """The next person asks the next question in the next channel; exactly once, whatever happens to the server."""
        number, self.asked = self.asked, self.asked + 1
        name = f"person{number % PEOPLE}"
        channel = self.sids[CHANNELS[number % len(CHANNELS)]]
        text = f"question {number}"

        def work(person: Person) -> None:
            latest = self._page(person, channel)
            if all(message["text"] != text for message in latest):
                person.ask({"do": "say", "channel": channel, "text": text})

        self.patiently(name, work)

    # Harm

    def fault(self, **order) -> None:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/faults", json.dumps(order).encode(), method="POST"
        )
        urllib.request.urlopen(request, timeout=5).close()

    def harm(self, what: str) -> None:
        if what == "cut":
            self.fault(fault="drop", identity="steward")
        elif what == "cut between post and reply":
            self.fault(fault="cut_after_post", identity="steward")
            self.ask()
        elif what == "restart the server":
            self.server.send_signal(signal.SIGKILL if self.asked % 2 else signal.SIGTERM)
            self.server.wait()
            self.start_server()
        elif what == "kill":
            self.restart_steward()
        elif what == "kill between post and reply":
            self.fault(fault="no_reply", identity="steward")
            self.ask()
            wanted = f"answer {self.asked - 1}"
            channel = self.sids[CHANNELS[(self.asked - 1) % len(CHANNELS)]]
            end = time.monotonic() + 5
            while time.monotonic() < end:
                page = self.patiently("watcher", lambda person: self._page(person, channel))
                if any(message["text"].endswith(wanted) for message in page):
                    break
            self.restart_steward()
        else:
            raise ValueError(what)

    def restart_steward(self) -> None:
        self.steward.kill()
        self.steward.wait()
        self.start_steward()

    # What came of it

    @staticmethod
    def _page(person: Person, channel: str, **more) -> list[dict]:
        try:
            person.ask({"do": "join", "channel": channel})
        except ValueError as error:
            if "member already" not in str(error):
                raise
        return person.ask({"do": "page", "channel": channel, **more})["messages"]

    def history(self, channel: str) -> list[dict]:
        def work(person: Person) -> list[dict]:
            messages = self._page(person, channel)
            while messages and messages[0]["index"] > 0:
                earlier = self._page(person, channel, before=messages[0]["index"])
                if not earlier:
                    break
                messages = earlier + messages
            return messages

        return self.patiently("watcher", work)

    def wrong_answers(self, patience: float) -> list[str]:
        """What is wrong with the answers, once all have had time to come."""
        end = time.monotonic() + patience
        while True:
            trouble = [line for name in CHANNELS for line in self._wrong_in(name)]
            missing = any("no answer" in line for line in trouble)
            if not missing or time.monotonic() > end:
                self.trouble = trouble + self._stopped()
                return self.trouble
            time.sleep(1)

    def _wrong_in(self, name: str) -> list[str]:
        messages = self.history(self.sids[name])
        questions = [int(m["text"].split()[1]) for m in messages if re.fullmatch(r"question \d+", m["text"])]
        found = [re.search(r"answer (\d+)$", m["text"]) for m in messages if m["author"] == "steward"]
        answers = [int(match.group(1)) for match in found if match]
        trouble = [f"{name}: no answer to {number}" for number in sorted(set(questions) - set(answers))]
        trouble += [f"{name}: {number} answered twice" for number in sorted(n for n in set(answers) if answers.count(n) > 1)]
        if len(questions) != len(set(questions)):
            trouble.append(f"{name}: the test asked twice")
        if answers != sorted(answers):
            trouble.append(f"{name}: answers out of order")
        return trouble

    def _stopped(self) -> list[str]:
        code = self.steward.poll()
        return [] if code is None else [f"steward ended with {code}"]
