"""Requests and frames that no well-behaved client sends, over raw sockets. Python's standard library only.

Usage: bad_client.py PORT PART
The server under test answers GET / with "ok", POST /length with the body's length, GET /large with 4 MB, and echoes
on the WebSocket /echo. Prints what went wrong; ends with status 0 when nothing did.
"""

import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time

PORT = int(sys.argv[1])
failures = []


def connect():
    connection = socket.create_connection(("127.0.0.1", PORT), timeout=20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def read_all(connection):
    data = b""
    try:
        while True:
            piece = connection.recv(65536)
            if not piece:
                return data
            data += piece
    except ConnectionResetError:
        return data + b"[reset]"
    except socket.timeout:
        return data + b"[timeout]"


def exchange(data):
    """Sends and reads until the server closes."""
    with connect() as connection:
        try:
            connection.sendall(data)
        except OSError:
            pass
        return read_all(connection)


def read_answer(connection, buffer=b""):
    while b"\r\n\r\n" not in buffer:
        piece = connection.recv(65536)
        if not piece:
            raise EOFError
        buffer += piece
    head, rest = buffer.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    while len(rest) < length:
        piece = connection.recv(65536)
        if not piece:
            raise EOFError
        rest += piece
    return head, rest[:length], rest[length:]


def check(name, condition, seen=b""):
    if not condition:
        failures.append(name)
        print("FAILED: %s: %r" % (name, seen[:300]), flush=True)


def status(data):
    return data.split(b" ")[1] if data.startswith(b"HTTP/1.1 ") else b"none"


def expect(name, request, *codes):
    seen = exchange(request)
    check(name, status(seen) in codes and b"[timeout]" not in seen and b"[reset]" not in seen, seen)
    head, _, body = seen.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            check(name + ": one answer only", len(body) == int(line.split(b":")[1]), seen)


def get(path=b"/", extra=b""):
    return b"GET " + path + b" HTTP/1.1\r\nHost: a\r\n" + extra + b"\r\n"


def post(body, extra=b""):
    return b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n" % len(body) + extra + b"\r\n" + body


CLOSE = b"Connection: close\r\n"


def still_answers(name):
    seen = exchange(get(extra=CLOSE))
    check(name, status(seen) == b"200" and seen.endswith(b"ok"), seen)


# Requests


def pipelined():
    with connect() as connection:
        connection.sendall(post(b"abc") + post(b"") + post(b"12345") + get())
        rest = b""
        for wanted in [b"3", b"0", b"5", b"ok"]:
            head, body, rest = read_answer(connection, rest)
            check("pipelined POSTs are answered one by one", body == wanted, head + body)
    with connect() as connection:
        connection.sendall(post(b"x") * 200)
        rest = b""
        for _ in range(200):
            head, body, rest = read_answer(connection, rest)
            check("200 pipelined POSTs", body == b"1", head + body)


def hasty():
    """Sends its next request before the last answer is complete, and leaves."""
    for _ in range(50):
        with connect() as connection:
            connection.sendall(get(b"/large"))
            connection.recv(1000)
            connection.sendall(get(b"/large"))
    for _ in range(20):
        with connect() as connection:
            connection.sendall(get() + get()[:20])
    for _ in range(20):
        connection = connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(get(b"/large"))
        connection.close()
    # Half a head or half a body, and gone.
    for _ in range(20):
        for half in [b"GET / HTTP/1.1\r\nHost: a\r\nX-Half", post(b"abcdefgh")[:-3]]:
            with connect() as connection:
                connection.sendall(half)
    still_answers("after hasty clients")


def bad_requests():
    expect("no version", b"GET /\r\nHost: a\r\n\r\n", b"400", b"505", b"none")
    expect("garbage", b"\x01\x02 \x03\r\n\r\n", b"400", b"505", b"none")
    expect("no host", b"GET / HTTP/1.1\r\n\r\n", b"400")
    expect("two hosts", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400")
    expect("HTTP/3", b"GET / HTTP/3.0\r\nHost: a\r\n\r\n", b"400", b"505")
    expect("a header without colon", b"GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n", b"400")
    for length in [b"abc", b"-1", b"+5", b"0x10", b"1 2", b"", b"99999999999999999999999"]:
        request = b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + b"\r\n\r\nhello"
        expect("length %r" % length, request, b"400", b"413")
    two = b"Content-Length: 5\r\nContent-Length: 6\r\n"
    expect("two lengths", b"POST /length HTTP/1.1\r\nHost: a\r\n" + two + b"\r\nhello", b"400")
    both = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    expect("length and chunks", b"POST /length HTTP/1.1\r\nHost: a\r\n" + both + b"\r\n0\r\n\r\n", b"400")
    other = b"Transfer-Encoding: gzip\r\n"
    expect("another coding", b"POST /length HTTP/1.1\r\nHost: a\r\n" + other + b"\r\nhello", b"501")
    chunks = b"Transfer-Encoding: chunked\r\n" + CLOSE
    head = b"POST /length HTTP/1.1\r\nHost: a\r\n" + chunks + b"\r\n"
    expect("chunks", head + b"5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\n\r\n", b"200")
    expect("a chunk size that is none", head + b"zz\r\nhello\r\n0\r\n\r\n", b"400")
    expect("a huge chunk size", head + b"ffffffffffffffffff\r\nhello\r\n", b"400", b"413")
    expect("a chunk without end", head + b"5\r\nhelloXX0\r\n\r\n", b"400")
    expect("a version of HTTP without Host", b"GET / HTTP/1.0\r\n\r\n", b"200")


def limits():
    expect("200 fields", get(extra=b"".join(b"X-%d: y\r\n" % i for i in range(198)) + CLOSE), b"200")
    expect("201 fields", get(extra=b"".join(b"X-%d: y\r\n" % i for i in range(200)) + CLOSE), b"431")
    expect("1,000 fields", get(extra=b"X: y\r\n" * 1000), b"431")
    expect("a head of 20 KB", get(extra=b"X: " + b"y" * 20_000 + b"\r\n" + CLOSE), b"200")
    expect("a head of 40 KB", get(extra=b"X: " + b"y" * 40_000 + b"\r\n"), b"431")
    expect("a head of 1 MB", get(extra=b"X: " + b"y" * 1_000_000 + b"\r\n"), b"431")
    expect("a path of 200 KB", get(b"/" + b"y" * 200_000), b"414", b"431")
    size = 10 << 20
    expect("a body at the limit", post(b"x" * size, CLOSE), b"200")
    expect("a body over the limit", post(b"x" * (size + 1)), b"413")
    expect("a body far over the limit", post(b"x" * (3 * size)), b"413")
    promise = b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 4611686018427387904\r\n\r\n"
    expect("a body that is only promised", promise, b"413")
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    head = b"POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    expect("chunks over the limit", head + chunk * 12 + b"0\r\n\r\n", b"413")
    asking = b"POST /length HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"
    expect("a body over the limit, asked for first", asking, b"413")


def slow():
    """The server under test allows a second for heads and bodies."""
    for name, start in [
        ("slow head", b"GET / HTTP/1.1\r\nHost: a\r\nX: "),
        ("slow body", b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"),
        ("silence", b""),
        ("idle after an answer", get()),
    ]:
        with connect() as connection:
            began = time.monotonic()
            connection.sendall(start)
            connection.settimeout(0.1)
            ended = False
            while not ended and time.monotonic() - began < 15:
                try:
                    if name.startswith("slow"):
                        connection.sendall(b"x")
                    ended = connection.recv(65536) == b""
                except socket.timeout:
                    pass
                except OSError:
                    ended = True
            check(name + " is hung up on", ended and time.monotonic() - began < 14)
    still_answers("after slow clients")


def leaving():
    """The server under test takes 20 connections at a time and allows a minute for heads and bodies."""
    for start in [
        b"GET / HTTP/1.1\r\nHost: a\r\n",
        b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
        b"GET",
        b"",
    ]:
        for _ in range(20):
            with connect() as connection:
                connection.sendall(start)
        began = time.monotonic()
        still_answers("after clients that left after %r" % start)
        check("they are not waited for", time.monotonic() - began < 10)


def half_closing():
    """Whole requests of clients that send nothing more and say so at once; each has its answer, on a busy machine, too."""
    chunks = b"POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    long = post(b"x" * 200_000)
    kinds = [
        ([get()], [b"ok"]),
        ([get(extra=CLOSE)], [b"ok"]),
        ([post(b"abc")], [b"3"]),
        ([post(b"abcdef")[:-6], b"abcdef"], [b"6"]),
        ([chunks], [b"5"]),
        ([long], [b"200000"]),
        ([get() + post(b"abcd") + get()], [b"ok", b"4", b"ok"]),
        ([get(b"/large")], [b"x" * (4 << 20)]),
    ]

    def client(number):
        for turn in range(50):
            pieces, bodies = kinds[(number + turn) % len(kinds)]
            name = "answers %r after half a close" % [len(body) for body in bodies]
            rest = b""
            try:
                with connect() as connection:
                    for piece in pieces:
                        connection.sendall(piece)
                    connection.shutdown(socket.SHUT_WR)
                    for wanted in bodies:
                        head, body, rest = read_answer(connection, rest)
                        check(name, status(head) == b"200" and body == wanted, head + body)
                    rest += read_all(connection)
                    check(name + " and ends", rest == b"", rest)
            except (OSError, EOFError) as error:
                check(name, False, repr(error).encode())

    # They end by themselves, too, should this program be ended.
    spin = "import time; end = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
    # One that says nothing is another connection to look after.
    silent = connect()
    for busy in [0, 3]:
        spinning = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(busy)]
        threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for process in spinning:
            process.kill()
            process.wait()
    silent.close()
    connection = connect()
    with connection:
        connection.sendall(get(b"/echo", UPGRADE + KEY) + frame(1, b"hello") + frame(8, b"\x03\xe8"))
        connection.shutdown(socket.SHUT_WR)
        seen = read_all(connection)
        check("a WebSocket after half a close", status(seen) == b"101" and seen.endswith(b"\x88\x02\x03\xe8"), seen)


# Frames


KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
UPGRADE = b"Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"


def frame(opcode, data, last=True, masked=True, length=None, reserved=0, form=None):
    out = bytes([(0x80 if last else 0) | reserved << 4 | opcode])
    length = len(data) if length is None else length
    flag = 0x80 if masked else 0
    form = form if form is not None else (7 if length < 126 else 16 if length < 65536 else 64)
    if form == 7:
        out += bytes([flag | length])
    elif form == 16:
        out += bytes([flag | 126]) + struct.pack(">H", length)
    else:
        out += bytes([flag | 127]) + struct.pack(">Q", length)
    if masked:
        mask = b"\x11\x22\x33\x44"
        out += mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))
    else:
        out += data
    return out


