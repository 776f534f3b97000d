"""What the API adds to docstrings: a sentence for each field, links to rulings and pages, lists of a module's parts."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

from krypenv import Rules
from krypenv.families import fields
from krypenv.training.settings.base import Settings, options_of

RULINGS = re.compile(r"\(([A-Z]\d+(?:(?:, | to | and )[A-Z]\d+)*)\)")
PAGE = re.compile(r"\bdocs/(\w+)\.md")
PART = re.compile(r"^( *)(\w+) {2,}(?=\S)")


def complete(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Complete the docstring of an object."""
    if what == "module":
        lines[:] = [PART.sub(r"\1| \2: ", line) for line in lines]
    if what == "class":
        lines += ["", *_told(thing)]
    lines[:] = [
        line if ">>>" in line else PAGE.sub(r"`\1 <../\1.html>`__", RULINGS.sub(_linked, line)) for line in lines
    ]


def shorten(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Leave out the fields of a signature that are listed below it."""
    return ("(**fields)", None) if what == "class" and any(_told(thing)) else (signature, returns)


def _linked(found: re.Match[str]) -> str:
    return re.sub(r"[A-Z]\d+", lambda each: f"`{each[0]} <../rulings.html#{each[0].lower()}>`__", found[0])


def _told(thing: Any) -> Iterator[str]:
    """List the fields of rules or settings, each with its type, its default and its sentence."""
    if thing is Rules:
        for name, kind, default, sentence in _commented(inspect.getsource(fields.Fields)):
            yield from (f"* ``{name}: {kind} = {default}``: {sentence}", "")
    elif inspect.isclass(thing) and issubclass(thing, Settings):
        for name, field in options_of(thing).items():
            default = "" if field.is_required() else f" = {field.default!r}"
            yield from (f"* ``{name}{default}``: {field.description}", "")


def _commented(source: str) -> Iterator[tuple[str, str, str, str]]:
    """Read the fields of a class with the comments behind them."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    made = [node for node in ast.parse(source).body[0].body if isinstance(node, ast.AnnAssign)]  # type: ignore[attr-defined]
    for node, after in zip(made, [*made[1:], None], strict=True):
        end = after.lineno if after else (node.end_lineno or node.lineno) + 2
        words = " ".join(comments[line] for line in range(node.lineno, end) if line in comments)
        words = words.partition(" ---")[0]
        yield ast.unparse(node.target), ast.unparse(node.annotation), ast.unparse(node.value or node), words
