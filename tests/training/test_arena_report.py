"""The report of an arena: one page that needs nothing else, tells the figures, and shows a stranger's names as text."""

import dataclasses
import itertools
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from krypenv import Rules
from krypenv.training.evaluation.arena import html_report as arena_report
from krypenv.training.evaluation.arena.games import Games
from krypenv.training.evaluation.arena.html_report import write_report
from krypenv.training.evaluation.arena.standings import standings
from krypenv.training.runs.figures import spread

EVIL = "<script>alert('$\\agent$')</script>"  # and no formula of TeX either
FACTS = {"version": "0.1.0", "deals": "test v1 & more"}


def make_games(skills, deals=12, milliseconds=None):
    """Games of each pair of agents, in both seatings of each deal."""
    size = len(skills)
    rng = np.random.default_rng(0)
    rows = [(deal, pair) for deal in range(deals) for pair in np.ndindex(size, size) if pair[0] != pair[1]]
    agents = np.array([pair for _, pair in rows])
    return Games(
        names=tuple(f"agent-{number}" for number in range(size)),
        rules=Rules.preset("krypkasino", players=2),
        deal=np.array([deal for deal, _ in rows]),
        agents=agents,
        scores=np.round(21 - np.asarray(skills)[agents] + rng.normal(0, 3, agents.shape)),
        forfeit=np.full(len(rows), -1),
        milliseconds=np.geomspace(0.001, 10, size) if milliseconds is None else np.asarray(milliseconds),
        forfeits=(),
    )


def write(path, games, command="krypenv arena a b"):
    write_report(path, standings(games), games, command, FACTS)
    return path.read_text(encoding="utf-8")