def upgraded():
    connection = connect()
    connection.sendall(get(b"/echo", UPGRADE + KEY))
    head, _, rest = read_answer(connection)
    return connection, head, rest


def closing(data):
    """Sends frames; the code of the close frame that comes back, and all else before it."""
    connection, _, rest = upgraded()
    with connection:
        try:
            connection.sendall(data)
        except OSError:
            pass
        seen = rest + read_all(connection)
    at = 0
    others = []
    while at + 2 <= len(seen):
        opcode, length = seen[at] & 15, seen[at + 1] & 127
        at += 2
        if length == 126:
            (length,) = struct.unpack(">H", seen[at : at + 2])
            at += 2
        elif length == 127:
            (length,) = struct.unpack(">Q", seen[at : at + 8])
            at += 8
        data = seen[at : at + length]
        at += length
        if opcode == 8:
            code = struct.unpack(">H", data[:2])[0] if data else 0
            return code, others, seen[at:]
        others.append(data)
    return None, others, b""


def bad_upgrades():
    connection, head, _ = upgraded()
    connection.close()
    check("the key is answered", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, head)
    expect("no upgrade at all", get(b"/echo", CLOSE), b"400")
    expect("no key", get(b"/echo", UPGRADE + CLOSE), b"400")
    expect("a short key", get(b"/echo", UPGRADE + CLOSE + b"Sec-WebSocket-Key: abc\r\n"), b"400")
    old = UPGRADE.replace(b"13", b"8")
    expect("an old version", get(b"/echo", old + KEY + CLOSE), b"426")
    expect("by POST", get(b"/echo", UPGRADE + KEY + CLOSE).replace(b"GET", b"POST"), b"400")
    expect("by HTTP/1.0", get(b"/echo", UPGRADE + KEY + CLOSE).replace(b"/1.1", b"/1.0"), b"400", b"none")


