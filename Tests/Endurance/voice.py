"""Somebody who only talks: a log-in to the chat server as Twilio's clients do it, without listening to anything.

Hundreds of them cost little: nothing is subscribed, and one thread reads the answers of all.
"""

import base64
import json
import os
import selectors
import socket
import struct
import threading
import time
import urllib.parse
import urllib.request


class Refused(Exception):
    """The server does not want it; the status stands first."""


class Voices:
    """All who talk in one world, and the thread that reads for them."""

    def __init__(self, port: int):
        self.port = port
        self.selector = selectors.DefaultSelector()
        self.open = True
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.open = False
        self.thread.join()

    def login(self, name: str) -> "Voice":
        voice = Voice(self.port, name)
        self.selector.register(voice.socket, selectors.EVENT_READ, voice)
        voice.login()
        return voice

    def _read(self) -> None:
        while self.open:
            for key, _ in self.selector.select(timeout=0.05):
                if not key.data.fill():
                    self.selector.unregister(key.fileobj)


class Voice:
    def __init__(self, port: int, name: str):
        self.port, self.name = port, name
        self.number = 0
        self.said: dict[int, int] = {}
        self.answers: dict[str, tuple[int, dict]] = {}
        self.waiting: set[str] = set()
        self.arrived = threading.Condition()
        self.buffer = b""
        self.links = ""
        self.is_open = True
        self.writing = threading.Lock()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /v3/wsconnect HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096) or b"\r\n\r\n"
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise Refused(head.decode())

    # Orders

    def login(self) -> None:
        address = f"http://127.0.0.1:{self.port}/token?identity={urllib.parse.quote(self.name)}"
        with urllib.request.urlopen(address, timeout=10) as answer:
            token = json.load(answer)["token"]
        status, body = self._ask({"method": "init", "token": token, "continuation_token": None, "capabilities": [], "registrations": []})
        if status != 200:
            raise Refused(f"{status} {body}")
        configuration = self.request("GET", "/Client/v2/Configuration")
        self.links = urllib.parse.urlparse(configuration["links"]["conversations"]).path

    def create(self, name: str) -> str:
        """A channel; gives its SID."""
        return self.request("POST", self.links, {"friendly_name": name, "unique_name": name, "attributes": "{}"})["sid"]

    def join(self, channel: str) -> None:
        self.request("POST", f"{self.links}/{channel}/Participants", {"identity": self.name})

    def leave(self, channel: str) -> None:
        self.request("DELETE", f"{self.links}/{channel}/Participants/{self.name}")

    def ask(self, text: str, channel: str) -> str:
        """Says something and waits until it is there; gives its SID."""
        return self.request("POST", f"{self.links}/{channel}/Messages", {"body": text, "attributes": "{}"})["sid"]

    def say(self, text: str, channel: str) -> None:
        """Says something; the answer is only counted, by its status."""
        self._send(self._header("POST", f"{self.links}/{channel}/Messages"), json.dumps({"body": text, "attributes": "{}"}))

    def request(self, method: str, path: str, body: dict | None = None) -> dict:
        while True:
            status, answer = self._ask(self._header(method, path), json.dumps(body) if body else "")
            if status == 429:
                time.sleep(0.1)
            elif 200 <= status < 300:
                return answer
            else:
                raise Refused(f"{status} {answer}")

    def _header(self, method: str, path: str) -> dict:
        kind = "application/json; charset=utf-8"
        return {
            "method": "message",
            "active_grant": "ip_messaging",
            "payload_type": kind,
            "http_request": {"host": "aim.us1.twilio.com", "path": path, "method": method, "params": {}, "headers": {"Content-Type": kind}},
        }

    def _ask(self, header: dict, payload: str = "") -> tuple[int, dict]:
        with self.arrived:
            name = self._send(header, payload, is_awaited=True)
            if not self.arrived.wait_for(lambda: name in self.answers or not self.is_open, timeout=30):
                raise TimeoutError(f"{self.name}: no answer to {header}")
            if name not in self.answers:
                raise Refused(f"0 {self.name} was cut off")
            return self.answers.pop(name)

    # Frames

    def _send(self, header: dict, payload: str = "", is_awaited: bool = False) -> str:
        with self.writing:
            self.number += 1
            name = f"{'R' if is_awaited else 'P'}{self.number}"
            bytes_ = payload.encode()
            head = json.dumps(header | {"id": name, "payload_size": len(bytes_)}).encode()
            self._write(2, b"TWILSOCK V3.0 %d\r\n%s\r\n%s" % (len(head), head, bytes_))
            return name

    def _write(self, opcode: int, payload: bytes) -> None:
        # A mask of zeros is a mask, and costs nothing.
        size = struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0xFE, len(payload))
        try:
            self.socket.sendall(bytes([0x80 | opcode]) + size + b"\0\0\0\0" + payload)
        except OSError:
            self.is_open = False

    def fill(self) -> bool:
        """Reads what there is; false when the connection is over."""
        try:
            more = self.socket.recv(65536)
        except OSError:
            more = b""
        self.buffer += more
        while len(self.buffer) >= 2:
            length, start = self.buffer[1] & 0x7F, 2
            if length == 126:
                length, start = int.from_bytes(self.buffer[2:4]), 4
            elif length == 127:
                length, start = int.from_bytes(self.buffer[2:10]), 10
            if len(self.buffer) < start + length:
                break
            opcode, payload = self.buffer[0] & 0x0F, self.buffer[start : start + length]
            self.buffer = self.buffer[start + length :]
            if opcode == 9:
                self._write(10, payload)
            elif opcode == 2:
                self._hear(payload)
        if not more:
            with self.arrived:
                self.is_open = False
                self.arrived.notify_all()
        return bool(more)

    def _hear(self, frame: bytes) -> None:
        line, rest = frame.split(b"\r\n", 1)
        size = int(line.split()[-1])
        header = json.loads(rest[:size])
        name = header.get("id", "")
        if header.get("method") != "reply":
            head = json.dumps({"method": "reply", "id": name, "payload_type": "application/json", "status": {"code": 200, "status": "OK"}}).encode()
            return self._write(2, b"TWILSOCK V3.0 %d\r\n%s\r\n" % (len(head), head))
        status = (header.get("http_status") or header.get("status") or {}).get("code", 0)
        if name.startswith("P"):
            self.said[status] = self.said.get(status, 0) + 1
            return
        payload = rest[size + 2 : size + 2 + header.get("payload_size", 0)]
        with self.arrived:
            try:
                body = json.loads(payload) if payload else {}
            except ValueError:
                body = {}
            self.answers[name] = (status, body)
            self.arrived.notify_all()