class Page(HTMLParser):
    """What a page holds: its elements with their attributes, its text, and the rows of its tables."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.compiled, self.words, self.open = [], [], [], []
        self.feed(html)
        self.close()
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "path", "use", "rect"):
            self.open.append(tag)
        if tag == "table":
            self.compiled.append([])
        elif tag == "tr":
            self.compiled[-1].append([])
        elif tag in ("th", "td"):
            self.compiled[-1][-1].append("")

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            return
        self.words.append(data)
        if {"th", "td"} & set(self.open):
            self.compiled[-1][-1][-1] += data


@pytest.fixture(scope="module")
def games():
    return make_games([4.0, -2.0, 9.0, 0.0])


@pytest.fixture(scope="module")
def html(games, tmp_path_factory):
    return write(tmp_path_factory.mktemp("report") / "report.html", games, "krypenv arena 'a(b=\"c\")' <d> --deals 12")


def test_the_page_tells_the_command_the_rules_and_the_facts(html):
    text = Page(html).text
    assert "krypenv arena 'a(b=\"c\")' <d> --deals 12" in text
    assert "krypkasino players=2" in text
    assert "test v1 & more" in text
    assert "12 deals" in text
    assert "No game was forfeited." in text


def test_the_tables_hold_the_figures_best_agent_first(games, html):
    figures, matrix = Page(html).compiled
    result = standings(games)
    assert [row[0] for row in figures[1:]] == [f"{place}{agent.agent}" for place, agent in enumerate(result.agents, 1)]
    assert [row[0][1:] for row in figures[1:]] == ["agent-2", "agent-0", "agent-3", "agent-1"]
    for row, agent in zip(figures[1:], result.agents, strict=True):
        assert row[1].startswith(f"{agent.margin:+.2f} ± ".replace("-", "−"))
        assert row[2] == f"{agent.win_rate:.1%}"
        assert len(row) == len(figures[0])
    assert [len(row) for row in matrix] == [5] * 5
    table = result.payoffs
    assert matrix[1][4].startswith(f"{table.margin[2, 1]:+.2f}±")
    assert matrix[4][1].startswith(f"−{table.margin[2, 1]:.2f}")
    assert [matrix[place][place] for place in range(1, 5)] == ["–"] * 4


def test_the_page_needs_nothing_else(html):
    page = Page(html)
    assert not {"script", "link", "iframe", "img", "object", "embed"} & {tag for tag, _ in page.elements}
    for _, attributes in page.elements:
        for name in ("src", "href", "xlink:href", "action", "data"):
            assert attributes.get(name, "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"@import|url\((?!#)", html)
    addresses = re.findall(r"https?://[^\s\"'<>]+", html)
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names, not addresses


def test_the_same_input_gives_the_same_page(games, html, tmp_path):
    assert write(tmp_path / "again.html", games, "krypenv arena 'a(b=\"c\")' <d> --deals 12") == html


def test_names_commands_facts_and_forfeits_are_text(games, tmp_path):
    evil = dataclasses.replace(
        games,
        names=(EVIL, *games.names[1:]),
        forfeit=np.where(np.arange(len(games.deal)) == 3, 0, -1),
        forfeits=(f"deal 1: {EVIL} raised",),
    )
    path = tmp_path / "evil.html"
    write_report(path, standings(evil), evil, f"krypenv arena {EVIL}", {EVIL: EVIL})
    html = path.read_text(encoding="utf-8")
    page = Page(html)
    assert "<script" not in html
    assert "script" not in {tag for tag, _ in page.elements}
    assert page.text.count(EVIL) >= 6  # both tables, the command, the forfeit and the fact with its name
    assert any(attributes.get("title") == EVIL for _, attributes in page.elements)
    assert f"1 of {len(games.deal)} games were forfeited." in page.text


def test_figures_that_are_not_there_leave_no_column(games, html, tmp_path):
    assert "Nash" in Page(html).compiled[0][0]
    met = ~((games.agents == 0).any(axis=1) & (games.agents == 1).any(axis=1))
    fields = {name: getattr(games, name)[met] for name in ("deal", "agents", "scores", "forfeit")}
    page = Page(write(tmp_path / "report.html", dataclasses.replace(games, **fields)))
    assert not {"Nash", "over Nash", "alpha-rank"} & set(page.compiled[0][0])
    assert "not every two agents have met" in page.text


def test_one_deal_and_no_times_make_a_page(tmp_path):
    page = Page(write(tmp_path / "report.html", make_games([1.0, 0.0], deals=1, milliseconds=[math.nan] * 2)))
    assert "1 deal ·" in page.text
    assert "∞" in page.compiled[0][1][1]
    assert "No time was measured." in page.text
    assert "svg" not in {tag for tag, _ in page.elements}


def test_level_agents_make_a_page(games, tmp_path):
    level = dataclasses.replace(games, scores=np.full_like(games.scores, 21.0))
    page = Page(write(tmp_path / "report.html", level))
    assert page.compiled[1][1][2].startswith("+0.00")


def test_an_unwritable_folder_leaves_nothing_behind(games, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        write(tmp_path / "file" / "report.html", games)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_every_cell_can_be_read():
    for skill in np.linspace(0, 60, 13):
        table = standings(make_games([skill, 0.0, -60.0], deals=3)).payoffs
        most = float(np.nanmax(np.abs(table.margin)))
        for row, column in [(0, 1), (1, 0), (0, 2), (2, 0)]:
            cell = arena_report._cell(table, row, column, most)
            lights = [
                arena_report._luminance([int(cell[key][at : at + 2], 16) / 255 for at in (1, 3, 5)])
                for key in ("colour", "ink")
            ]
            assert (max(lights) + 0.05) / (min(lights) + 0.05) >= 4.5  # WCAG 2, level AA


def test_colours_part_at_zero():
    table = standings(make_games([30.0, 0.0], deals=5)).payoffs
    red, _, blue = (int(arena_report._cell(table, 0, 1, 30.0)["colour"][at : at + 2], 16) for at in (1, 3, 5))
    assert blue > red
    red, _, blue = (int(arena_report._cell(table, 1, 0, 30.0)["colour"][at : at + 2], 16) for at in (1, 3, 5))
    assert red > blue


@pytest.mark.parametrize("given", [[], [1.0], [0.1, 0.5, 0.9], [0.5] * 10, [0.0, 0.01, 0.02, 0.98, 0.99, 1.0]])
def test_labels_do_not_overlap(given):
    places = spread(given, gap=0.1)
    assert all(high - low >= 0.1 - 1e-9 for low, high in itertools.pairwise(places))
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
    if all(high - low >= 0.1 for low, high in itertools.pairwise(given)):
        assert places == pytest.approx(given)


def test_long_names_are_shortened_in_the_picture_only():
    assert arena_report._shorten("tactician") == "tactician"
    name = "models/" + "champion-" * 10 + "2p"
    short = arena_report._shorten(name)
    assert len(short) <= arena_report.LONGEST_LABEL
    assert short.startswith("models/champion")
    assert short.endswith("-2p")
