"""The lab: matches of changed agents, effects that are tested together, and studies that run and resume."""

from __future__ import annotations

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
    Answer,
    Setup,
    Study,
    Task,
    by_deal,
    compare,
    creeping,
    effects_of,
    instead,
    match_tasks,
    matches,
    play_chunk,
    play_match,
    plays_only,
    replicated,
    run_study,
    with_habit,
)
from krypenv.training.lab.effects import table_of
from krypenv.training.lab.study import FIGURE, RESULT

CREEPS = with_habit(plays_only(creeping))


class TestMatches:
    def test_a_match_in_chunks_has_a_margin_for_each_deal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(matches, "CHUNK", 3)
        setup = Setup(TWO, "greedy", 7, 4)
        results = {task.key: task.function(**task.arguments) for task in match_tasks("x", setup, CREEPS)}
        assert [len(each) for each in results.values()] == [3, 3, 1]
        assert by_deal(results, "x", setup) == [each for chunk in results.values() for each in chunk]

    def test_luck_is_taken_out_as_in_a_duplicate_match(self) -> None:
        match = duplicate_match(CREEPS(STRONG, TWO, 0), STRONG, TWO, deals=4, seed=4, luck="on")
        found = {luck: np.mean(play_chunk(str(TWO), STRONG, 0, 4, 4, CREEPS, luck)) for luck in ("on", "off")}
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
        changes = {"creep": CREEPS, "random": instead("random")}
        study, setup = compare("x", "Which?", changes, [("creep", "random")]), Setup(TWO, "greedy", 6)
        results = {task.key: task.function(**task.arguments) for task in study.tasks(setup)}
        found = study.answer(setup, results).figures
        margins = {name: np.array(play_chunk(str(TWO), "greedy", 0, 6, 0, change)) for name, change in changes.items()}
        assert found == effects_of({**margins, "creep rather than random": margins["creep"] - margins["random"]})


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


def test_samples_are_tested_together() -> None:
    """By Student's sleep data (1908), whose t test has p = 0.002833; and where there is no spread, or one sample."""
    sleep = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    found = effects_of({"sleep": sleep, "zeros": np.zeros(9), "twos": np.full(2, 2.0), "one": np.full(1, 5.0)})
    assert {name: each["p alone"] for name, each in found.items()} == pytest.approx(
        {"sleep": 0.002833, "zeros": 1, "twos": 0, "one": 1}, abs=1e-6
    )
    assert {name: each["p"] for name, each in found.items()} == pytest.approx(
        {"sleep": 3 * 0.002833, "zeros": 1, "twos": 0, "one": 1}, abs=3e-6
    )
    assert found["sleep"]["mean"] == pytest.approx(1.58)


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


@pytest.mark.parametrize(
    ("first", "again", "is_told"),
    [
        ((2, 0.01), (1, 0.03), True),
        ((-2, 0.01), (-1, 0.03), True),
        ((1, 0.0), (1, 0.0), True),
        ((2, 1e-9), (-1, 0.01), False),
        ((2, 1e-9), (1, 0.06), False),
        ((2, 0.06), (1, 1e-9), False),
        ((0, 1.0), (0, 1.0), False),
    ],
)
def test_both_seeds_must_tell_an_effect_apart_with_one_sign(first: Any, again: Any, is_told: bool) -> None:
    """Fisher (1932): -2 ln(p q) has the chi-squared distribution of four degrees, whose tail is known."""
    x = first[1] * again[1]
    [found] = replicated({"x": ({"a": effect(*first)}, {"a": effect(*again)})}).values()
    assert found == pytest.approx((x * (1 - math.log(x)) if x else 0) if is_told else 1)


def test_all_effects_of_two_seeds_are_tested_together() -> None:
    """Holm (1979): the smallest p value counts three times, the next two. Effects are found wherever they stand."""
    answers = (
        {"a": {"b": effect(1, p), "c": {"d": effect(2, 2 * p)}}, "e": effect(sign, p), "f": {"mean": 3.0}, "g": [1, 2]}
        for p, sign in ((0.01, 1), (0.01, -1))
    )
    small, next_one = (x * (1 - math.log(x)) for x in (0.01**2, 0.02**2))
    assert replicated({"study": (next(answers), next(answers))}) == pytest.approx(
        {("study", "a", "b"): 3 * small, ("study", "a", "c", "d"): 2 * next_one, ("study", "e"): 1}
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

    def test_a_study_is_resumed_and_read_and_another_one_refused(self, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError):
            run_study(squares(1), self.SETUP, tmp_path)
        assert not (tmp_path / RESULT).exists()
        run_study(squares(9), self.SETUP, tmp_path, "it")
        assert run_study(squares(0), self.SETUP, tmp_path, "it").figures == {"sum": 14}  # nothing is done twice
        fields = json.loads((tmp_path / RESULT).read_text())
        [run] = fields["runs"]
        about = {"command": "it", "rules": str(TWO), "agent": "greedy", "deals": 1, "seed": 0}
        assert fields["question"] == "What is the sum?"
        assert run == run | about | {"figures": {"sum": 14}, "columns": ["what", "sum"], "rows": [["squares", "14"]]}
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert before[FIGURE].startswith(b"\x89PNG")
        for setup, other in (
            (Setup(TWO, "greedy", 2), "deals 1, not 2"),
            (Setup(TWO, "random", 1), "agent 'greedy', not 'random'"),
            (Setup(TWO, "greedy", 1, 5), "seed 0, not 5"),
            (Setup(TWO, "greedy", 1, luck="on"), "luck None, not "),
        ):
            with pytest.raises(ValueError, match=f"holds a study with {other}"):
                run_study(squares(9), setup, tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    def test_agents_that_can_not_be_changed_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="random does not value its actions"):
            run_study(compare("x", "Which?", {"creep": CREEPS}), Setup(TWO, "random", 2), tmp_path / "out")
        assert not (tmp_path / "out").exists()
