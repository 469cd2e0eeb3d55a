#!/usr/bin/env python3
"""Puts the moderation that ships with steward to work on the built-in chat server, in real time.

    moderation.py crowd                  200 members, and what the rules say happens, happens
    moderation.py raid                   500 raiders, 10,000 messages in a minute, ceilings raised
    moderation.py raid --usual-ceilings  the same with the ceilings that steward has unless told otherwise
    moderation.py muted                  muted for ten minutes, through leaving, coming back, a restart and a kill
    moderation.py kills                  steward is killed between each two steps of "delete, strike, report"

Ends with 1 when something does not hold. Uses the release program, loopback only, and a folder of its own.
"""

import argparse
import sys
import threading
import time

from town import Town

RAISED = "limits: {kicks: 2000 per 10m, bans: 2000 per 1h, deletions: 20000 per 1m per channel}"
PITCH = "Join the free coin server at cool-place right now"


def chat(town: Town, stop: threading.Event, seconds: float = 0.6) -> threading.Thread:
    """Members talk, one after the other: in the lobby, and questions elsewhere.

    Nobody asks again so soon that it looks like a program to the loop guard.
    """

    def talk() -> None:
        number = 0
        while not stop.is_set():
            for place, voice in enumerate(town.members.values()):
                if stop.wait(seconds):
                    return
                number += 1
                if place % 2:
                    voice.say(town.sentence(), town.sids["lobby"])
                else:
                    voice.say(f"question {number} {town.sentence()}", town.sids["general"])

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    return thread


def get_known(town: Town) -> None:
    """Members are no newcomers: each says a few things first, slowly enough to be no flood."""
    for _ in range(6):
        for voice in town.members.values():
            voice.ask(town.sentence(), town.sids["lobby"])
        time.sleep(2)


def raid(usual_ceilings: bool, raiders: int, messages: int, seconds: float) -> list[str]:
    trouble: list[str] = []
    with Town("" if usual_ceilings else RAISED) as town:
        town.start([f"member{number}" for number in range(50)])
        ready = time.monotonic()
        get_known(town)
        # For a minute after its return steward takes nobody's arrival for an arrival.
        time.sleep(max(0, ready + 62 - time.monotonic()))
        memory = [town.memory()]
        stop = threading.Event()
        talking = chat(town, stop)

        def measure() -> None:
            while not stop.wait(1):
                memory.append(town.memory())

        threading.Thread(target=measure, daemon=True).start()
        print(f"{raiders} raiders come in …", flush=True)
        crowd = list(town.enter_all([f"raider{number}" for number in range(raiders)], "lobby").values())
        lobby = town.watcher
        before = len(lobby.written["lobby"])
        start = time.monotonic()
        for number in range(messages):
            wait = start + seconds * number / messages - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            crowd[number % raiders].say(f"{PITCH} {number}", town.sids["lobby"])
        posted_in = time.monotonic() - start
        time.sleep(2)
        said = sum(voice.said.get(201, 0) for voice in crowd)
        refused = sum(count for voice in crowd for status, count in voice.said.items() if status != 201)
        with lobby.lock:
            pitches = {i: at for i, (at, who, _) in lobby.written["lobby"].items() if who.startswith("raider")}
        last_pitch = max(pitches.values())
        hundredth = sorted(pitches.values())[min(99, len(pitches) - 1)]
        print(f"{said} messages of raiders in {posted_in:.0f} s, {refused} refused", flush=True)
        limit = said / 30 * 1.1 + 30
        end = start + (seconds + 30 if usual_ceilings else limit)
        while time.monotonic() < end:
            with lobby.lock:
                left = pitches.keys() - {index for _, index in lobby.deleted["lobby"]}
            if not left:
                break
            time.sleep(0.2)
        done = time.monotonic() - start
        stop.set()
        talking.join()
        time.sleep(3)

        staff = lobby.texts("staff", "steward")
        alarms = [at for at, who, text in lobby.written["staff"].values() if who == "steward" and "aid" in text]
        stopped = min(alarms, default=float("inf")) - hundredth
        first = min((at for at, index in lobby.deleted["lobby"] if index in pitches), default=float("inf")) - hundredth
        order = [index for at, index in lobby.deleted["lobby"] if index in pitches and at > last_pitch + 1]
        falling = sum(a > b for a, b in zip(order, order[1:])) / max(1, len(order) - 1)
        gone = [text for at, name, text in lobby.left if text.startswith("member")]
        deletions = sorted(at for at, _ in lobby.deleted["lobby"])
        busiest = max((sum(1 for other in deletions if at <= other < at + 60) for at in deletions[::20]), default=0)
        members_lost = [i for _, i in lobby.deleted["lobby"] if lobby.written["lobby"].get(i, (0, "", ""))[1].startswith("member")]
        elsewhere_lost = len(lobby.deleted["general"])
        questions = sum(text.startswith("question") for text in lobby.texts("general"))
        answers = sum(text.startswith("answer") for text in lobby.texts("general", "steward"))
        print(f"raid known to staff {stopped:+.1f} s after the hundredth message, first deletion {first:+.1f} s")
        print(f"{len(pitches) - len(left)} of {len(pitches)} removed {done:.0f} s after the first; 30 a second allow {said / 30:.0f} s")
        print(f"after the last pitch {falling:.1%} of {len(order)} deletions were newest first; {busiest} in the busiest minute")
        print(f"members: {len(gone)} removed, {len(members_lost)} messages lost in the locked lobby, {elsewhere_lost} elsewhere")
        print(f"{answers} answers to {questions} questions in general meanwhile")
        curve = ", ".join(f"{memory[place]:.0f}" for place in range(0, len(memory), max(1, len(memory) // 10)))
        print(f"memory {memory[0]:.0f} MB before, {max(memory):.0f} at most, {memory[-1]:.0f} at the end ({curve})")
        for text in staff:
            print("staff:", text.splitlines()[0][:150])

        if not stopped <= 10:
            trouble.append(f"staff knew {stopped:.1f} s after the hundredth message")
        if usual_ceilings:
            if busiest > 200:
                trouble.append(f"{busiest} deletions in a minute, and the ceiling is 200")
            if not any("ceiling of 200 deletions" in text for text in staff):
                trouble.append("staff were not told of the ceiling")
        else:
            if left:
                trouble.append(f"{len(left)} messages of raiders were left after {done:.0f} s")
            if falling < 0.99:
                trouble.append(f"only {falling:.1%} newest first")
        if gone or elsewhere_lost:
            trouble.append(f"members were punished: {gone[:5]}, {elsewhere_lost} messages elsewhere")
        if answers < questions:
            trouble.append(f"{questions - answers} questions without an answer")
        if max(memory) > memory[0] + 64:
            trouble.append(f"memory grew by {max(memory) - memory[0]:.0f} MB")
        town.trouble = trouble
    return trouble


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["crowd", "raid", "muted", "kills"])
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--usual-ceilings", action="store_true")
    parser.add_argument("--raiders", type=int, default=500)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    if given.what == "raid":
        trouble = raid(given.usual_ceilings, given.raiders, given.messages, given.seconds)
    elif given.what == "muted":
        from muted import muted

        trouble = muted(given.minutes)
    elif given.what == "kills":
        from kills import kills

        trouble = kills()
    else:
        from crowd import crowd

        trouble = crowd()
    for line in trouble[:20]:
        print("wrong:", line)
    print("1 passed, 0 failed" if not trouble else "0 passed, 1 failed")
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
