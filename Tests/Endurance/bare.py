"""A bare Matrix client in a process of its own: it syncs, and answers one kind of message."""

import json
import subprocess
import sys
import time

from homeserver import Homeserver, escape

PROGRAM = __file__


class Bare:
    """Answers `bare N` with `echo N`, or says one thing to all."""

    def __init__(self, server: Homeserver, name: str, says: str = ""):
        self.server, self.name, self.says = server, name, says
        self.token = server.login(name)
        self.process: subprocess.Popen | None = None
        self.delays: list[float] = []

    def start(self) -> None:
        order = {"port": self.server.port, "token": self.token, "own": self.server.user(self.name), "says": self.says}
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ready\n"

    def memory(self) -> float:
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

    def end(self) -> None:
        """It says then how long each message was on its way, in ms."""
        if self.process:
            rest = self.process.communicate("end\n")[0]
            self.delays += json.loads(rest or "[]")
            self.process = None


def run() -> None:
    import http.client
    import threading

    given = json.loads(sys.stdin.readline())
    head = {"Authorization": f"Bearer {given['token']}", "Content-Type": "application/json"}
    line = http.client.HTTPConnection("127.0.0.1", given["port"], timeout=60)
    writer = http.client.HTTPConnection("127.0.0.1", given["port"], timeout=60)

    def call(line, method: str, path: str, body=None) -> dict:
        line.request(method, "/_matrix/client/v3" + path, body and json.dumps(body), head)
        return json.loads(line.getresponse().read())

    plain = {"room": {"ephemeral": {"types": []}, "account_data": {"types": []}}, "presence": {"types": []}}
    plain["room"]["state"] = {"lazy_load_members": True}
    wanted = escape(json.dumps(plain))
    since = call(line, "GET", f"/sync?timeout=0&filter={wanted}")["next_batch"]
    delays: list[float] = []
    over = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.readline()
        print(json.dumps(delays), flush=True)
        over.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    print("ready", flush=True)

    def sync() -> None:
        nonlocal since
        sent = 0
        while True:
            answer = call(line, "GET", f"/sync?timeout=10000&since={since}&filter={wanted}")
            since = answer["next_batch"]
            now = time.time() * 1000
            for room, update in answer.get("rooms", {}).get("join", {}).items():
                for event in update["timeline"]["events"]:
                    if event["type"] != "m.room.message" or event["sender"] == given["own"]:
                        continue
                    delays.append(now - event["origin_server_ts"])
                    text = event["content"].get("body", "")
                    if given["says"] or text.startswith("bare "):
                        sent += 1
                        path = f"/rooms/{escape(room)}/send/m.room.message/b{sent}"
                        echo = given["says"] or text.replace("bare", "echo", 1)
                        call(writer, "PUT", path, {"msgtype": "m.text", "body": echo})

    threading.Thread(target=sync, daemon=True).start()
    over.wait()


if __name__ == "__main__":
    run()
