"""Stands between steward and the chat server, reads along, and does something at a chosen moment."""

import json
import selectors
import socket
import threading


class Tap:
    """Passes everything on until `moment` comes: then `cut` is called, and nothing more of that connection passes.

    A moment is a pair: what goes by ("message", "delete", "report"), and when:
    "before" or "after" it is asked, "before" or "after" it is "answered".
    """

    def __init__(self, port: int, text: str, staff: str, cut):
        self.server, self.text, self.staff, self.cut = port, text.encode(), staff, cut
        self.moment: tuple[str, str] | None = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connection, args=(client,), daemon=True).start()

    def _connection(self, client: socket.socket) -> None:
        try:
            with client, socket.create_connection(("127.0.0.1", self.server), timeout=10) as server:
                self._pass(client, server)
        except OSError:
            pass

    def _pass(self, client: socket.socket, server: socket.socket) -> None:
        asked: dict[str, str] = {}
        ways = {client: Way(server), server: Way(client)}
        with selectors.DefaultSelector() as selector:
            for end in ways:
                end.settimeout(10)
                selector.register(end, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    more = key.fileobj.recv(65536)
                    if not more:
                        return
                    way = ways[key.fileobj]
                    for raw, frame in way.cut(more):
                        what, when = self._meaning(frame, asked) if frame else ("", "")
                        if what and self.moment == (what, "before " + when):
                            return self._strike()
                        way.end.sendall(raw)
                        if what and self.moment == (what, "after " + when):
                            return self._strike()

    def _strike(self) -> None:
        self.moment = None
        self.cut()

    def _meaning(self, frame: bytes, asked: dict[str, str]) -> tuple[str, str]:
        line, _, rest = frame.partition(b"\r\n")
        if not line.startswith(b"TWILSOCK"):
            return "", ""
        size = int(line.split()[-1])
        header, payload = json.loads(rest[:size]), rest[size:]
        request = header.get("http_request")
        if request:
            path, what = request["path"], ""
            if request["method"] == "DELETE" and "/Messages/" in path:
                what = "delete"
            elif request["method"] == "POST" and path.endswith((f"/{self.staff}/Messages", "/staff/Messages")):
                what = "report"
            if what:
                asked[header["id"]] = what
            return what, "it is asked"
        if header.get("method") == "reply" and header.get("id") in asked:
            return asked.pop(header["id"]), "it is answered"
        if self.text in payload:
            return "message", "it comes"
        return "", ""


class Way:
    """One direction: bytes come in, whole frames go out, with what was in them."""

    def __init__(self, end: socket.socket):
        self.end = end
        self.buffer = b""
        self.has_begun = False

    def cut(self, more: bytes):
        self.buffer += more
        if not self.has_begun:
            head, end, rest = self.buffer.partition(b"\r\n\r\n")
            if not end:
                return
            self.has_begun, self.buffer = True, rest
            yield head + end, None
        while len(self.buffer) >= 2:
            length, start = self.buffer[1] & 0x7F, 2
            if length >= 126:
                size = 2 if length == 126 else 8
                length, start = int.from_bytes(self.buffer[2 : 2 + size]), 2 + size
            mask = self.buffer[start : start + 4] if self.buffer[1] & 0x80 else b""
            start += len(mask)
            if len(self.buffer) < start + length:
                return
            raw, self.buffer = self.buffer[: start + length], self.buffer[start + length :]
            payload = raw[start:]
            if mask:
                payload = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
            yield raw, payload if raw[0] & 0x0F == 2 else None
