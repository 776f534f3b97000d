"""The study of large games: what it measures, for whom an answer holds, and which models it needs."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.games import some_arrays
from typer.testing import CliRunner

from krypenv import Rules
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import Shape, inputs_of
from krypenv.training.cli.commands import app
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.lab.chunks import instead
from krypenv.training.lab.replication import effects_in
from krypenv.training.lab.rulesets import as_if_turned, count_points, turned
from krypenv.training.lab.studying import FIGURE, LEFT_IN, RESULT, TAKEN_OUT, Answer, Setup, run_study
from krypenv.training.research.misere import large
from krypenv.training.research.misere.large import (
    GUIDED,
    LEAD,
    NETWORK,
    PLAYERS,
    SEARCH,
    SIGHT,
    SKILL,
    STRENGTH,
    SWEEPS,
    TACTICIAN,
)

GAME, OTHER = "Krypkasino", "Finland, must capture"
LOW, HIGH = f"{OTHER}, low", f"{OTHER}, high"
DEALS = 60
SETUP = Setup(large.STUDY.rules, "tactician", DEALS)  # type: ignore[arg-type]  # it has rules


def network_in(folder: Path, text: str) -> str:
    """A model folder of an untrained network."""
    rules = Rules.parse(text)
    name = "-".join(text.replace("=", "-").split())
    return str(save_model(folder / name / "model", some_arrays(Shape(16, 8, 4), 1, inputs_of(rules)), rules))


class TestMeasuring:
    @pytest.mark.parametrize("label", ["Krypkasino, low", HIGH])
    def test_games_are_those_that_others_count(self, label: str) -> None:
        """Leads and sweeps of a player without chance; with luck left in they are the same."""
        rules = large.SETS[label]
        plain = large.play_games(rules, "tactician", 2, 8, 5, "off")
        counted = np.array(count_points(rules, "tactician", 2, 8, 5))
        assert [row[0] for row in plain] == [row[1] for row in plain] == counted[:, 3:].tolist()
        assert [row[2] for row in plain] == counted[:, 1].tolist()
        measured = large.play_games(rules, "tactician", 2, 8, 5, "on")
        assert measured[LEFT_IN] == plain
        assert [row[1:] for row in measured[TAKEN_OUT]] == [row[1:] for row in plain]

    def test_luck_of_the_first_deal_counts_and_takes_no_side(self) -> None:
        found = large.play_games(large.SETS[HIGH], "tactician", 0, 600, 3, "on")[TAKEN_OUT]
        adjusted, played = (np.array([row[at][0] for row in found]) for at in (0, 1))
        mean, low, high = interval(played - adjusted)
        assert low < 0 < high
        assert abs(mean) < 0.5
        assert adjusted.var() < 0.85 * played.var()

    def test_a_match_has_both_seatings(self) -> None:
        found = large.play_seatings(large.SETS[HIGH], "random", 0, 30, 1, instead("tactician"), "on")
        plain = large.play_seatings(large.SETS[HIGH], "random", 0, 30, 1, instead("tactician"), "off")
        assert found[LEFT_IN] == plain
        assert np.shape(plain) == (30, 2, 2)
        assert np.mean([row[0] for row in plain]) > 2
        assert [row[1] for row in found[TAKEN_OUT]] == [row[1] for row in plain]
        assert [row[0] for row in found[TAKEN_OUT]] != [row[0] for row in plain]

    @pytest.mark.parametrize("label", ["Krypkasino, high", LOW])
    def test_the_wrong_goal_loses_what_the_right_one_wins_with_the_other(self, label: str) -> None:
        rules = Rules.parse(large.SETS[label])
        wrong = large.play_seatings(str(rules), "random", 0, 20, 4, partial(as_if_turned, "tactician"), "off")
        right = large.play_seatings(str(turned(rules)), "random", 0, 20, 4, instead("tactician"), "off")
        assert np.array(wrong).tolist() == (-np.array(right)).tolist()

    def test_units_are_those_of_a_game_and_count_in_the_interval(self) -> None:
        inside = 0
        for seed in range(300):
            margins = np.random.default_rng(seed).normal(9, 3, (80, 2))
            found = large.in_units(margins, margins)
            mean, low, high = interval(found.compared)
            assert mean == pytest.approx(margins.mean() / margins.std())
            assert found.unit == pytest.approx(margins.std())
            inside += low <= 3 <= high
        assert 275 <= inside <= 296


def made_up(shifts: dict[tuple[str, str, str], float]) -> dict[str, Any]:
    """Results of all tasks: margins around 0, with shifts by label, quantity and player; the networks are strongest."""
    random = np.random.default_rng(1)
    results: dict[str, Any] = {}

    def store(key: str, rows: list[Any]) -> None:
        results.update({f"{key} {first}": rows[first : first + 100] for first in range(0, len(rows), 100)})

    for label in large.SETS:
        for player in PLAYERS:
            leads = random.normal(shifts.get((label, LEAD, player), 0.0), 1, (5 * DEALS, 1)).tolist()
            sweeps = random.normal(shifts.get((label, SWEEPS, player), 1.0), 1, 5 * DEALS).tolist()
            store(f"{label}, {player}: games", [list(row) for row in zip(leads, leads, sweeps, strict=True)])
            for quantity in (SIGHT, SKILL, STRENGTH):
                if player in large.QUANTITIES[quantity]:
                    strength = 0.2 * PLAYERS.index(player) if quantity == STRENGTH else 0.0
                    mean = shifts.get((label, quantity, player), strength)
                    margins = random.normal(mean, 1, (DEALS, 2)).tolist()
                    store(f"{label}, {player}: {quantity}", [[row, row] for row in margins])
    return results


def answer_of(shifts: dict[tuple[str, str, str], float]) -> Answer:
    return large.answer(SETUP, made_up(shifts))


class TestAnswer:
    def test_every_test_is_counted(self) -> None:
        """64 + 12 differences without the tactician's over itself, and two quantities against zero: 140 in all."""
        found = answer_of({}).figures
        assert len(found["cells"]) == 8
        assert len(list(effects_in(found["differences"]))) == 4 * 4 * 4 + 4 * 3
        assert len(list(effects_in(found["cells"]))) == 8 * 2 * 4
        assert min(effect["p"] for _, effect in effects_in(found)) > 0.05

    def test_what_the_strongest_two_share_holds_and_what_one_has_does_not(self) -> None:
        shifts = {(f"{GAME}, low", LEAD, player): -1.0 for player in (NETWORK, GUIDED)}
        shifts |= {(LOW, SIGHT, TACTICIAN): 2.0, (LOW, SKILL, GUIDED): 2.0}
        found = answer_of(shifts)
        assert found.figures["strongest"] == [NETWORK, GUIDED]
        held, alone = (
            found.sentence.partition(start)[2].partition(end)[0]
            for start, end in (
                ("(sweeps in points): ", " For the tactician"),
                ("both of these: ", " With one of these"),
            )
        )
        shown = [f"{found.figures['differences'][GAME][LEAD][who]['mean']:+.2f}" for who in (NETWORK, GUIDED)]
        assert held == f"{LEAD}: {' and '.join(shown)} ({GAME})."
        assert alone == f"{SIGHT}: {OTHER}."
        assert f"leads in none and trails in {GAME}, low; not told apart for both: {GAME}, high; " in found.sentence
        assert "Both beat random play in 0 of 8 rule sets" in found.sentence

    def test_an_opposite_sign_holds_for_neither(self) -> None:
        shifts = {(f"{GAME}, low", LEAD, NETWORK): -1.0, (f"{GAME}, low", LEAD, GUIDED): 1.0}
        assert "(sweeps in points): none." in answer_of(shifts).sentence

    def test_the_strongest_are_those_ahead_of_the_tactician(self) -> None:
        shifts = {(label, STRENGTH, SEARCH): 2.0 for label in large.SETS}
        assert answer_of(shifts).figures["strongest"] == [GUIDED, SEARCH]

    def test_figures_are_in_points_and_in_the_unit_of_the_match(self) -> None:
        found = answer_of({(LOW, SKILL, SEARCH): 3.0, (LOW, SWEEPS, SEARCH): 4.0}).figures
        cell = found["cells"][LOW][SKILL][SEARCH]
        assert cell["points"]["mean"] / cell["unit"] == pytest.approx(cell["in SD"]["mean"], abs=1e-5)
        assert cell["in SD"]["p"] < 0.001
        assert found["cells"][LOW][SWEEPS][SEARCH].keys() == {"points"}
        assert found["differences"][OTHER][SWEEPS][SEARCH]["mean"] == pytest.approx(3, abs=0.4)

    def test_each_quantity_has_a_heading_and_a_row_for_each_game_and_player(self) -> None:
        names = [row[0] for row in answer_of({}).rows]
        assert [name for name in names if not name.startswith(" ")] == [*large.QUANTITIES]
        players = [name.rpartition(": ")[2] for name in names[names.index(STRENGTH) + 1 :]]
        assert players == [SEARCH, NETWORK, GUIDED] * 4


