#!/usr/bin/env python3
"""A steward on a real Matrix homeserver while things go wrong.

    matrix.py tokens [--minutes 10]     tokens live 5 s; two questions a second
    matrix.py storm [--messages 1000]   the server restarted, paused for 60 s (--pause) and strict, and steward killed
    matrix.py away [--minutes 5]        steward is gone while 500 messages with 60 questions come
    matrix.py crowd [--minutes 10]      200 rooms, 2,000 members, 50 messages a second, beside a bare client
    matrix.py bots                      steward and another bot answer each other: both a plain one and a steward

Each question must have exactly one answer, in the order of the questions in each room. Ends with 1 when that does not
hold. Uses the release program, loopback only, and folders of its own; `make synapse` installs the server.
"""

import argparse
import random
import signal
import sys
import threading
import time

from bare import Bare
from homeserver import Homeserver
from parish import Parish, delays, quantile

BAD = "nincompoop"


def tokens(minutes: float) -> list[str]:
    with Homeserver("5s") as server, Parish(server) as parish:
        parish.start(rooms=4, people=200)
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            parish.ask()
            time.sleep(0.5)
        trouble = parish.wrong_answers(patience=30)
        refreshes, logins = parish.refreshes(), parish.log_lines("logged in")
        print(f"{parish.asked} questions, {refreshes} refreshes, {logins} log-ins")
        if refreshes < minutes * 60 / 5:
            trouble.append(f"only {refreshes} refreshes in {minutes} minutes")
        if logins > 1:
            trouble.append(f"{logins} log-ins instead of one")
        return trouble


