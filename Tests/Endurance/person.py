"""A person at the chat server's page: its WebSocket, without the browser."""

import base64
import json
import os
import socket
import struct


class Gone(Exception):
    """The connection is over."""


class Person:
    def __init__(self, port: int, name: str, token: str = ""):
        self.name = name
        self.seen: list[dict] = []
        self.number = 0
        try:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
            key = base64.b64encode(os.urandom(16)).decode()
            self.socket.sendall(
                f"GET /browser HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
                f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
            )
            self.buffer = b""
            while b"\r\n\r\n" not in self.buffer:
                self._fill()
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            if b" 101 " not in head.split(b"\r\n")[0]:
                raise Gone(head.decode())
        except OSError as error:
            raise Gone(str(error)) from error
        self.send({"do": "hello", "name": name, "token": token})
        self.welcome = self.wait(lambda word: word.get("on") == "welcome")

    def close(self) -> None:
        self.socket.close()

    def send(self, order: dict) -> None:
        payload = json.dumps(order).encode()
        mask = os.urandom(4)
        head = b"\x81" + (
            struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0xFE, len(payload))
        )
        self._write(head + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload)))

    def _write(self, bytes_: bytes) -> None:
        try:
            self.socket.sendall(bytes_)
        except OSError as error:
            raise Gone(str(error)) from error

    def ask(self, order: dict) -> dict:
        """Sends an order and waits for its answer."""
        self.number += 1
        number = self.number
        self.send(order | {"n": number})
        answer = self.wait(lambda word: word.get("n") == number)
        if answer["on"] == "error":
            raise ValueError(answer["text"])
        return answer

    def wait(self, wanted) -> dict:
        while True:
            word = self.receive()
            if wanted(word):
                return word

    def receive(self) -> dict:
        while True:
            opcode, payload = self._frame()
            if opcode == 9:
                self._write(b"\x8a\x80" + os.urandom(4))
            elif opcode == 8:
                raise Gone("closed")
            elif opcode == 1:
                return json.loads(payload)

    def _frame(self) -> tuple[int, bytes]:
        first, second = self._take(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._take(8))
        return first & 0x0F, self._take(length)

    def _take(self, count: int) -> bytes:
        while len(self.buffer) < count:
            self._fill()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def _fill(self) -> None:
        try:
            more = self.socket.recv(65536)
        except OSError as error:
            raise Gone(str(error)) from error
        if not more:
            raise Gone("the other end is gone")
        self.buffer += more
