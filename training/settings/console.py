"""Commands for typer whose errors become one sentence and an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from krypenv.inputs.words import one_line, to_install
from krypenv.runtime import stopping

LONGEST_MESSAGE = 1000  # characters
EXTRAS = {
    **dict.fromkeys(("torch", "stable_baselines3", "sb3_contrib", "tensorboard"), "train"),
    **dict.fromkeys(("pygame", "PIL"), "render"),
    **dict.fromkeys(("starlette", "uvicorn", "websockets"), "table"),
    **dict.fromkeys(("fastapi", "openenv"), "openenv"),
    "openai": "llm",
}  # of a module that may be missing
DISTRIBUTIONS = {"pygame": "pygame-ce", "PIL": "pillow", "openenv": "openenv-core"}  # that are called otherwise
WRITE_ERRORS = {errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF}
UsageError: type[Any] = typer.BadParameter.__mro__[1]  # of click, which some versions of typer bundle


class OneSentence(TyperGroup):
    """Commands that report an error as one sentence. Exit codes: 2, 130 for an interruption, 1 for a broken pipe.

    A broken pipe is not reported, since its reader, such as `head`, has closed it.
    """

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; errors of output outside of a command, such as help, are reported too."""
        try:
            try:
                return super().main(*args, **options)
            finally:
                _flush()
        except OSError as error:
            _drop_output()
            is_broken = isinstance(error, BrokenPipeError)
            raise SystemExit(1 if is_broken else _print_error(f"krypenv: {_reason(error)}")) from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words before the command's name."""
        if not args:
            return super().parse_args(ctx, args)  # which prints the help
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            raise typer.Exit(_print_error(_usage(error))) from None

    def invoke(self, ctx: Any) -> Any:
        """Invoke a command; an exception becomes a sentence and an exit code."""
        code = 2
        try:
            with stopping.as_exception():
                result = super().invoke(ctx)
                _flush()
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
            if missing not in EXTRAS:
                raise
            needed = f"{DISTRIBUTIONS.get(missing, missing)}, which is not installed; {to_install(EXTRAS[missing])}"
            message = f"krypenv: {ctx.invoked_subcommand} needs {needed}"
        except UsageError as error:
            message = _usage(error, f"krypenv {ctx.invoked_subcommand}")
        except ValueError as error:
            message = f"krypenv: {error}"
        except OSError as error:
            message = f"krypenv: {_reason(error)}"
        if message:
            _print_error(message)
        raise typer.Exit(code)


def _print_error(message: str) -> int:
    """Write a sentence to the standard error, if that is open; return the exit code of an error."""
    with contextlib.suppress(OSError):
        typer.echo(one_line(message, LONGEST_MESSAGE), err=True)
    return 2


def _flush() -> None:
    if sys.stdout and not sys.stdout.closed:
        sys.stdout.flush()


def _usage(error: Any, command: str = "krypenv") -> str:
    """Describe the error in the command line of a command, with a pointer to its help."""
    text = one_line(error.format_message(), LONGEST_MESSAGE).rstrip(".")
    text = re.sub(r"\.? \(?(?:Did you mean (?:one of: )?|Possible options: )(.+?)\??\)?$", r" (did you mean \1?)", text)
    command = error.ctx.command_path if error.ctx else command
    return f"krypenv: {text[:1].lower()}{text[1:]}; see {command} --help"


def _reason(error: OSError) -> str:
    """Describe an error by its file and reason. A write error without a file name is one of the standard output."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename if error.filename2 is None else error.filename2}: {reason}"
    if error.errno in WRITE_ERRORS:
        _drop_output()
        return f"the standard output: {reason}"
    return reason


def _drop_output() -> None:
    """Discard all further output, including what is still buffered when the process ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
