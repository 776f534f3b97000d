"""The lab: matches of changed agents, effects that are tested together, and studies that run and resume."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.sampled import STRONG, TWO

from krypenv import agents
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.evaluation.matches.margins import holm, share_interval
from krypenv.training.lab import (
    HABITS,
    Answer,
    Executor,
    Setup,
    Study,
    Task,
    by_deal,
    compare,
    effects_in,
    effects_of,
    match_tasks,
    matches,
    play_chunk,
    play_match,
    replicated,
    run_study,
    values_of,
    with_habit,
)
from krypenv.training.lab.effects import p_of_both, p_value, table_of
from krypenv.training.lab.study import FIGURE, RESULT
from krypenv.training.runs.journal import JOURNAL

CREEPS = with_habit(HABITS["creep whenever possible"])


class TestMatches:
    def test_a_match_in_chunks_has_a_margin_for_each_deal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(matches, "CHUNK", 3)
        setup = Setup(TWO, STRONG, 7, 4)
        results = {task.key: task.function(**task.arguments) for task in match_tasks("x", setup, CREEPS)}
        assert [len(each) for each in results.values()] == [3, 3, 1]
        assert by_deal(results, "x", setup) == [each for chunk in results.values() for each in chunk]

    def test_luck_is_taken_out_as_in_a_duplicate_match(self) -> None:
        match = duplicate_match(CREEPS(STRONG, TWO, 0), STRONG, TWO, deals=8, seed=4, luck="on")
        found = {luck: np.mean(play_chunk(str(TWO), STRONG, 0, 8, 4, CREEPS, luck)) for luck in ("on", "off")}
        assert found == pytest.approx({"on": match.adjusted.margin, "off": match.margin})
        assert match.margin != match.adjusted.margin

    @pytest.mark.parametrize(("agent", "measured"), [(STRONG, False), ("search(worlds=10, plies=0)", True)])
    def test_with_auto_it_follows_from_the_agent(self, agent: str, measured: bool) -> None:
        auto, off = (play_chunk(str(TWO), agent, 0, 2, 0, CREEPS, luck) for luck in ("auto", "off"))
        assert (auto != off) == measured

    def test_repetitions_have_the_same_deals_and_other_choices(self) -> None:
        played = [
            play_match(str(TWO), "random", 0, 6, 1, lambda *given: agents.make(*given), repetition=each).tolist()
            for each in (0, 0, 1)
        ]
        assert played[0] == played[1] != played[2]

    def test_a_comparison_measures_changes_and_their_opposites(self) -> None:
        names = ["creep whenever possible", "capture whenever possible"]
        changes = {name: with_habit(HABITS[name]) for name in names}
        study, setup = compare("x", "Which?", changes, [(names[0], names[1])]), Setup(TWO, STRONG, 6)
        results = {task.key: task.function(**task.arguments) for task in study.tasks(setup)}
        found = study.answer(setup, results).figures
        margins = [play_chunk(str(TWO), STRONG, 0, 6, 0, change) for change in changes.values()]
        assert [found[name]["mean"] for name in names] == pytest.approx(np.mean(margins, axis=1).tolist())
        better = found[f"{names[0]} rather than {names[1]}"]
        assert better["mean"] == pytest.approx(np.mean(np.subtract(*margins)))
        assert better["p alone"] == pytest.approx(p_value(np.subtract(*margins)))


# ---------------------------------------------------------------------- effects


def effect(mean: float, p: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - 1, "high": mean + 1, "p alone": p}


def test_p_values_are_adjusted_by_holm() -> None:
    """The 15 tests of Benjamini and Hochberg (1995, section 4.1), of which familywise control at 5% rejects three."""
    tests = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
        1.0,
    ]  # fmt: skip
    assert (holm(tests) < 0.05).tolist() == [True] * 3 + [False] * 12
    assert holm(tests)[:4] == pytest.approx([15 * 0.0001, 14 * 0.0004, 13 * 0.0019, 12 * 0.0095])
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])  # in any order
    assert holm([0.6, 0.7]).tolist() == [1, 1]
    assert len(holm([])) == 0


def test_p_values_of_samples() -> None:
    """By Student's sleep data (1908), whose t test has p = 0.002833; and where there is no spread, or one sample."""
    sleep = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert p_value(sleep) == pytest.approx(0.002833, abs=1e-6)
    assert [p_value(np.array(each)) for each in ([0.0, 0.0], [2.0, 2.0], [5.0])] == [1, 0, 1]
    found = effects_of({"sleep": sleep, "nothing": np.zeros(9)})
    assert found["sleep"]["p"] == 2 * found["sleep"]["p alone"]
    assert (found["sleep"]["mean"], found["nothing"]["p"]) == pytest.approx((1.58, 1))


