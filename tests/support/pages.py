"""The code of a page, which Sybil finds and runs.

The blocks of a page are run in order, those of Python in one namespace. A block after the line `<!-- not run -->` is
left alone; one after `<!-- run by make toolboxes -->` or `language` needs libraries that only that environment has.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from sybil import Document, Example, Region, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import SkipParser
from sybil.parsers.markdown.lexers import DirectiveInHTMLCommentLexer, FencedCodeBlockLexer
from sybil.region import Lexeme

from support.commands import krypenv
from support.places import DOCS, ROOT

MADE_BY_THE_SITE = (DOCS / "notebooks", *(DOCS / f"{name}.md" for name in ("commands", "sheet", "regler")))
PAGES = [
    page
    for page in sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
    if not any(page.is_relative_to(made) for made in MADE_BY_THE_SITE)
]
STEPS = re.compile(r"^steps = [\d_]+$", re.MULTILINE)  # of a training that takes minutes
DEALS = re.compile(r"\bdeals=[\d_]+")  # of a match whose figures nothing is compared with
RUN = ("evaluate", "arena", "analyze", "bench", "score", "show")  # of other commands the options are checked
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
PRINTED = "printed"  # in the namespace of a page: where the last block of Python ended, and what it printed


def name_of(page: Path) -> str:
    """The path of a page from the root."""
    return page.relative_to(ROOT).as_posix()


def run_page(page: Path, target: str = "") -> None:
    """Run the code of a page in the working directory, also that which a target of make is for."""
    left_alone = "|".join(["not run", *(f"run by make {name}" for name in ("toolboxes", "language") if name != target)])
    document = Sybil([blocks, functools.partial(skips, left_alone)]).parse(page)
    document.namespace["__name__"] = "__main__"
    for example in document:
        example.evaluate()


def blocks(document: Document) -> Iterator[Region]:
    """Find the blocks of code of a page."""
    for region in FencedCodeBlockLexer(r"\w+")(document):
        region.parsed = region.lexemes["source"]
        region.evaluator = EVALUATORS.get(region.lexemes["language"], ignore)
        yield region


def skips(words: str, document: Document) -> Iterator[Region]:
    """Find the comments of a page that leave the block after them alone."""
    skipper = SkipParser().skipper
    for found in DirectiveInHTMLCommentLexer(words)(document):
        yield Region(found.start, found.end, ("next", None), skipper)


def run_python(example: Example) -> None:
    """Run a block of Python: `steps = 600_000` as `steps = 4096`, and `deals=1000` as 20 if no output is shown."""
    code: Lexeme = example.parsed
    is_shown = example.document.text[example.end :].lstrip().startswith("```text")
    text = STEPS.sub("steps = 4096", code if is_shown else DEALS.sub("deals=20", code))
    example.parsed = Lexeme(text, code.offset, code.line_offset)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        PythonEvaluator()(example)
    example.namespace[PRINTED] = example.end, printed.getvalue()


def compare_printed(example: Example) -> None:
    """Compare a block of text right after one of Python with what that printed."""
    end, printed = example.namespace.get(PRINTED, (0, ""))
    if end and not example.document.text[end : example.start].strip():
        assert example.parsed == printed


def run_shell(example: Example) -> None:
    """Run commands of `krypenv` that need no trained model, and check the options of the others and targets of make."""
    for line in example.parsed.replace("\\\n", " ").splitlines():
        program, *words = shlex.split(line.removeprefix("$ "), comments=True) or [""]
        if program == "make":
            assert words[0] in TARGETS, line
        elif program.rpartition("/")[2] == "krypenv" and words:
            if words[0] in RUN and "runs/" not in line:
                printed_by(*words)
            else:
                known = re.findall(r"--[a-z][a-z-]*", help_of(words[0]))
                used = {word.partition("=")[0] for word in words if word.startswith("--")}
                assert used <= {*known, "--help"}, line


def ignore(example: Example) -> None:
    """Leave a block of another language alone."""


def printed_by(*words: str) -> str:
    """Run a command in the working directory, which must succeed, and return what it printed."""
    done = krypenv(*words, columns=200)
    assert done.exit_code == 0, f"krypenv {shlex.join(words)}\n{done.output}{done.exception}"
    return done.stdout


@functools.cache
def help_of(command: str) -> str:
    """What `krypenv COMMAND --help` prints."""
    return printed_by(command, "--help")


EVALUATORS: dict[str, Callable[[Example], None]] = {"python": run_python, "text": compare_printed, "bash": run_shell}
