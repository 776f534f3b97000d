"""Words that people read are spelled the British way, with -ize: pages, docstrings, comments, messages, help texts."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.pages import PAGES, name_of
from support.places import ROOT

STEMS = r"optim|maxim|minim|normal|initial|general|random|serial|real|summar|organ|special|discret|regular|synchron"
WRONG = re.compile(
    r"\b(?:colors?|colored|behaviors?|behavioral|favou?rable|favors?|favorites?|neighbors?|neighboring|honors?|labor|"
    r"center(?:s|ed|ing)?|gray|catalogs?|dialogs?|cancel(?:ed|ing)|label(?:ed|ing)|model(?:ed|ing)|travel(?:ed|ing)|"
    r"judgment|defense|offense|fulfills?|skillful|toward|afterward|analyz(?:ed|ing|er)|"
    rf"recogni[s]e[ds]?|(?:{STEMS})i(?:se[ds]?|sing|sation|ser))\b",
    re.IGNORECASE,
)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)]*\)|<[^>\n]*>", re.MULTILINE | re.DOTALL)
ROOMS = ("krypenv", "agents", "training")


def words_of_code(text: str) -> Iterator[str]:
    """The comments and texts of a module: docstrings, messages and help; what has three words or fewer may be code."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and type(node.value) is str and len(node.value.split()) > 3:
            yield CODE.sub("", node.value)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages(page: Path) -> None:
    assert not WRONG.findall(CODE.sub("", page.read_text(encoding="utf-8")))


def test_code() -> None:
    paths = {path.resolve() for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    found = {path.name: WRONG.findall("\n".join(words_of_code(path.read_text(encoding="utf-8")))) for path in paths}
    assert len(found) > 100
    assert not {name: words for name, words in found.items() if words}


def test_wrong_words_are_found() -> None:
    code = '"""The color of a card."""\n# minimise it\nraise ValueError("it is a neighbor")\ncenter = "gray"\n'
    assert WRONG.findall(" ".join(words_of_code(code))) == ["minimise", "color", "neighbor"]
    assert not WRONG.findall("otherwise the exercise centred on colour raises the precision; promise, size, seized")
