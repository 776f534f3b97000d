"""Words that people read are spelled the British way, with -ize: pages, docstrings, comments, messages, help texts."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import SETTINGS
from support.pages import PAGES, name_of
from support.places import ROOT

from krypenv.training.runs.options import options_of

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


def modules() -> list[Path]:
    """The files of code whose words are read."""
    found = {path.resolve() for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    return sorted(found)


def words_of_code(text: str) -> Iterator[str]:
    """The comments and docstrings of a module, and the texts of its errors."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield CODE.sub("", ast.get_docstring(node) or "")
        elif isinstance(node, ast.Raise):
            yield from (
                each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and type(each.value) is str
            )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages(page: Path) -> None:
    assert not WRONG.findall(CODE.sub("", page.read_text(encoding="utf-8")))


def test_help_texts() -> None:
    texts = [option.text for settings in SETTINGS.values() for option in options_of(settings).values()]
    assert len(texts) > 100
    assert not WRONG.findall(CODE.sub("", "\n".join(texts)))


def test_code() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in modules()}
    assert len(texts) > 100
    found = {path.name: WRONG.findall("\n".join(words_of_code(text))) for path, text in texts.items()}
    assert not {name: words for name, words in found.items() if words}


def test_wrong_words_are_found() -> None:
    code = '"""The color."""\n# minimise it\nraise ValueError("a neighbor")\ncenter = "gray"\n'
    assert WRONG.findall(" ".join(words_of_code(code))) == ["minimise", "color", "neighbor"]
    assert not WRONG.findall("otherwise the exercise centred on colour raises the precision; promise, size, seized")
