"""A program that was started: it is asked by a line and answers by a line, in time, or it is ended."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
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
TOLD = 300  # characters of it in a message
GRACE = 1.0  # seconds in which a program may end by itself
_PIECE = 1 << 16  # bytes that are read at a time
_MOST_DRAINED = 32  # pieces of the standard error that are read at the end: a pipe holds fewer


class ProgramFailed(ValueError):
    """A program can't be started, or does not answer as the protocol wants; the message names it and what it did."""


def split_command(command: str) -> list[str]:
    """Return the words of a command, as a shell splits them; no shell reads them. Raises ValueError without a word."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the command {shown(command)} can't be split into words: {str(error).lower()}") from None
    if not words:
        raise ValueError("process needs a command, as in process(command='python my_bot.py')")
    return words


class Peer:
    """A program, from its start to its end. What it fails at once, it fails for good: it is ended.

    The program has a session of its own, so that Ctrl-C does not reach it, and is ended with this object, with all
    processes of its group, after a farewell; what has left the group, as by `setsid`, goes on. If this process is
    killed, the program sees the end of its standard input.

    Raises ProgramFailed if it can't be started, and ValueError for a command that names none.
    """

    def __init__(self, command: str, farewell: dict[str, Any]) -> None:
        self.command, self._owner = command, os.getpid()
        self._fault, self._has_answered = "", False
        self._read, self._errors = bytearray(), bytearray()
        words = split_command(command)
        try:
            self._process = subprocess.Popen(
                words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            reason = error.strerror or str(error)
            raise ProgramFailed(f"the program {shown(command)} can't be started: {shown(words[0])}: {reason}") from None
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        assert all(pipes)
        self._in, self._out, self._err = (pipe.fileno() for pipe in pipes if pipe)
        for number in (self._in, self._out, self._err):
            os.set_blocking(number, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)
        self.end = weakref.finalize(self, _end, self._process, self._selector, _line(farewell), self._owner)

    def ask(self, message: dict[str, Any], seconds: float) -> Any:
        """Write a message and return the plain values of the line that answers it.

        Raises ProgramFailed, and ends the program, if there is no such line in time; and at once ever after.
        """
        if os.getpid() != self._owner:
            raise ProgramFailed(self.sentence("was started by another process; make the agent anew in this one"))
        if not self.end.alive:
            raise ProgramFailed(self._fault or self.sentence("was ended"))
        if self._read:
            self.fail(f"wrote more than one line for an answer: {_begin(self._read)}")
        try:
            line = self._exchange(_line(message), seconds)
        except KeyboardInterrupt:
            self._fault = self.sentence("was interrupted, and ended")
            self.end()
            raise
        try:
            return parse_json(line)
        except ValueError:
            self.fail(f"answered with a line that is no JSON: {_begin(line)}")

    def _exchange(self, left: bytes, seconds: float) -> bytes:
        """Write what is left to write, and return the next line."""
        deadline = time.monotonic() + seconds
        left = self._write(left)
        if left:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        try:
            while b"\n" not in self._read:
                for key, _ in self._selector.select(max(0.0, deadline - time.monotonic())):
                    if key.fd == self._in:
                        left = self._write(left)
                        if not left:
                            self._selector.unregister(self._in)
                    elif key.fd == self._err:
                        self._hear()
                    elif not self._take():
                        self._fail_at_end()
                if b"\n" not in self._read and time.monotonic() >= deadline:
                    hint = "" if self._has_answered else "; are its lines flushed?"
                    begun = f", but began a line: {_begin(self._read)}" if self._read else hint
                    self.fail(f"did not answer within {seconds:g} seconds{begun}")
        finally:
            if left and self.end.alive:
                self._selector.unregister(self._in)
        line, _, self._read = self._read.partition(b"\n")
        self._has_answered = True
        return bytes(line)

    def _write(self, left: bytes) -> bytes:
        """Write as much as the pipe takes and return the rest; nothing is left for who reads no more."""
        try:
            return left[os.write(self._in, left) :]
        except BlockingIOError:
            return left
        except OSError:
            return b""  # its end shows in what it writes

    def _take(self) -> bool:
        """Read a piece of the standard output; return whether it has not ended."""
        piece = os.read(self._out, _PIECE)
        self._read += piece
        if len(self._read) > LONGEST_LINE and b"\n" not in self._read[:LONGEST_LINE]:
            self.fail(f"wrote a line of more than {LONGEST_LINE:,} bytes: {_begin(self._read)}")
        return bool(piece)

    def _hear(self) -> bool:
        """Read a piece of the standard error, of which the end is kept; return whether it has not ended."""
        piece = os.read(self._err, _PIECE)
        self._errors = (self._errors + piece)[-KEPT:]
        if not piece:
            self._selector.unregister(self._err)
        return bool(piece)

    def _fail_at_end(self) -> NoReturn:
        begun = f" in the middle of a line: {_begin(self._read)}" if self._read else ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(GRACE)
            self.fail(f"was ended by {_signal(-code)}{begun}" if code < 0 else f"ended with exit code {code}{begun}")
        self.fail(f"closed its standard output{begun}")

    def fail(self, what: str) -> NoReturn:
        """End the program and raise ProgramFailed: it did something that no answer can be expected after."""
        self._drain()
        self._fault = self.sentence(what)
        _kill(self._process)
        self.end()
        raise ProgramFailed(self._fault)

    def sentence(self, what: str) -> str:
        """Return a sentence about what the program did, with the end of its standard error."""
        errors = " ".join(bytes(self._errors).decode(errors="replace").split())
        said = printable(errors if len(errors) <= TOLD else f"…{errors[-TOLD:]}")
        return f"the program {shown(self.command)} {what}" + (f"; its standard error ends: {said}" if said else "")

    def _drain(self) -> None:
        """Read what the standard error holds by now, and no more of it where the program writes on."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(_MOST_DRAINED):
                if self._err not in self._selector.get_map() or not self._hear():
                    break


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _begin(line: bytes | bytearray) -> str:
    """Return the begin of a line, as messages quote it."""
    return shown(bytes(line[:200]).decode(errors="replace"))


def _signal(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _end(process: subprocess.Popen[bytes], selector: selectors.BaseSelector, farewell: bytes, owner: int) -> None:
    """Say farewell, close the pipes, and end the program with its process group, unless it ends by itself.

    In a forked process this does nothing: the program is not its own.
    """
    if os.getpid() != owner:
        return
    selector.close()
    pipes = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe]
    with contextlib.suppress(OSError):
        os.write(pipes[0].fileno(), farewell)
    pipes[0].close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    _kill(process)
    for pipe in pipes:
        pipe.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all processes of its group."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
