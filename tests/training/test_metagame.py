"""The margins among a run's snapshots, and how they decide whom the learner meets."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest

from krypenv import Rules, agents
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.learn.selfplay.metagame import Metagame

RULES = Rules.preset("mini-low")
NAMES = ["random", "greedy", "tactician", "tactician(shed=True)"]


@pytest.fixture(scope="module")
def metagame() -> Metagame:
    """Agents that came in one after the other, as snapshots do."""
    metagame, players = Metagame(), [(name, agents.make(name, RULES, seed=1)) for name in NAMES]
    for at in range(1, len(players)):
        metagame.add(*players[at], players[:at], deals=6, seed=3)
    return metagame


def test_margins_are_those_of_the_matches_and_antisymmetric(metagame: Metagame) -> None:
    assert metagame.names == NAMES
    greedy, other = (agents.make(name, RULES, seed=1) for name in ("greedy", "random"))
    assert metagame.margin("greedy", "random") == duplicate_match(greedy, other, RULES, 6, seed=3).margin != 0
    for at, row in enumerate(NAMES):
        for column in NAMES[:at]:
            assert metagame.margin(row, column) == -metagame.margin(column, row)
        assert math.isnan(metagame.margin(row, row))
    assert math.isnan(metagame.margin("greedy", "nobody"))
    assert len({abs(metagame.margin(NAMES[-1], name)) for name in NAMES[:-1]}) > 1


def test_the_harder_is_met_more_often() -> None:
    """A snapshot that wins against the last one by more is drawn by more: odds of exp(difference / temperature)."""
    metagame = Metagame(["old", "older", "oldest", "now"], {"now": {"old": 2.0, "older": -1.0, "oldest": -6.0}})
    others = ["old", "older", "oldest"]
    for temperature in (0.1, 1.0, 5.0, 1e6):
        weights = metagame.weights("now", others, temperature)
        assert abs(sum(weights) - 1) < 1e-12
        assert weights[0] <= weights[1] <= weights[2]
        assert abs(math.log(weights[2] / weights[1]) - 5 / temperature) < 1e-9
    assert metagame.weights("now", others, 0.0) == pytest.approx([1 / 3] * 3)
    assert metagame.weights("now", others, 1e-9)[2] == pytest.approx(1)
    assert metagame.weights("now", [], 5.0) == []


def test_who_did_not_meet_the_last_one_counts_as_equal() -> None:
    metagame = Metagame(["a", "b", "c"], {"c": {"a": 3.0}})
    a, b, itself = metagame.weights("c", ["a", "b", "c"], 2.0)
    assert b == itself
    assert abs(math.log(b / a) - 1.5) < 1e-9
    assert a + b + itself == pytest.approx(1)


def test_round_trip_through_json(metagame: Metagame) -> None:
    assert Metagame.from_json(json.loads(json.dumps(dataclasses.asdict(metagame)))) == metagame
    assert Metagame.from_json({}) == Metagame()


def test_the_matrix_is_written_as_figures_and_as_a_picture(metagame: Metagame, tmp_path: Path) -> None:
    metagame.write(tmp_path)
    kept = json.loads((tmp_path / "metagame.json").read_text())
    assert kept["names"] == NAMES
    for row, name in zip(kept["margins"], NAMES, strict=True):
        for margin, other in zip(row, NAMES, strict=True):
            assert (margin is None) == (name == other)
            assert margin is None or abs(margin - metagame.margin(name, other)) < 1e-3
    assert (tmp_path / "metagame.png").read_bytes().startswith(b"\x89PNG")
    Metagame().write(tmp_path / "empty")
    assert json.loads((tmp_path / "empty" / "metagame.json").read_text()) == {"names": [], "margins": []}