def test_the_interval_of_a_ratio() -> None:
    random = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        times = random.integers(1, 30, 300).astype(float)
        ratio, low, high = share_interval(random.binomial(times.astype(int), 0.3).astype(float), times)
        assert low <= ratio <= high
        inside += low <= 0.3 <= high
    assert 360 <= inside <= 396
    assert np.isnan(share_interval(np.zeros(3), np.zeros(3))[0])


def test_a_table_has_all_figures_and_signs_what_is_tested() -> None:
    figures = {
        "a": {"mean": 2.0, "low": 1.0, "high": 3.0, "p": 0.0004, "p alone": 0.0004},
        "b": {"c": {"mean": 4.0, "low": -3.0, "high": 11.0}},
        "n": 3,
    }
    columns, rows = table_of(figures)
    assert columns == ("what", "mean", "95% interval", "p")
    assert rows == [("a", "+2.00", "+1.00 to +3.00", "<0.001"), ("b: c", "4.00", "-3.00 to 11.00", "")]
    assert table_of(figures["b"]) == (columns[:3], [("c", "4.00", "-3.00 to 11.00")])


def test_two_p_values_make_one_by_their_product() -> None:
    """Fisher (1932): -2 ln(p q) has the chi-squared distribution of four degrees, whose tail is known."""
    x = 0.01 * 0.03
    assert p_of_both(effect(2, 0.01), effect(1, 0.03)) == pytest.approx(x * (1 - math.log(x)))
    assert p_of_both(effect(-2, 0.01), effect(-1, 0.03)) == pytest.approx(x * (1 - math.log(x)))
    assert p_of_both(effect(1, 0.0), effect(1, 0.0)) == 0


@pytest.mark.parametrize(
    ("first", "again"),
    [((2, 1e-9), (-1, 0.01)), ((2, 1e-9), (1, 0.06)), ((2, 0.06), (1, 1e-9)), ((0, 1.0), (0, 1.0))],
)
def test_both_seeds_must_tell_an_effect_apart_with_one_sign(
    first: tuple[float, float], again: tuple[float, float]
) -> None:
    assert p_of_both(effect(*first), effect(*again)) == 1


def test_effects_are_found_wherever_they_stand() -> None:
    figures = {"a": {"b": effect(1, 0.1), "c": {"d": effect(2, 0.2)}}, "sizes": [1, 2], "e": {"mean": 3.0}}
    assert effects_in(figures) == {("a", "b"): effect(1, 0.1), ("a", "c", "d"): effect(2, 0.2)}


def test_all_effects_of_two_seeds_are_tested_together() -> None:
    """Holm (1979): the smallest p value counts four times, the next three."""
    small, next_one = p_of_both(effect(1, 0.01), effect(1, 0.01)), p_of_both(effect(1, 0.02), effect(1, 0.02))
    first = {"x": effect(1, 0.01), "y": effect(1, 0.5)}, {"x": effect(1, 0.01), "y": effect(1, 0.5)}
    other = {"x": effect(1, 0.02), "y": effect(1, 0.5)}, {"x": effect(1, 0.02), "y": effect(-1, 0.5)}
    found = replicated({"first": first, "other": other})
    assert found == pytest.approx(
        {("first", "x"): 4 * small, ("first", "y"): 1, ("other", "x"): 3 * next_one, ("other", "y"): 1}
    )
    with pytest.raises(ValueError, match="the two answers of name test different effects"):
        replicated({"name": ({"x": effect(1, 0.1)}, {"y": effect(1, 0.1)})})


# ---------------------------------------------------------------------- studies


def square(number: int, fail: bool = False) -> int:
    if fail:
        raise RuntimeError("stopped")
    return number * number