def bad_frames():
    text = frame(1, b"hello")
    cases = [
        ("not masked", frame(1, b"x", masked=False), 1002),
        ("reserved bit 1", frame(1, b"x", reserved=4), 1002),
        ("reserved bit 3", frame(1, b"x", reserved=1), 1002),
        ("opcode 3", frame(3, b"x"), 1002),
        ("opcode 11", frame(11, b"x"), 1002),
        ("a ping in pieces", frame(9, b"x", last=False), 1002),
        ("a ping of 126 bytes", frame(9, b"x" * 126), 1002),
        ("nothing to continue", frame(0, b"x"), 1002),
        ("a message inside a message", frame(1, b"x", last=False) + frame(1, b"y"), 1002),
        ("a length of 5 in 16 bits", frame(1, b"hello", form=16), 1002),
        ("a length of 5 in 64 bits", frame(1, b"hello", form=64), 1002),
        ("a length with its top bit", frame(2, b"x", length=1 << 63, form=64), 1002),
        ("a message of 2^62 bytes", frame(2, b"x", length=1 << 62), 1009),
        ("a message over the limit", frame(2, b"x", length=(8 << 20) + 1), 1009),
        ("pieces over the limit", frame(2, b"x" * (4 << 20), last=False) + frame(0, b"", length=5 << 20), 1009),
        ("a text that is not UTF-8", frame(1, b"\xff\xfe"), 1007),
        ("a text with a surrogate", frame(1, b"\xed\xa0\x80"), 1007),
        ("a text that ends inside a letter", frame(1, b"gr\xc3"), 1007),
        ("half a close code", frame(8, b"\x03"), 1002),
        ("close code 1005", frame(8, struct.pack(">H", 1005)), 1002),
        ("close code 999", frame(8, struct.pack(">H", 999)), 1002),
        ("close code 2999", frame(8, struct.pack(">H", 2999)), 1002),
        ("close code 5000", frame(8, struct.pack(">H", 5000)), 1002),
        ("a close reason that is not UTF-8", frame(8, struct.pack(">H", 1000) + b"\xff"), 1007),
        ("a goodbye", frame(8, struct.pack(">H", 1000) + b"bye"), 1000),
        ("a goodbye without code", frame(8, b""), 1000),
        ("a goodbye of our own code", frame(8, struct.pack(">H", 4007)), 4007),
    ]
    for name, data, wanted in cases:
        code, others, rest = closing(text + data)
        check("%s: closed with %r, not %r" % (name, code, wanted), code == wanted)
        check(name + ": what came before is not lost", others in ([b"hello"], []), repr(others).encode())
        # What follows the mistake must draw no second answer.
        code, _, rest = closing(data + data + text + b"\x00" * 100)
        check(name + ": one goodbye only", code == wanted and rest == b"", rest)
    connection, _, seen = upgraded()
    with connection:
        connection.sendall(frame(9, b"a") + frame(1, b"gr\xc3", last=False) + frame(9, b"b") + frame(0, b"\xbcn"))
        while len(seen) < 10:
            seen += connection.recv(65536)
        check("pieces and pings mix", b"\x8a\x01b" in seen and b"\x81\x05gr\xc3\xbcn" in seen, seen)
    # The first frames in the same packet as the request.
    with connect() as connection:
        connection.sendall(get(b"/echo", UPGRADE + KEY) + frame(1, b"early") + frame(8, b""))
        seen = read_all(connection)
        check("frames right behind the request", b"\x81\x05early" in seen or b"\x88\x02\x03\xe8" in seen, seen)
    # A peer that vanishes in the middle.
    for _ in range(20):
        connection, _, _ = upgraded()
        connection.sendall(frame(2, b"x" * 1000)[:500])
        connection.close()
    still_answers("after bad frames")