def storm(messages: int, pause: float, seed: int) -> list[str]:
    chance = random.Random(seed)
    with Homeserver("5s") as server, Parish(server) as parish:
        parish.start(rooms=4, people=200)

        def restart() -> None:
            server.order("stop")
            server.order("start")

        def freeze() -> None:
            server.order("pause")
            time.sleep(pause)
            server.order("resume")

        def strict() -> None:
            server.limit(server.user("steward"), 2, 5)
            threading.Timer(15, server.limit, [server.user("steward"), None]).start()

        plan = {messages * 1 // 6: restart, messages * 2 // 6: freeze, messages * 3 // 6: strict}
        plan |= {messages * 4 // 6: restart, messages * 5 // 6: parish.kill}
        threads = []
        for number in range(messages):
            parish.ask()
            if number in plan:
                # Beside the questions, which go on coming.
                threads.append(threading.Thread(target=plan[number]))
                threads[-1].start()
            time.sleep(0.05 + chance.random() * 0.05)
        for thread in threads:
            thread.join()
        trouble = parish.wrong_answers(patience=180)
        print(f"{parish.asked} questions; 2 restarts, a pause of {pause:.0f} s, a limit of 2 a second, a kill")
        return trouble


def away(minutes: float, count: int, questions: int) -> list[str]:
    """A question is answered when it is younger than `stale_after` as steward reads it; guards always act."""
    stale = minutes * 60 * 0.6
    with Homeserver("1m") as server, Parish(server, limits=f"limits: {{stale_after: {stale:.0f}s}}") as parish:
        parish.start(rooms=2, people=200)
        parish.end(signal.SIGKILL)
        begin, asked, bad = time.monotonic(), [], []
        for number in range(count):
            time.sleep(max(0, begin + minutes * 60 * number / count - time.monotonic()))
            if number * questions // count != (number + 1) * questions // count:
                asked.append((time.monotonic(), parish.ask()))
            elif number % 10 == 3:
                bad.append(parish.say(f"you {BAD} {number}"))
            else:
                parish.say(f"nothing much, {number}")
        back = time.monotonic()
        parish.start_steward()
        # What comes last tells that all before it was read.
        last = parish.ask()
        parish.wait_for(lambda: last in parish.answers(), "the last answer", 180)
        now = time.monotonic()
        answers = parish.answers()
        # On the edge both are right.
        fresh = [n for at, n in asked if back - at < stale - 15]
        old = [n for at, n in asked if now - at > stale + 15]
        trouble = [f"question {n} has {answers.count(n)} answers" for n in fresh if answers.count(n) != 1]
        trouble += [f"question {n} is old and was answered" for n in old if n in answers]
        parish.wait_for(lambda: not parish.standing(BAD), "the guards", 60)
        print(
            f"away for {minutes:g} min: {count} messages in {len(parish.rooms)} rooms; {len(bad)} deleted; of "
            f"{len(asked)} questions {len(fresh)} were young, {len(old)} old; {len(answers)} answers"
        )
        return trouble + parish.misordered(answers_only=True)


def crowd(minutes: float, rooms: int, members: int, rate: float) -> list[str]:
    with Homeserver("5m", lean=True) as server, Parish(server) as parish:
        began = time.monotonic()
        bare = Bare(server, "other")
        parish.start(rooms=rooms, people=members, each_in_one=True, others=[bare.token])
        bare.start()
        print(f"{rooms} rooms, {members} members; there after {time.monotonic() - began:.0f} s")
        chance = random.Random(1)
        before = parish.memory()
        asked: dict[str, list[int]] = {"question": [], "bare": []}
        begin, number = time.monotonic(), 0

        def talk(text: str) -> None:
            parish.say(text, chance.randrange(members))

        voices = parish.voices(8)
        while (due := begin + number / rate) < begin + minutes * 60:
            time.sleep(max(0, due - time.monotonic()))
            word = {0: "question", 12: "bare"}.get(number % 25)
            if word:
                asked[word].append(number)
                voices.submit(talk, f"{word} {number}")
            else:
                voices.submit(talk, f"nothing much, {number}")
            number += 1
        voices.shutdown()
        sent = time.monotonic() - begin
        parish.wait_for(lambda: parish.said_by_steward() >= len(asked["question"]), "answers", 120, 1)
        memory = bare.memory()
        bare.end()
        said = parish.everything()
        own, other, seen = delays(said, "question", "answer"), delays(said, "bare", "echo"), bare.delays
        print(f"{number} messages in {sent:.0f} s ({number / sent:.1f} a second; {rate:g} were wanted)")
        for name, q in [("p50", 0.5), ("p99", 0.99)]:
            print(
                f"{name}: question to answer {quantile(own, q):.0f} ms, of a bare client {quantile(other, q):.0f} ms, "
                f"added {quantile(own, q) - quantile(other, q):.0f} ms; a message to a bare sync {quantile(seen, q):.0f} ms"
            )
        print(f"steward {before:.1f} MB at first, {parish.memory():.1f} MB at the end; bare client {memory:.1f} MB")
        trouble = []
        if len(own) != len(asked["question"]):
            trouble.append(f"{len(own)} of {len(asked['question'])} questions were answered")
        answers = [text for event in said if (text := event["content"].get("body", "")).startswith("answer ")]
        if len(answers) != len(set(answers)):
            trouble.append(f"{len(answers) - len(set(answers))} answers came twice")
        return trouble


def bots() -> list[str]:
    """Ten minutes of silence after a few answers, whoever the other is."""
    trouble = []
    rule = 'version: 1\nrules:\n  hello:\n    when: messageAdded\n    if: {text: hello}\n    do:\n      - reply: "hello"\n'
    for other in ["a bot that says hello to all", "another steward"]:
        with Homeserver("1m") as server, Parish(server, bot=rule, account="send_notices: false") as parish:
            parish.start(rooms=1, people=1)
            if other == "another steward":
                second = Parish(server, bot=rule, account="send_notices: false", user="other")
                second.start_beside(parish)
            else:
                second = Bare(server, "other", says="hello")
                server.join(parish.rooms[0], token=second.token)
                second.start()
            parish.say("hello")
            counts = [len(parish.everything())]
            while len(counts) < 4 or counts[-1] != counts[-4]:
                time.sleep(5)
                counts.append(len(parish.everything()))
                if counts[-1] > 60:
                    break
            own = sum(m["sender"] == server.user("steward") for m in parish.everything())
            print(f"{other}: {own} answers of steward, then silence; {counts[-1]} messages")
            if counts[-1] > 60 or own > 12:
                trouble.append(f"{other}: {own} answers and no end")
            second.end()
            if isinstance(second, Parish):
                second.__exit__(None)
    return trouble


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tokens", "storm", "away", "crowd", "bots"])
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--messages", type=int)
    parser.add_argument("--pause", type=float, default=60)
    parser.add_argument("--rooms", type=int, default=200)
    parser.add_argument("--members", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    trouble = {
        "tokens": lambda: tokens(given.minutes or 10),
        "storm": lambda: storm(given.messages or 1000, given.pause, given.seed),
        "away": lambda: away(given.minutes or 5, given.messages or 500, 60),
        "crowd": lambda: crowd(given.minutes or 10, given.rooms, given.members, given.rate),
        "bots": bots,
    }[given.what]()
    for line in trouble[:20]:
        print("wrong:", line)
    print("1 passed, 0 failed" if not trouble else "0 passed, 1 failed")
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