def squares(stop: int) -> Study:
    """A study of four tasks, of which those from `stop` on fail."""
    tasks = [Task(f"{number}", square, {"number": number, "fail": number >= stop}) for number in range(4)]

    def answer(setup: Setup, results: dict[str, Any]) -> Answer:
        total = sum(results.values())
        return Answer({"sum": total}, ("what", "sum"), [("squares", f"{total}")])

    return Study("squares", "What is the sum?", lambda setup: tasks, answer, deals=1, fewest=1)


class TestRunning:
    SETUP = Setup(TWO, "greedy", 1)

    @pytest.mark.parametrize("stop", [0, 1, 3])
    def test_a_stopped_study_is_resumed(self, stop: int, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError):
            run_study(squares(stop), self.SETUP, tmp_path)
        assert not (tmp_path / RESULT).exists()
        with (tmp_path / JOURNAL).open("ab") as file:
            file.write(b'{"key":"9","resu')  # what a kill within a line leaves
        told: list[tuple[int, int]] = []
        found = run_study(squares(9), self.SETUP, tmp_path, "it", progress=lambda *of: told.append(of))
        assert found.figures == {"sum": 14}
        assert told == [(done, 4) for done in range(stop, 5)]
        fields = json.loads((tmp_path / RESULT).read_text())
        [run] = fields["runs"]
        assert (fields["question"], run["command"], run["seed"], run["rules"]) == (
            "What is the sum?",
            "it",
            0,
            str(TWO),
        )
        assert (run["figures"], run["columns"], run["rows"]) == ({"sum": 14}, ["what", "sum"], [["squares", "14"]])
        assert (tmp_path / FIGURE).read_bytes().startswith(b"\x89PNG")
        assert run_study(squares(0), self.SETUP, tmp_path, "it").figures == {"sum": 14}  # nothing is done twice

    def test_another_setup_is_refused_and_nothing_changed(self, tmp_path: Path) -> None:
        run_study(squares(9), self.SETUP, tmp_path)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        for setup, other in (
            (Setup(TWO, "greedy", 2), "deals 1, not 2"),
            (Setup(TWO, "random", 1), "agent 'greedy', not 'random'"),
            (Setup(TWO, "greedy", 1, 5), "seed 0, not 5"),
            (Setup(TWO, "greedy", 1, luck="on"), "luck None, not "),
        ):
            with pytest.raises(ValueError, match=f"holds a study with {other}"):
                run_study(squares(9), setup, tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        (tmp_path / JOURNAL).write_bytes(b"no\n" + before[JOURNAL])
        with pytest.raises(ValueError, match=r"line 1 of .* has no checksum; remove the file to begin anew"):
            run_study(squares(9), self.SETUP, tmp_path)
        (tmp_path / JOURNAL).unlink()
        with pytest.raises(ValueError, match=r"has a result without its journal\.jsonl, which is not overwritten"):
            run_study(squares(9), self.SETUP, tmp_path)

    def test_workers_do_not_change_the_answer(self, tmp_path: Path) -> None:
        study = compare("x", "Which?", {"creep": CREEPS})
        answers = [
            run_study(study, Setup(TWO, "greedy", 4), tmp_path / f"{workers}", executor=Executor(workers)).figures
            for workers in (1, 2)
        ]
        assert answers[0] == answers[1]

    @pytest.mark.parametrize(
        ("changes", "setup", "reason"),
        [
            ({"players": (4,)}, SETUP, "the study squares is for 4 players, not 2"),
            ({"teams": 2}, SETUP, "the study squares is for teams; give rules with teams=2"),
            ({"fewest": 2}, SETUP, "the study squares needs at least 2 deals, not 1"),
            ({"needs": values_of}, Setup(TWO, "random", 1), "random does not value its actions"),
        ],
    )
    def test_what_a_study_can_not_use_is_refused(
        self, changes: dict[str, Any], setup: Setup, reason: str, tmp_path: Path
    ) -> None:
        with pytest.raises(ValueError, match=reason):
            run_study(dataclasses.replace(squares(9), **changes), setup, tmp_path / "out")
        assert not (tmp_path / "out").exists()
