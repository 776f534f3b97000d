"""What a file says is shown on a page as it is, and makes neither markup nor HTML of it."""

from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from support.small_files import RULES, model, scores, tiny_protocol

from krypenv import Rules
from krypenv.inputs.words import LONGEST_NAME
from krypenv.training import duplicate_match
from krypenv.training.evaluation.score.board import make_board
from krypenv.training.evaluation.score.score_file import encode
from krypenv.training.learn.report import model_card
from krypenv.training.runs.tables import as_code

EVIL = (
    "`<img src=x onerror=alert(1)>`", "``<script>alert(1)</script>``", "a|b", r"a\|b|c", "a\\", "<!-- ", "&lt;b&gt;",
    "[x](javascript:alert(1))", "![x](http://evil.example/x.png)", "http://evil.example", "*a* _b_ ~~c~~", "# a",
    "```", "</code><b>", "$x$", "a  b", "'`' \" ` ``", "<https://evil.example>", "|", "`", "\\`", "&#96;", "---",
)  # fmt: skip


class Page(HTMLParser):
    """The elements of a page, and the text of every cell and paragraph."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.cells: list[str] = []
        self.text = ""
        self.feed(MarkdownIt("gfm-like", {"linkify": False, "html": True}).disable("linkify").render(text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.text += "\n" * (tag in ("td", "th", "p", "li"))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def lines(self) -> list[str]:
        """The texts of cells and paragraphs."""
        return [line.strip() for line in self.text.splitlines() if line.strip()]


def as_shown(text: str) -> str:
    """A text on one line, as a page shows it."""
    return " ".join(text.split())


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize("place", ["{}", "before {} after", "| a | b |\n|---|---|\n| {} | c |", "- {}"])
def test_a_text_from_a_file_is_shown_as_it_is(text: str, place: str) -> None:
    bare = Page(place.format("x"))
    page = Page(place.format(as_code(text)))
    assert [element for element in page.elements if element != "code"] == bare.elements
    assert page.lines == [line.replace("x", as_shown(text)) for line in bare.lines]


def test_a_long_text_is_cut_in_the_middle() -> None:
    assert LONGEST_NAME - 2 <= len(as_code("y" * 10_000_000)) <= LONGEST_NAME + 2
    assert as_code("a" * 500 + "b" * 500).endswith("b`")


def test_names_that_are_no_markup_stay_readable() -> None:
    for name in ("tactician(shed=True)", "runs/mine_2/model", "champion(worlds=0)", "mypkg.players:Careful(way='a')"):
        assert as_code(name) == f"`{name}`"


@pytest.mark.parametrize("name", [*EVIL, "z" * 100_000])
def test_a_board_shows_the_name_in_a_file(tmp_path: Path, name: str) -> None:
    fields = json.loads(scores()[0])
    fields["agent"]["name"] = name
    del fields["checksum"]
    (tmp_path / "evil.json").write_bytes(encode(fields))
    (tmp_path / "good.json").write_bytes(scores()[2])
    with tiny_protocol():
        page = Page(make_board(tmp_path).read_text(encoding="utf-8"))
    assert set(page.elements) == {"h1", "h2", "p", "code", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.elements.count("td") == 3 * 11  # two tables with one agent and two
    shown = as_shown(name) if len(name) <= LONGEST_NAME else f"{name[:98]} … {name[-98:]}"
    assert page.lines.count(shown) == 2


@pytest.mark.parametrize("text", [*EVIL, "z" * 100_000])
def test_a_model_card_shows_what_is_in_files(text: str) -> None:
    facts = {**model()[1], "also": [], "seed": 0, "frames": 1, "seconds": 1.0, "version": "0"}
    match = duplicate_match("greedy", "random", Rules.parse(RULES), deals=2)
    plain = Page(model_card({**facts, "command": "x", "commit": "x"}, [match]))
    page = Page(model_card({**facts, "command": text, "commit": text}, [dataclasses.replace(match, opponent=text)]))
    assert [each for each in page.elements if each != "code"] == [each for each in plain.elements if each != "code"]
    assert len(page.text) < len(plain.text) + 5_000
