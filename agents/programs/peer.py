"""A process that answers each line with a line, in time, or is ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import time
import weakref
from typing import Any, NoReturn

from krypenv.inputs.files import parse_json
from krypenv.inputs.words import printable, shown

LONGEST_LINE = 1_000_000  # bytes of an answer
KEPT = 4000  # bytes of the end of the standard error
QUOTED = 300  # characters of it in a message
GRACE = 1.0  # seconds in which a program may end by itself
_PIECE = 1 << 16  # bytes that are read at a time
_MOST_DRAINED = 32  # pieces of the standard error that are read at the end: a pipe holds fewer


class ProgramFailed(ValueError):
    """A program can't be started, or breaks the protocol; the message names it and what it did."""


def split_command(command: str) -> list[str]:
    """Split a command into words as a shell does; no shell reads them. Raises ValueError if there is no word."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the command {shown(command)} can't be split into words: {str(error).lower()}") from None
    if not words:
        raise ValueError("process needs a command, as in process(command='python my_bot.py')")
    return words


class Peer:
    """A running program, which is ended for good by its first failure.

    The program has a session of its own, so that Ctrl-C does not reach it. It is ended with this object, after a
    farewell, together with its process group; a process that has left the group, as by `setsid`, goes on. If this
    process is killed, the program sees the end of its standard input.

    Raises ProgramFailed if the program can't be started, and ValueError for an empty command.
    """

    def __init__(self, command: str, farewell: dict[str, Any]) -> None:
        self.command, self._owner = command, os.getpid()
        self._fault, self._has_answered = "", False
        self._output, self._errors = bytearray(), bytearray()
        words = split_command(command)
        try:
            process = subprocess.Popen(
                words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            reason = error.strerror or str(error)
            raise ProgramFailed(f"the program {shown(command)} can't be started: {shown(words[0])}: {reason}") from None
        pipes = process.stdin, process.stdout, process.stderr
        self._process = process
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in pipes if pipe)
        for number in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(number, False)
        self._open = [self._stdout, self._stderr]
        self.end = weakref.finalize(self, _end, process, _line(farewell), self._owner)

    def ask(self, message: dict[str, Any], seconds: float) -> Any:
        """Send a message, and parse the line that answers it.

        Raises ProgramFailed, and ends the program, if there is no such line in time; every later call fails too.
        """
        if os.getpid() != self._owner:
            raise ProgramFailed(self.sentence("was started by another process; make the agent anew in this one"))
        if not self.end.alive:
            raise ProgramFailed(self._fault or self.sentence("was ended"))
        if self._output:
            self.fail(f"wrote more than one line for an answer: {_start(self._output)}")
        try:
            line = self._exchange(_line(message), seconds)
        except KeyboardInterrupt:
            self._fault = self.sentence("was interrupted, and ended")
            self.end()
            raise
        try:
            return parse_json(line)
        except ValueError:
            self.fail(f"answered with a line that is no JSON: {_start(line)}")

    def _exchange(self, unsent: bytes, seconds: float) -> bytes:
        """Send a line, and read the next one."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._output:
            left = deadline - time.monotonic()
            if left <= 0:
                hint = "" if self._has_answered else "; are its lines flushed?"
                begun = f", but began a line: {_start(self._output)}" if self._output else hint
                self.fail(f"did not answer within {seconds:g} seconds{begun}")
            readable, writable, _ = select.select(self._open, [self._stdin] if unsent else [], [], left)
            if writable:
                unsent = self._write(unsent)
            if self._stderr in readable and not self._read_errors():
                self._open.remove(self._stderr)
            if self._stdout in readable:
                self._read_output()
        line, _, self._output = self._output.partition(b"\n")
        self._has_answered = True
        return bytes(line)

    def _write(self, unsent: bytes) -> bytes:
        """Write as much as the pipe takes, and return the rest; none for a program that reads no more."""
        try:
            return unsent[os.write(self._stdin, unsent) :]
        except OSError:
            return b""  # its end shows in what it writes

    def _read_output(self) -> None:
        """Read a piece of the standard output; fail if it has ended, or the line is too long."""
        piece = os.read(self._stdout, _PIECE)
        self._output += piece
        if len(self._output) > LONGEST_LINE and b"\n" not in self._output[:LONGEST_LINE]:
            self.fail(f"wrote a line of more than {LONGEST_LINE:,} bytes: {_start(self._output)}")
        if not piece:
            begun = f" in the middle of a line: {_start(self._output)}" if self._output else ""
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(GRACE)
                self.fail(
                    f"was ended by {_signal(-code)}{begun}" if code < 0 else f"ended with exit code {code}{begun}"
                )
            self.fail(f"closed its standard output{begun}")

    def _read_errors(self) -> bool:
        """Read a piece of the standard error, of which the end is kept; return whether there was any."""
        try:
            piece = os.read(self._stderr, _PIECE)
        except BlockingIOError:
            return False
        self._errors = (self._errors + piece)[-KEPT:]
        return bool(piece)

    def fail(self, fault: str) -> NoReturn:
        """End the program, and raise ProgramFailed with what it did."""
        for _ in range(_MOST_DRAINED):
            if not self._read_errors():
                break
        self._fault = self.sentence(fault)
        _kill(self._process)
        self.end()
        raise ProgramFailed(self._fault)

    def sentence(self, deed: str) -> str:
        """Make a sentence of what the program did, with the end of its standard error."""
        errors = " ".join(bytes(self._errors).decode(errors="replace").split())
        quoted = printable(errors if len(errors) <= QUOTED else f"…{errors[-QUOTED:]}")
        return f"the program {shown(self.command)} {deed}" + (f"; its standard error ends: {quoted}" if quoted else "")


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _start(line: bytes | bytearray) -> str:
    """Quote the start of a line."""
    return shown(bytes(line[:200]).decode(errors="replace"))


def _signal(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _end(process: subprocess.Popen[bytes], farewell: bytes, owner: int) -> None:
    """Say farewell, close the pipes, and end the program with its process group, unless it ends by itself.

    In a forked process this does nothing: the program belongs to its parent.
    """
    if os.getpid() != owner:
        return
    stdin, *others = (pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe)
    with contextlib.suppress(OSError):
        stdin.write(farewell)
    stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    _kill(process)
    for pipe in others:
        pipe.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and all processes of its group."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
