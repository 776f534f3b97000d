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
from krypenv.training.evaluation.score.protocol import encode
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
        self.text = ""
        self.feed(MarkdownIt("gfm-like", {"linkify": False, "html": True}).disable("linkify").render(text))
        self.lines = [line.strip() for line in self.text.splitlines() if line.strip()]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements += [tag] * (tag != "code")
        self.text += "\n" * (tag in ("td", "th", "p", "li"))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize("place", ["before {} after", "| a | b |\n|---|---|\n| {} | c |", "- {}"])
def test_a_text_from_a_file_is_shown_as_it_is(text: str, place: str) -> None:
    bare, page = Page(place.format("x")), Page(place.format(as_code(text)))
    assert page.elements == bare.elements
    assert page.lines == [line.replace("x", " ".join(text.split())) for line in bare.lines]


def test_a_long_text_is_cut_in_the_middle_and_names_stay_readable() -> None:
    assert LONGEST_NAME - 2 <= len(as_code("y" * 10_000_000)) <= LONGEST_NAME + 2
    assert as_code("a" * 500 + "b" * 500).endswith("b`")
    for name in ("tactician(shed=True)", "runs/mine_2/model", "mypkg.players:Careful(way='a')"):
        assert as_code(name) == f"`{name}`"


@pytest.mark.parametrize("name", [EVIL[0], EVIL[3], "z" * 100_000])
def test_a_board_and_a_model_card_show_what_files_say(tmp_path: Path, name: str) -> None:
    fields = json.loads(scores()[0])
    fields["agent"]["name"] = name
    del fields["checksum"]
    (tmp_path / "evil.json").write_bytes(encode(fields))
    with tiny_protocol():
        board = make_board(tmp_path).read_text(encoding="utf-8")
    match = dataclasses.replace(duplicate_match("greedy", "random", Rules.parse(RULES), deals=2), opponent=name)
    facts = {**model()[1], "also": [], "seed": 0, "frames": 1, "seconds": 1.0, "version": "0"}
    card = model_card({**facts, "command": name, "commit": name}, [match])
    for page, count in ((board, 2), (card, 2)):  # one for each table; the commit and the opponent
        assert page.count(as_code(name)) >= count
        assert name not in page
