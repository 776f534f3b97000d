"""A process that answers each line with a line, in time, or is ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable
from typing import IO, Any, NoReturn

from krypenv.inputs.files import parse_json
from krypenv.inputs.words import printable, shown

LONGEST_LINE = 1_000_000  # bytes of an answer
MOST_ERRORS = 10_000_000  # bytes of the standard error that are kept between two questions
QUOTED = 300  # bytes of its end that a message quotes
GRACE = 1.0  # seconds in which a program may end by itself
_PIECE = 1 << 16  # bytes that are read at a time


class ProgramFailed(ValueError):
    """A program can't be started, or breaks the protocol; the message names it and what it did."""


class Peer:
    """A running program, which is ended for good by its first failure.

    The program has a session of its own, so that Ctrl-C does not reach it. It is ended with this object, after a
    farewell, together with its process group; a process that has left the group, as by `setsid`, goes on. If this
    process is killed, the program sees the end of its standard input.

    Attributes:
        words: the words of the command.

    Raises ProgramFailed if the program can't be started, and ValueError for an empty command.
    """

    def __init__(self, command: str, farewell: dict[str, Any]) -> None:
        self.command, self._owner = command, os.getpid()
        self._fault = ""
        self._output, self._errors = bytearray(), tempfile.TemporaryFile("a+b")  # noqa: SIM115  # it ends with this
        self.words = _split(command)
        try:
            process = subprocess.Popen(
                self.words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._errors.close()
            reason = error.strerror or str(error)
            raise ProgramFailed(
                f"the program {shown(command)} can't be started: {shown(self.words[0])}: {reason}"
            ) from None
        self._process = process
        self._stdin, self._stdout = (pipe.fileno() for pipe in (process.stdin, process.stdout) if pipe)
        os.set_blocking(self._stdin, False)
        self.end = weakref.finalize(self, _end, process, self._errors, _line(farewell), self._owner)

    def ask(self, message: dict[str, Any], seconds: float, check: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Send a message, and parse and check the line that answers it.

        Raises ProgramFailed, and ends the program, if there is no such line in time or `check` raises ValueError. Every
        later call fails too.
        """
        if os.getpid() != self._owner:
            raise ProgramFailed(self.sentence("was started by another process; make the agent anew in this one"))
        if not self.end.alive:
            raise ProgramFailed(self._fault or self.sentence("was ended"))
        if self._errors.seek(0, os.SEEK_END) > MOST_ERRORS:
            self._errors.truncate(0)
        if self._output:
            self.fail("wrote more than one line for an answer")
        try:
            line = self._exchange(_line(message), seconds)
        except KeyboardInterrupt:
            self._fault = self.sentence("was interrupted, and ended")
            self.end()
            raise
        try:
            return check(parse_json(line))
        except ValueError as error:
            self.fail(f"gave a wrong answer to {message['type']}, {_start(line)}: {error}")

    def _exchange(self, unsent: bytes, seconds: float) -> bytes:
        """Send a line, and read the next one."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._output:
            left = deadline - time.monotonic()
            if left <= 0:
                self.fail(f"did not answer within {seconds:g} seconds (are its lines flushed?)")
            readable, writable, _ = select.select([self._stdout], [self._stdin] if unsent else [], [], left)
            if writable:
                try:
                    unsent = unsent[os.write(self._stdin, unsent) :]
                except OSError:  # it reads no more; its end shows in what it writes
                    unsent = b""
            if readable:
                self._read_output()
        line, _, self._output = self._output.partition(b"\n")
        return bytes(line)

    def _read_output(self) -> None:
        """Read a piece of the standard output; fail if it has ended, or the line is too long."""
        piece = os.read(self._stdout, _PIECE)
        self._output += piece
        if len(self._output) > LONGEST_LINE and b"\n" not in self._output[:LONGEST_LINE]:
            self.fail(f"wrote a line of more than {LONGEST_LINE:,} bytes")
        if not piece:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(GRACE)
                reason = f"exit code {code}" if code >= 0 else f"the signal {signal.strsignal(-code) or -code}"
                self.fail(f"ended with {reason}")
            self.fail("closed its standard output")

    def fail(self, fault: str) -> NoReturn:
        """End the program, and raise ProgramFailed with what it did."""
        begun = f" after it wrote {_start(self._output)}" if self._output else ""
        self._fault = self.sentence(fault + begun)
        _kill(self._process)
        self.end()
        raise ProgramFailed(self._fault)

    def sentence(self, deed: str) -> str:
        """Make a sentence of what the program did, with the end of its standard error."""
        quoted = ""
        if not self._errors.closed:
            self._errors.seek(max(self._errors.seek(0, os.SEEK_END) - QUOTED, 0))
            quoted = printable(" ".join(self._errors.read().decode(errors="replace").split()))
        return f"the program {shown(self.command)} {deed}" + (f"; its standard error ends: {quoted}" if quoted else "")


def _split(command: str) -> list[str]:
    """Split a command into words as a shell does; no shell reads them. Raises ValueError if there is no word."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the command {shown(command)} can't be split into words: {str(error).lower()}") from None
    if not words:
        raise ValueError("process needs a command, as in process(command='python my_bot.py')")
    return words


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _start(line: bytes | bytearray) -> str:
    """Quote the start of a line."""
    return shown(bytes(line[:200]).decode(errors="replace"))


def _end(process: subprocess.Popen[bytes], errors: IO[bytes], farewell: bytes, owner: int) -> None:
    """Say farewell, close pipes and errors, and end the program with its process group, unless it ends by itself.

    In a forked process this does nothing: the program belongs to its parent.
    """
    if os.getpid() != owner:
        return
    stdin, stdout = (pipe for pipe in (process.stdin, process.stdout) if pipe)
    with contextlib.suppress(OSError):
        stdin.write(farewell)
    stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    _kill(process)
    stdout.close()
    errors.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and all processes of its group."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
