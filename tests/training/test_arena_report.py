"""The report of an arena: one page that needs nothing else, tells the figures, and shows a stranger's names as text."""

import dataclasses
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from support.arenas import games_of, select

from krypenv.training import standings
from krypenv.training.evaluation.arena.html_report import write_report
from krypenv.training.evaluation.arena.tables import tables
from krypenv.training.runs import Header

COMMAND = "krypenv arena 'a(b=\"c\")' <d> --deals 12"
EVIL = "<script>alert('$\\agent$')</script>"  # and no formula of TeX either


def make_games(skills, deals=12):
    """Games of each pair of agents, in both seatings of each deal."""
    pairs = [pair for pair in np.ndindex(len(skills), len(skills)) if pair[0] != pair[1]]
    agents = np.tile(pairs, (deals, 1))
    scores = 21 - np.asarray(skills)[agents] + np.random.default_rng(0).normal(0, 3, agents.shape)
    return games_of(np.repeat(np.arange(deals), len(pairs)), agents, np.round(scores))


class Page:
    """What a page holds: its source, its elements, its text, and the texts of its tables' cells."""

    def __init__(self, path, games, command=COMMAND, deals="test v1 & more"):
        agents = [{"name": command, "weights_sha256": ["0123"]}]
        identity = {"deals_list": deals, "luck": None, "seed": 3, "agents": agents}
        write_report(path, standings(games), Header("arena", identity, {"command": command, "machine": {"cpu": deals}}))
        self.html = path.read_text(encoding="utf-8")
        root = ElementTree.fromstring(re.sub("<meta [^>]*>", "", self.html))  # raises where tags do not match
        self.elements = [(element.tag.rpartition("}")[2], element.attrib) for element in root.iter()]
        self.text = " ".join("".join(root.find("body").itertext()).split())
        self.tables = [
            [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")] for table in root.iter("table")
        ]


@pytest.mark.parametrize("luck", [None, 1.0])
def test_the_page_has_the_tables_of_the_terminal_and_needs_nothing_else(tmp_path, luck):
    games = make_games([4.0, -2.0, 9.0, 0.0])
    luck = luck and np.random.default_rng(0).normal(0, luck, games.scores.shape)
    games = dataclasses.replace(games, luck=luck)
    page = Page(tmp_path / "report.html", games)
    assert page.tables == [[columns, *rows] for _, columns, rows in tables(standings(games))]
    for told in (COMMAND, "krypkasino players=2", "test v1 & more", "12 deals"):
        assert told in page.text
    assert not {"script", "link", "iframe", "img", "object", "embed"} & {tag for tag, _ in page.elements}
    addresses = re.findall(r"https?://[^\s\"'<>]+", page.html)
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names, not addresses
    assert not re.search(r"@import|url\((?!#)", page.html)
    assert Page(tmp_path / "again.html", games).html == page.html


def test_names_commands_facts_and_forfeits_are_text(tmp_path):
    games = make_games([4.0, -2.0, 9.0])
    evil = dataclasses.replace(games, names=(EVIL, *games.names[1:]), forfeits=(f"{EVIL} raised",))
    page = Page(tmp_path / "evil.html", evil, f"krypenv arena {EVIL}", EVIL)
    assert "<script" not in page.html
    assert page.text.count(EVIL) >= 6  # both tables, the command, the forfeit and the fact with its name


def test_few_games_make_a_page(tmp_path):
    games = make_games([4.0, -2.0, 9.0])
    level = dataclasses.replace(games, scores=np.full_like(games.scores, 21.0))
    assert Page(tmp_path / "level.html", level).tables[1][1][2].startswith("+0.00")
    assert "no interval" in Page(tmp_path / "one.html", make_games([1.0, 0.0], deals=1)).text
    met = ~((games.agents == 0).any(axis=1) & (games.agents == 1).any(axis=1))
    page = Page(tmp_path / "some.html", select(games, met))
    assert "alpha-rank" not in page.tables[0][0]
    assert "not every two agents have met" in page.text
