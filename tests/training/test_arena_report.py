"""The report of an arena: one page that needs nothing else, tells the figures, and shows a stranger's names as text."""

import dataclasses
import itertools
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from support.arenas import games_of, select

from krypenv.training.evaluation.arena.html_report import write_report
from krypenv.training.evaluation.arena.standings import standings
from krypenv.training.runs.figures import spread

COMMAND = "krypenv arena 'a(b=\"c\")' <d> --deals 12"
EVIL = "<script>alert('$\\agent$')</script>"  # and no formula of TeX either
FACTS = {"version": "0.1.0", "deals": "test v1 & more"}


def make_games(skills, deals=12, milliseconds=None):
    """Games of each pair of agents, in both seatings of each deal."""
    pairs = [pair for pair in np.ndindex(len(skills), len(skills)) if pair[0] != pair[1]]
    agents = np.tile(pairs, (deals, 1))
    return games_of(
        np.repeat(np.arange(deals), len(pairs)),
        agents,
        np.round(21 - np.asarray(skills)[agents] + np.random.default_rng(0).normal(0, 3, agents.shape)),
        milliseconds=np.geomspace(0.001, 10, len(skills)) if milliseconds is None else np.asarray(milliseconds),
    )


def write(path, games, command="krypenv arena a b"):
    write_report(path, standings(games), games, command, FACTS)
    return path.read_text(encoding="utf-8")


def bare(name):
    """A name without its namespace."""
    return name.rpartition("}")[2]


class Page:
    """What a page holds: its elements, its text, and the texts of its tables' cells."""

    def __init__(self, html):
        root = ElementTree.fromstring(re.sub("<meta [^>]*>", "", html))  # raises where tags do not match
        self.elements = [
            (bare(element.tag), {bare(name): value for name, value in element.attrib.items()})
            for element in root.iter()
        ]
        self.text = " ".join("".join(root.find("body").itertext()).split())
        self.tables = [
            [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")] for table in root.iter("table")
        ]


@pytest.fixture(scope="module")
def games():
    return make_games([4.0, -2.0, 9.0, 0.0])


@pytest.fixture(scope="module")
def html(games, tmp_path_factory):
    return write(tmp_path_factory.mktemp("report") / "report.html", games, COMMAND)


def test_the_page_tells_the_command_the_rules_and_the_facts(html):
    text = Page(html).text
    for told in (COMMAND, "krypkasino players=2", "test v1 & more", "12 deals", "No game was forfeited."):
        assert told in text


def test_the_tables_hold_the_figures_best_agent_first(games, html):
    figures, matrix = Page(html).tables
    result = standings(games)
    assert [row[0] for row in figures[1:]] == [f"{place}{agent.agent}" for place, agent in enumerate(result.agents, 1)]
    assert [row[0][1:] for row in figures[1:]] == ["agent 2", "agent 0", "agent 3", "agent 1"]
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
        for name in ("src", "href", "action", "data"):
            assert attributes.get(name, "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"@import|url\((?!#)", html)
    addresses = re.findall(r"https?://[^\s\"'<>]+", html)
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names, not addresses


def test_the_same_input_gives_the_same_page(games, html, tmp_path):
    assert write(tmp_path / "again.html", games, COMMAND) == html


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
    assert "Nash" in Page(html).tables[0][0]
    met = ~((games.agents == 0).any(axis=1) & (games.agents == 1).any(axis=1))
    page = Page(write(tmp_path / "report.html", select(games, met)))
    assert not {"Nash", "over Nash", "alpha-rank"} & set(page.tables[0][0])
    assert "not every two agents have met" in page.text


def test_one_deal_no_times_and_level_agents_make_a_page(games, tmp_path):
    level = dataclasses.replace(games, scores=np.full_like(games.scores, 21.0))
    assert Page(write(tmp_path / "level.html", level)).tables[1][1][2].startswith("+0.00")
    page = Page(write(tmp_path / "report.html", make_games([1.0, 0.0], deals=1, milliseconds=[math.nan] * 2)))
    assert "1 deal ·" in page.text
    assert "∞" in page.tables[0][1][1]
    assert "No time was measured." in page.text
    assert "svg" not in {tag for tag, _ in page.elements}


def test_an_unwritable_folder_leaves_nothing_behind(games, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        write(tmp_path / "file" / "report.html", games)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def luminance(colour):
    """The relative luminance of #rrggbb by WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def test_every_cell_can_be_read_and_colours_part_at_zero(tmp_path):
    for skill in np.linspace(0, 60, 7):
        games = make_games([skill, 0.0, -60.0], deals=3)
        page = Page(write(tmp_path / "report.html", games))
        cells = [attributes["style"] for tag, attributes in page.elements if tag == "td" and "style" in attributes]
        assert len(cells) == 6
        for style in cells:
            colour, ink = re.findall("#[0-9a-f]{6}", style)
            dark, light = sorted(map(luminance, (colour, ink)))
            assert (light + 0.05) / (dark + 0.05) >= 4.5  # level AA
        texts = [row[at] for row in page.tables[1][1:] for at in range(1, 4) if row[at] != "–"]
        for style, text in zip(cells, texts, strict=True):
            red, _, blue = (int(style.partition("#")[2][at : at + 2], 16) for at in (0, 2, 4))
            assert (blue > red) == (text[0] == "+")


@pytest.mark.parametrize("given", [[], [1.0], [0.1, 0.5, 0.9], [0.5] * 10, [0.0, 0.01, 0.02, 0.98, 0.99, 1.0]])
def test_labels_do_not_overlap(given):
    places = spread(given, gap=0.1)
    assert all(high - low >= 0.1 - 1e-9 for low, high in itertools.pairwise(places))
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
    if all(high - low >= 0.1 for low, high in itertools.pairwise(given)):
        assert places == pytest.approx(given)


def test_long_names_are_shortened_in_the_picture_only(games, tmp_path):
    """The picture draws names as paths, under comments that tell them."""
    name = "models/" + "champion-" * 10 + "2p"
    page = write(tmp_path / "report.html", dataclasses.replace(games, names=(name, *games.names[1:])))
    drawn = [text for text in re.findall("<!-- (.*) -->", page) if "…" in text]
    assert drawn == [f"{name[:21]}…{name[-21:]}"]
    assert name in Page(page).text
