"""A Matrix homeserver (Synapse) of its own, and people on it."""

import http.client
import json
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START = ROOT / "Tests/Support/Synapse/start-synapse"
INSTALLED = ROOT / ".build/synapse"


class Refused(Exception):
    """The server said no; `status` and `code` say how."""

    def __init__(self, status: int, text: str):
        super().__init__(f"{status} {text}")
        self.status = status
        try:
            self.code = json.loads(text).get("errcode", "")
        except ValueError:
            self.code = ""


def escape(text: str) -> str:
    return urllib.parse.quote(text, safe="")


class Homeserver:
    def __init__(self, access_life: str = "5s", lean: bool = False):
        self.folder = Path(tempfile.mkdtemp(prefix="steward-synapse-"))
        self.process = subprocess.Popen(
            ["setsid", START, "run", self.folder, "--venv", INSTALLED, "--users", "steward other"]
            + ["--access-life", access_life]
            + ["--lean"] * lean,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        values = {}
        for line in self.process.stdout:
            if line.strip() == "ready":
                break
            name, _, value = line.strip().partition("=")
            values[name] = value.strip("'")
        else:
            raise RuntimeError("Synapse did not start; make synapse installs it")
        self.address = values["MATRIX_HOMESERVER"]
        self.port = int(self.address.rsplit(":", 1)[1])
        self.name = values["MATRIX_SERVER_NAME"]
        self.service = values["MATRIX_SERVICE_TOKEN"]
        self.pid = int(values["MATRIX_PID"])
        self.lines = threading.local()
        self.people: set[str] = set()
        self.sent = 0
        self.lock = threading.Lock()
        self.admin = self.login("admin")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def order(self, word: str) -> None:
        """stop, start, pause or resume."""
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        while (line := self.process.stdout.readline().strip()) != "done":
            if not line and self.process.poll() is not None:
                raise RuntimeError("Synapse is gone")

    # Calls

    def call(self, method: str, path: str, body=None, token: str = "", user: str = "", timeout: float = 60) -> dict:
        """One request on this thread's connection; `user` is whom the application service speaks for."""
        if not path.startswith("/_"):
            path = "/_matrix/client/v3" + path
        if user:
            path += ("&" if "?" in path else "?") + "user_id=" + escape(user)
        line = getattr(self.lines, "line", None)
        if line is None or line.timeout != timeout:
            line = self.lines.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            head = {"Authorization": f"Bearer {token or self.service}", "Content-Type": "application/json"}
            line.request(method, path, None if body is None else json.dumps(body), head)
            answer = line.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            line.close()
            self.lines.line = None
            raise
        if answer.status >= 400:
            raise Refused(answer.status, text)
        return json.loads(text)

    def patiently(self, *call, seconds: float = 180, **more) -> dict:
        """The same, again and again while the server is away or wants a pause."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.call(*call, **more)
            except Refused as refused:
                if refused.status != 429 and refused.status < 500 or time.monotonic() > end:
                    raise
            except (OSError, http.client.HTTPException):
                if time.monotonic() > end:
                    raise
            time.sleep(0.2)

    def login(self, name: str) -> str:
        """A token that lasts, of a user with a password."""
        identifier = {"type": "m.id.user", "user": name}
        order = {"type": "m.login.password", "identifier": identifier, "password": f"{name}-pass"}
        return self.call("POST", "/login", order, token="none")["access_token"]

    def limit(self, user: str, per_second: int | None, burst: int = 1) -> None:
        path = f"/_synapse/admin/v1/users/{escape(user)}/override_ratelimit"
        if per_second is None:
            self.patiently("DELETE", path, token=self.admin)
        else:
            order = {"messages_per_second": per_second, "burst_count": burst}
            self.patiently("POST", path, order, token=self.admin)

    # People, for whom the application service speaks

    def user(self, name: str) -> str:
        return f"@{name}:{self.name}"

    def person(self, name: str) -> str:
        """The id of somebody, who is there from now on."""
        name = f"service-{name}"
        if name not in self.people:
            order = {"type": "m.login.application_service", "username": name, "inhibit_login": True}
            try:
                self.call("POST", "/register", order)
            except Refused as refused:
                if refused.code != "M_USER_IN_USE":
                    raise
            self.people.add(name)
        return self.user(name)

    def room(self, creator: str, name: str, **more) -> str:
        order = {"preset": "public_chat", "name": name} | more
        return self.call("POST", "/createRoom", order, user=creator)["room_id"]

    def join(self, room: str, user: str = "", token: str = "") -> None:
        self.call("POST", f"/join/{escape(room)}", {}, user=user, token=token)

    def say(self, text: str, room: str, user: str, kind: str = "m.text") -> str:
        """Exactly once, whatever happens to the server meanwhile; the id of the event."""
        with self.lock:
            self.sent += 1
            path = f"/rooms/{escape(room)}/send/m.room.message/t{self.sent}"
        return self.patiently("PUT", path, {"msgtype": kind, "body": text}, user=user)["event_id"]

    def messages(self, room: str, user: str, most: int = 100_000) -> list[dict]:
        """All messages of a room, oldest first; those that were deleted have no body."""
        found, start = [], ""
        while len(found) < most:
            path = f"/rooms/{escape(room)}/messages?dir=b&limit=500{start}"
            page = self.patiently("GET", path, user=user)
            found += [event for event in page["chunk"] if event["type"] == "m.room.message"]
            if not page.get("end") or not page["chunk"]:
                break
            start = f"&from={page['end']}"
        return found[::-1]
