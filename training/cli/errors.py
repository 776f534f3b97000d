"""What goes wrong in a command is told in one sentence on the standard error, with an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from krypenv.inputs.words import one_line
from krypenv.runtime import stopping

LONGEST_MESSAGE = 1000  # characters
OF_TRAINING = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard")  # what [train] installs
INSTALL = 'pip install "krypenv[train]"'
WRITE_ERRORS = {errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF}


class OneSentence(TyperGroup):
    """Commands whose errors are told in one sentence, with exit code 2; an interruption with 130, a torn pipe with 1.

    Whoever closes the pipe that the output goes to, as `head` does, has seen enough: that is not told.
    """

    def invoke(self, ctx: Any) -> Any:
        """Invoke a command; what it raises becomes a sentence and an exit code."""
        code = 2
        try:
            with stopping.as_exception():
                result = super().invoke(ctx)
                if sys.stdout:
                    sys.stdout.flush()
                return result
        except KeyboardInterrupt:
            message, code = stopping.LINE, stopping.EXIT_CODE
        except BrokenPipeError:
            message, code = "", 1
            _drop_output()
        except MemoryError:
            message = "krypenv: there is not enough memory for this"
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
            if missing not in OF_TRAINING:
                raise
            message = f"krypenv: {ctx.invoked_subcommand} needs {missing}, which is not installed: {INSTALL}"
        except ValueError as error:
            message = f"krypenv: {error}"
        except OSError as error:
            message = f"krypenv: {_reason(error)}"
        if message:
            typer.echo(one_line(message, LONGEST_MESSAGE), err=True)
        raise typer.Exit(code)


def _reason(error: OSError) -> str:
    """Return what went wrong with which file; files are written under their names, so without one it is the output."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename if error.filename2 is None else error.filename2}: {reason}"
    if error.errno in WRITE_ERRORS:
        _drop_output()
        return f"the standard output: {reason}"
    return reason


def _drop_output() -> None:
    """Let nobody write to the standard output any more, not even what is still kept for it when the process ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
