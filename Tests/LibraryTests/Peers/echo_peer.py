"""A WebSocket and HTTP server that shares no code with steward. Python's standard library only.

Usage: echo_peer.py [CERTIFICATE KEY]
Prints its port, serves until its standard input ends. The path chooses how it behaves.
"""

import base64
import hashlib
import os
import socket
import ssl
import struct
import sys
import threading

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Reader:
    def __init__(self, connection):
        self.connection = connection
        self.buffer = b""

    def until(self, end):
        while end not in self.buffer:
            piece = self.connection.recv(65536)
            if not piece:
                raise EOFError
            self.buffer += piece
        head, self.buffer = self.buffer.split(end, 1)
        return head

    def exactly(self, count):
        while len(self.buffer) < count:
            piece = self.connection.recv(65536)
            if not piece:
                raise EOFError
            self.buffer += piece
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data


def read_frame(reader):
    first, second = reader.exactly(2)
    assert second & 0x80, "a client must mask"
    length = second & 0x7F
    if length == 126:
        (length,) = struct.unpack(">H", reader.exactly(2))
    elif length == 127:
        (length,) = struct.unpack(">Q", reader.exactly(8))
    mask = reader.exactly(4)
    data = reader.exactly(length)
    if length:
        wide = (mask * (length // 4 + 1))[:length]
        data = (int.from_bytes(data, "big") ^ int.from_bytes(wide, "big")).to_bytes(length, "big")
    return first & 0x80, first & 0x0F, data


def frame(opcode, data, last=True, mask=None):
    out = bytes([(0x80 if last else 0) | opcode])
    flag = 0x80 if mask else 0
    if len(data) < 126:
        out += bytes([flag | len(data)])
    elif len(data) < 65536:
        out += bytes([flag | 126]) + struct.pack(">H", len(data))
    else:
        out += bytes([flag | 127]) + struct.pack(">Q", len(data))
    if mask:
        out += mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))
    else:
        out += data
    return out


def accept(fields):
    return base64.b64encode(hashlib.sha1(fields[b"sec-websocket-key"] + GUID).digest())


def answer(connection, status, body=b"", extra=b""):
    connection.sendall(
        b"HTTP/1.1 " + status + b"\r\n" + extra + b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    )


def echo(connection, reader):
    while True:
        last, opcode, data = read_frame(reader)
        if opcode == 8:
            connection.sendall(frame(8, data))
            return
        if opcode == 9:
            connection.sendall(frame(10, data))
        elif opcode != 10:
            connection.sendall(frame(opcode, data, last))


def serve(connection):
    reader = Reader(connection)
    while True:
        lines = reader.until(b"\r\n\r\n").split(b"\r\n")
        method, path = lines[0].split(b" ")[:2]
        path = path.split(b"?")[0]
        fields = {}
        for line in lines[1:]:
            name, value = line.split(b":", 1)
            fields[name.lower()] = value.strip()
        body = reader.exactly(int(fields.get(b"content-length", b"0")))
        if path == b"/hang":
            connection.recv(1)
            return
        if path == b"/leave":
            return
        if path == b"/half-answer":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            return
        if path == b"/endless":
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65536)
        if path == b"/once-then-leave":
            # Answers the first request of a connection and breaks the connection after reading the second one.
            serve.seen.append(method)
            answer(connection, b"200 OK", b"%d" % len(serve.seen))
            reader.until(b"\r\n\r\n")
            serve.seen.append(method)
            return
        if path == b"/seen":
            answer(connection, b"200 OK", b"%d" % len(serve.seen))
            continue
        if b"sec-websocket-key" not in fields:
            answer(connection, b"200 OK", method + b" " + path + b" " + body, b"X-Peer: python\r\n")
            continue
        if path == b"/refuse":
            answer(connection, b"401 Unauthorized", b"no", b"Retry-After: 7\r\n")
            return
        if path == b"/long-head":
            connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\n")
            while True:
                connection.sendall(b"X-Filler: " + b"x" * 1000 + b"\r\n")
        head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        if path == b"/no-upgrade":
            connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
            return
        key = accept(fields) if path != b"/wrong-key" else base64.b64encode(b"x" * 20)
        head += b"Sec-WebSocket-Accept: " + key + b"\r\n"
        if path == b"/extension":
            head += b"Sec-WebSocket-Extensions: permessage-deflate\r\n"
        if path == b"/other-subprotocol":
            head += b"Sec-WebSocket-Protocol: other\r\n"
        if path == b"/second-subprotocol":
            head += b"Sec-WebSocket-Protocol: " + fields[b"sec-websocket-protocol"].split(b", ")[1] + b"\r\n"
        # The first message in the same packet as the answer.
        early = frame(1, b"early") if path == b"/early" else b""
        connection.sendall(head + b"\r\n" + early)
        if path == b"/masked":
            connection.sendall(frame(1, b"masked", mask=b"abcd"))
        elif path == b"/die-inside":
            connection.sendall(frame(2, b"x" * 5000)[:1000])
            return
        elif path == b"/silent":
            # Reads nothing and answers no ping.
            threading.Event().wait()
        elif path == b"/pieces":
            connection.sendall(
                frame(1, "gr\u00fc".encode()[:3], last=False)
                + frame(9, b"are you there")
                + frame(0, "gr\u00fc".encode()[3:], last=False)
                + frame(0, b"n")
            )
            last, opcode, data = read_frame(reader)
            connection.sendall(frame(1, b"pong " + data if opcode == 10 else b"no pong"))
        elif path == b"/goodbye":
            connection.sendall(frame(1, b"last") + frame(8, struct.pack(">H", 4321) + b"enough"))
            last, opcode, data = read_frame(reader)
            return
        elif path == b"/headers":
            connection.sendall(frame(1, b"\n".join(lines)))
        echo(connection, reader)
        return


serve.seen = []


def handle(connection, context):
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        serve(connection)
    except (EOFError, OSError, AssertionError, ssl.SSLError):
        pass
    finally:
        try:
            connection.close()
        except OSError:
            pass


def main():
    context = None
    if len(sys.argv) == 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    print(listener.getsockname()[1], flush=True)

    def end():
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=end, daemon=True).start()
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=handle, args=(connection, context), daemon=True).start()


main()
