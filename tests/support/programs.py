"""Programs that play, well and badly, and whether they still run."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from krypenv.agents import format_spec
from support.places import DOCS

FEWEST_POINTS = DOCS / "programs" / "fewest_points.py"

# Does what its first argument says, and otherwise plays the first move.
ODD = """
import json, os, subprocess, sys, time

how, rest = sys.argv[1], sys.argv[2:]
at_once = {
    "exits": lambda: sys.exit(3),
    "is killed": lambda: os.kill(os.getpid(), 9),
    "sleeps": lambda: time.sleep(100),
    "greets": lambda: print("Welcome to my bot!", flush=True),
    "half": lambda: (print('{"name": "od', end="", flush=True), sys.exit()),
    "floods": lambda: [sys.stdout.write("x" * 1_000_000) for _ in range(1000)],
    "complains and sleeps": lambda: [print("still thinking", file=sys.stderr) for _ in range(10**9)],
    "floods its errors": lambda: sys.stderr.write("x" * 10_000_000),
    "begins as Windows does": lambda: os.write(1, bytes([0xEF, 0xBB, 0xBF])),
    "closes": lambda: (os.close(1), time.sleep(100)),
    "never reads": lambda: [print(json.dumps({"name": "x", "id": n, "move": "8S"}), flush=True) for n in range(10**9)],
    "has a child": lambda: subprocess.Popen([sys.executable, __file__, "sleeps"]),
}
at_once.get(how, lambda: None)()
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {
            "no name": {"nam": "odd"}, "long name": {"name": "x" * 5000},
            "sorry": {"error": "I need\\na key"},
        }.get(how, {"name": "odd"})
    elif message["type"] == "bye":
        break
    else:
        asked += 1
        right = {"id": message["id"], "move": message["moves"][0]}
        answer = {
            "illegal": {**right, "move": "KSxKS"},
            "no id": {"move": right["move"]}, "another id": {**right, "id": 77},
            "gives up": {"id": message["id"], "error": "help"},
        }.get(how, right)
        if how == "dies" and asked == int(rest[0]):
            print("oh dear", file=sys.stderr)
            sys.exit(1)
        if how == "grows slow" and asked == int(rest[0]):
            time.sleep(100)
        if how == "writes twice":
            print(json.dumps(answer))
    print(json.dumps(answer), flush=True)
if how == "stays":
    time.sleep(100)
"""


def of_command(*words: Any, **options: Any) -> str:
    """Return the string of a Python program with some arguments."""
    return format_spec("process", {"command": shlex.join([sys.executable, *map(str, words)]), **options})


def odd(folder: Path, *words: Any, **options: Any) -> str:
    """Return the string of a program that misbehaves, whose file is written to a folder."""
    path = folder / "odd.py"
    path.write_text(ODD)
    return of_command(path, *words, **options)


def running(words: Any) -> list[str]:
    """Return the commands of this machine's processes that have some words in them."""
    found = subprocess.run(["ps", "-e", "-ww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if str(words) in line]


def has_ended(words: Any, seconds: float = 20.0) -> bool:
    """Return whether there is no such process, now or soon."""
    until = time.monotonic() + seconds
    while running(words) and time.monotonic() < until:
        time.sleep(0.05)
    return not running(words)


def line_of(value: Any) -> bytes:
    """Return a value as a line of JSON."""
    return json.dumps(value).encode() + b"\n"