class TestRunning:
    def test_a_study_in_small(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """With luck, of one game; again, the same answer without work."""
        sets = {label: large.SETS[label] for label in (LOW, HIGH)}
        monkeypatch.setattr(large, "SETS", sets)
        monkeypatch.setattr(large, "GAMES", (OTHER,))
        models = tuple(network_in(tmp_path / "runs", text) for text in sets.values())
        study = dataclasses.replace(large.STUDY, sets=sets)
        setup = Setup(Rules.parse(sets[LOW]), "tactician", 3, 0, models, "on")
        found = run_study(study, setup, tmp_path / "out", "krypenv study large")
        assert found.raw
        assert found.raw.figures != found.figures
        assert len(found.rows) == 5 + 4 * 4 + 3
        assert (tmp_path / "out" / FIGURE).read_bytes().startswith(b"\x89PNG")
        stored = json.loads((tmp_path / "out" / RESULT).read_text())
        assert (len(stored["models_sha256"]), len(stored["luck"])) == (2, 3)
        assert run_study(study, setup, tmp_path / "out", "krypenv study large").figures == found.figures

    def test_without_a_model_it_is_refused(self, tmp_path: Path) -> None:
        network_in(tmp_path / "runs", "krypkasino")
        for more, missing in (
            ([], "there is none for Krypkasino, low; Krypkasino, high; Sweden"),
            (["--models", str(tmp_path / "runs")], "there is none for Krypkasino, high; Sweden, must capture, low;"),
        ):
            done = CliRunner().invoke(app, ["study", "large", *more, "--out", str(tmp_path / "out")])
            assert done.exit_code == 2
            assert missing in done.stderr
            assert len(done.stderr.splitlines()) == 1
            assert not (tmp_path / "out").exists()

    def test_captures_are_forced_in_all_its_rules(self) -> None:
        every = [Rules.parse(text) for text in large.SETS.values()]
        assert len(every) == 8
        assert {rules.capture for rules in every} == {"maximal"}
        assert {turned(rules) for rules in every} == {*every}
        assert [f"{game}, {goal}" for game in large.GAMES for goal in ("low", "high")] == [*large.SETS]
