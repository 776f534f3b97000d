"""The blocks of code of a page, and running them.

A block after the line `<!-- not run -->` is left alone. One after `<!-- run by make toolboxes -->` needs libraries that
only that environment has. What would take minutes is run as it stands but for one number: a line `steps = 600_000` is
run as `steps = 4096`.
"""

import contextlib
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^(?:<!-- (not run|run by make toolboxes) -->\n+)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"\s*^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STEPS = re.compile(r"^steps = [\d_]+$", re.MULTILINE)


class Block(NamedTuple):
    """A block of code that is to be checked."""

    language: str
    line: int  # of its first line of code in the page, from 1
    code: str
    output: str | None  # the block of text right after it


def blocks(page: Path, toolboxes: bool = False) -> list[Block]:
    """The blocks of code of a page, in order, without those left alone; with those of toolboxes if they are there."""
    text = page.read_text(encoding="utf-8")
    left = ("not run",) if toolboxes else ("not run", "run by make toolboxes")
    return [
        Block(match[2], text.count("\n", 0, match.start(3)) + 1, match[3], after and after[1])
        for match in BLOCK.finditer(text)
        if match[1] not in left
        for after in [OUTPUT.match(text, match.end())]
    ]


def run_python(page: Path, code: Iterable[Block]) -> None:
    """Run the blocks of Python of a page in order, in one namespace; what they print is what the page says."""
    namespace = {"__name__": "__main__"}
    for block in code:
        if block.language == "python":
            short = STEPS.sub("steps = 4096", block.code)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile("\n" * (block.line - 1) + short, page, "exec"), namespace)
            assert block.output in (None, printed.getvalue())