# Fuzz


def mutate(dice, data):
    data = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        kind = dice.randrange(6)
        at = dice.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] = dice.randrange(256)
        elif kind == 1:
            data[at:at] = bytes(dice.randrange(256) for _ in range(dice.randint(1, 8)))
        elif kind == 2:
            del data[at : at + dice.randint(1, 10)]
        elif kind == 3:
            data[at:at] = data[max(0, at - dice.randint(1, 40)) : at]
        elif kind == 4:
            del data[at:]
        elif data:
            data[at % len(data)] ^= 1 << dice.randrange(8)
    return bytes(data)


def fuzz(count, seed, seeds, open_connection):
    """Eight clients at a time send damaged input; some wait a moment for what comes, and all leave."""

    def client(number):
        dice = random.Random(seed + number)
        for _ in range(count // 8):
            try:
                with open_connection() as connection:
                    connection.sendall(mutate(dice, dice.choice(seeds)))
                    if dice.random() < 0.5:
                        connection.shutdown(socket.SHUT_WR)
                    if dice.random() < 0.5:
                        connection.settimeout(0.02)
                        read_all(connection)
            except (OSError, EOFError):
                pass

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    still_answers("after %d damaged inputs" % count)


def fuzz_requests():
    chunked = b"POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    seeds = [
        post(b"abc") + post(b"defg") + get(),
        get(b"/a%2Fb?x=%41&y", b"X-Long: " + b"z" * 300 + b"\r\n"),
        chunked + get(),
        get(b"/echo", UPGRADE + KEY),
        post(b"abc", b"Expect: 100-continue\r\n"),
        get(b"/large") + get(b"/large"),
    ]
    fuzz(5_000, 2718, seeds, connect)


def fuzz_frames():
    seeds = [
        frame(1, b"hello") + frame(9, b"ping") + frame(2, b"x" * 300),
        frame(1, b"a", last=False) + frame(0, b"b", last=False) + frame(10, b"") + frame(0, b"c"),
        frame(8, struct.pack(">H", 1000) + b"bye"),
        frame(2, b"y" * 70000),
        frame(1, "gr\u00fc\u00df dich".encode()) * 5,
    ]
    fuzz(5_000, 31415, seeds, lambda: upgraded()[0])


PARTS = {
    "requests": [pipelined, hasty, bad_requests, bad_upgrades],
    "limits": [limits],
    "slow": [slow],
    "leaving": [leaving],
    "half-closing": [half_closing],
    "frames": [bad_frames],
    "fuzz-requests": [fuzz_requests],
    "fuzz-frames": [fuzz_frames],
}

for part in PARTS[sys.argv[2]]:
    try:
        part()
    except (OSError, EOFError) as error:
        check("%s ended early: %r" % (part.__name__, error), False)
sys.stdout.flush()
os._exit(1 if failures else 0)
