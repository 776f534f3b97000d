"""Studies: what is run, resumed and refused."""

from __future__ import annotations

import dataclasses
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from support.sampled import TWO

from krypenv import Game, Rules
from krypenv.training.lab.studying import FIGURE, Setup, run_study
from krypenv.training.research.solved import baselines, late_deals, openspiel, small
from krypenv.training.solving.beliefs import CAUSES

CLONED = ("figures", "figures of the teacher")
FIGURES = {small.BEST: 0.5, small.LOST: 0.25}  # of an agent


def test_small_games_are_answered_in_a_smaller_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ladder of agents and PPO in mini-sweep; what takes longer is made up."""
    game = "mini-sweep"
    for name, value in (
        ("HIDDEN", game), ("SOLVED", (game,)), ("FRAMES", (0, 512)), ("LEARNERS", 1), ("GAMES", 8),
        ("ASKED", dict.fromkeys(small.ASKED, 4)),
    ):  # fmt: skip
        monkeypatch.setattr(small, name, value)
    monkeypatch.setattr(small, "train_clone", lambda seed: {"teacher": "search", **dict.fromkeys(CLONED, FIGURES)})
    monkeypatch.setattr(small, "train_champion", lambda seed: dict.fromkeys(("network", "with search"), FIGURES))
    monkeypatch.setattr(small, "bound", lambda agent, deals, seed: {"margin": 1.0, "low": 0.5, "high": 1.5})
    study = dataclasses.replace(small.STUDY, sets={game: game})
    found = run_study(study, Setup(Rules.preset(game), "tactician", 6), tmp_path / "out", "krypenv study small")
    agents = found.figures["exploitability"][game]
    assert found.figures["values"][game]["value"] == pytest.approx(-3.4889, abs=1e-3)
    assert agents["random"] > agents["tactician"] > agents["search(worlds=30)"] >= -1e-9
    for name in ("PPO", "PPO with history"):  # which begins as one that plays at random
        assert found.figures["ppo"][name][0] == pytest.approx([agents["random"]], rel=0.05)
    assert {row[0]: row[5] for row in found.rows}["random"] == f"{1 / agents['random']:.0%}"
    lost = found.figures[small.LOST]
    for name, figure in agents.items():
        assert -1e-4 <= lost["agents"][game][name] <= figure + 1e-4
    assert lost["ppo"]["PPO"][0] == pytest.approx([lost["agents"][game]["random"]], rel=0.05)
    assert set(found.figures["causes"][game]) == set(CAUSES)
    assert (tmp_path / "out" / FIGURE).read_bytes().startswith(b"\x89PNG")


def test_baselines_race_in_a_smaller_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Algorithms begin at uniform play, or near it, and those that take a few steps come closer."""
    game = "mini-sweep"
    for name, value in (
        ("GAMES", (game,)), ("ITERATIONS", (1, 4, 30)), ("DESCENTS", (1, 2)), ("STEPS", (1,)), ("TRIED_STEPS", 1),
        ("MMD_SETTINGS", ((0.01, 1.0, False), (0.01, 3.0, True))), ("RATES", (1e-3,)), ("ANTICIPATORY", (0.1,)),
        ("FRAMES", (64, 512)), ("TRIED_FRAMES", 512), ("PPO_SETTINGS", ((1e-3, 0.01, 8), (1e-3, 5.0, 8))), ("RUNS", 1),
    ):  # fmt: skip
        monkeypatch.setattr(baselines, name, value)
    monkeypatch.setattr(small, "GAMES", 8)
    study, setup = dataclasses.replace(baselines.STUDY, sets={game: game}), Setup(Rules.preset(game), "tactician", 20)
    if find_spec("open_spiel.python.pytorch.nfsp") is None:  # of versions before 2
        with pytest.raises(ValueError, match="the study baselines needs OpenSpiel"):
            run_study(study, setup, tmp_path / "out", "krypenv study baselines")
        return
    found = run_study(study, setup, tmp_path / "out", "krypenv study baselines")
    uniform, curves = found.figures["measures"][game]["uniform"], found.figures["curves"][game]
    for runs in curves.values():
        for run in runs:
            seconds, points = zip(*run, strict=True)
            assert min(seconds) > 0
            assert 0 <= min(points) <= max(points) <= 1.05 * uniform
    for name in (baselines.CFR, baselines.MMD):
        seconds, points = zip(*curves[name][0], strict=True)
        assert list(seconds) == sorted(seconds)  # the clock goes on, and it comes closer
        assert list(points) == sorted(points, reverse=True)
    assert curves[baselines.OURS][0][-1][1] < curves[baselines.CFR][0][-1][1] < 0.05
    best = {name: each["best"] for name, each in found.figures["settings"][game].items()}
    assert best[baselines.MMD] == "alpha 0.01, step size 3, both falling"
    assert best[baselines.PPO] == "rate 0.001, entropy 0.01, 64 decisions an update"  # not the one that rewards chance
    assert len(found.rows) == len(curves) == 5
    assert (tmp_path / "out" / FIGURE).read_bytes().startswith(b"\x89PNG")


