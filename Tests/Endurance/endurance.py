#!/usr/bin/env python3
"""Chats with a running steward while things go wrong, and counts the answers.

    endurance.py refresh [--minutes 10]    tokens live 30 s; two questions a second
    endurance.py storm [--messages 2000]   sockets cut, server restarted, steward killed
    either with --service sendbird         the same through the door for Sendbird's clients

Each question must have exactly one answer, in the order of the questions in each channel. Ends with 1 when that does
not hold. Uses the release program, loopback only, and a folder of its own.
"""

import argparse
import random
import sys
import time

from world import World


def refresh(minutes: float, service: str) -> list[str]:
    """At least two refreshes a minute, and no reconnect because of them."""
    with World(token_life=30, service=service) as world:
        world.start()
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            world.ask()
            time.sleep(0.5)
        trouble = world.wrong_answers(patience=30)
        tokens, logins = world.tokens_given, world.log_lines("logged in")
        print(f"{world.asked} questions, {tokens} tokens fetched, {logins} log-ins")
        if tokens < minutes * 2:
            trouble.append(f"only {tokens} tokens in {minutes} minutes")
        if logins != 1:
            trouble.append(f"{logins} log-ins instead of one")
        return trouble


def storm(messages: int, seed: int, service: str) -> list[str]:
    """Cuts, restarts and kills spread over the messages, half of them aimed between a post and its reply."""
    chance = random.Random(seed)
    plan: dict[int, list[str]] = {}

    def spread(count: int, *kinds: str) -> None:
        for number in range(count):
            at = chance.randrange(messages // 50, messages - messages // 50)
            plan.setdefault(at, []).append(kinds[number % len(kinds)])

    spread(max(1, messages // 40), "cut", "cut between post and reply")
    spread(5, "restart the server")
    spread(10, "kill", "kill between post and reply")
    done: dict[str, int] = {}
    with World(service=service) as world:
        world.start()
        for number in range(messages):
            world.ask()
            for what in plan.get(number, []):
                world.harm(what)
                done[what] = done.get(what, 0) + 1
            time.sleep(0.03)
        trouble = world.wrong_answers(patience=120)
        print(f"{world.asked} questions; " + ", ".join(f"{count} x {what}" for what, count in sorted(done.items())))
        return trouble


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["refresh", "storm"])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--service", choices=["twilio", "sendbird"], default="twilio")
    given = parser.parse_args()
    if given.what == "refresh":
        trouble = refresh(given.minutes, given.service)
    else:
        trouble = storm(given.messages, given.seed, given.service)
    for line in trouble[:20]:
        print("wrong:", line)
    print("1 passed, 0 failed" if not trouble else "0 passed, 1 failed")
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
