"""Terminals at which tests type: one without a process, and a pseudo-terminal in which the command runs."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from rich.console import Console

from krypenv.ui.terminal import Terminal

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def typed(move):
    """A move as a person types it."""
    if move.builds or move.build:
        return str(move).lower()
    return " ".join([move.card, *move.takes]).lower()


def sitting(table, lines, path=None, width=80, helper="greedy", **more):
    """A terminal at which these lines are typed, and what it writes."""
    out, left = io.StringIO(), iter(lines)

    def read(prompt):
        out.write(prompt)
        line = next(left, None)
        if line is None:
            raise EOFError
        out.write(f"{line}\n")
        return line

    console = Console(file=out, width=width, force_terminal=False)
    return Terminal(table, path or Path("game.krk"), helper, console, read=read, **more), out


def some_lines(table, seed):
    """Type random choices: numbers, names, and words, for ever."""
    choices = random.Random(seed)
    while True:
        game = table.game
        if game.is_over:
            yield ""  # deals the next game
        elif choices.random() < 0.2:
            yield choices.choice(["?", "hint", "undo", "more", "back", "table", "x", "77", ""])
        elif choices.random() < 0.5:
            yield str(choices.randint(1, 4))
        else:
            yield typed(choices.choice(game.legal_moves()))


PROMPT = re.compile(r"(You play|takes|next game|a new game|deals the cards): \Z")


def krypenv_in_a_terminal(arguments, lines, columns=80, rows=0, **environment):
    """Run `krypenv` in a pseudo-terminal, type a line at each prompt, and return its exit code and what it showed.

    Where Enter deals the cards, Enter is typed. What is typed may also be bytes, without an Enter; a signal, which is
    sent; or a function of the process and the file of the terminal. After the last one the input is closed (Ctrl-D).
    With `rows` the window has a size, otherwise only a width is told.
    """
    own, other = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **environment}
    if rows:
        fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        env |= {"COLUMNS": "", "LINES": ""}
    env = {key: value for key, value in env.items() if value}
    process = subprocess.Popen(
        [sys.executable, "-m", "krypenv", *arguments], stdin=other, stdout=other, stderr=other, env=env,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(other)
    shown, left, sent, end = b"", list(lines), None, time.monotonic() + 120
    try:
        while time.monotonic() < end:
            if not select.select([own], [], [], 1)[0]:
                if sent and process.poll() is None and b"; to go on: krypenv play" not in shown:
                    process.send_signal(sent)  # it came just before the process began to read
                continue
            try:
                shown += os.read(own, 65536)
            except OSError:  # the other side was closed
                break
            if PROMPT.search(ANSI.sub("", shown[-4000:].decode(errors="ignore"))):
                if "deals the cards" in shown[-40:].decode(errors="ignore"):
                    os.write(own, b"\n")
                    shown += b"\n"
                    continue
                line = left.pop(0) if left else b"\x04"
                if callable(line):
                    line(process, own)
                elif isinstance(line, signal.Signals):
                    sent = line
                    process.send_signal(sent)
                else:
                    os.write(own, line if isinstance(line, bytes) else f"{line}\n".encode())
                shown += b"\n"
        code = process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()
        os.close(own)
    return code, shown.decode(errors="replace")