def test_late_deals_are_answered_from_few_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A perfect player loses nothing, so whoever is asked loses at least that, and to its best response more."""
    monkeypatch.setattr(late_deals, "ASKED", {"random": 1, "champion": 1})
    found = run_study(late_deals.STUDY, Setup(TWO, "champion", 2), tmp_path / "out", "krypenv study late")
    positions = found.figures["positions"]
    assert len(positions) == 2
    for each in positions:
        game = Game.from_position(each["position"])
        assert (game.deal_number, len(game.hand(0)) + len(game.hand(1))) == (11, late_deals.FEW)
        assert each["gap"] <= 1e-4
        assert {move for move, _, _ in each["moves"]} in ({str(move) for move in game.legal_moves()}, set())
        for agent, lost in each["lost"][late_deals.LOST].items():
            assert -1e-4 <= lost <= each["lost"][late_deals.BEST][agent] + 1e-4
        assert each["lost"][late_deals.LOST]["random"] > each["lost"][late_deals.LOST]["champion"]
    bounds = [
        found.figures["bounds"][f"4 cards, {hands or 'all'} hands, champion"]["mean"] for hands in late_deals.HANDS
    ]
    exact = np.mean([each["lost"][late_deals.BEST]["champion"] for each in positions])
    assert bounds[-1] == pytest.approx(exact)
    assert len(found.rows) == 2 * len(late_deals.MEASURES) + len(bounds)
    assert (tmp_path / "out" / FIGURE).read_bytes().startswith(b"\x89PNG")


class FirstAction:
    """The first legal action, wherever it is asked."""

    remembers = False
    name = "first"

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.eye(masks.shape[1])[masks.argmax(axis=1)]


@pytest.mark.parametrize("preset", ["mini-sweep", "mini-mulle", "mini-copies"])
def test_both_measures_of_exploitability_agree(preset: str) -> None:
    """Ours and OpenSpiel's, in points a game, for uniform play and for a policy that is far from it."""
    tree = openspiel.load_small(Rules.preset(preset))
    theirs = openspiel.exploitability_of(tree, lambda state: {min(state.legal_actions()): 1.0})
    assert small.exploitability(FirstAction(), preset) == pytest.approx(theirs)  # type: ignore[arg-type]
    uniform = baselines.measures_of(preset)["uniform"]
    assert uniform == pytest.approx(openspiel.exploitability_of(tree, openspiel.uniform))
    assert uniform != pytest.approx(theirs, rel=0.01)


def test_measures_that_differ_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openspiel, "exploitability_of", lambda game, policy: 1.0)
    with pytest.raises(ValueError, match=r"uniform play in mini-sweep is 2\.87\d+ here and 1\.0 in OpenSpiel"):
        baselines.measures_of("mini-sweep")
