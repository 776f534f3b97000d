"""Effects on two seeds: which of them hold if all of a page are tested together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from krypenv.training.lab.intervals import effects_of
from krypenv.training.lab.replication import effects_in, p_of_both, replicated, sign_of


def effect(mean: float, p: float) -> dict[str, float]:
    return {"mean": mean, "p alone": p}


def test_two_p_values_make_one_by_their_product() -> None:
    """Fisher (1932): -2 ln(p q) has the chi-squared distribution of four degrees, whose tail is known."""
    x = 0.01 * 0.03
    assert p_of_both(effect(2, 0.01), effect(1, 0.03)) == pytest.approx(x * (1 - math.log(x)))
    assert p_of_both(effect(-2, 0.01), effect(-1, 0.03)) == pytest.approx(x * (1 - math.log(x)))


@pytest.mark.parametrize(
    ("first", "again"),
    [((2, 1e-9), (-1, 0.01)), ((2, 1e-9), (1, 0.06)), ((2, 0.06), (1, 1e-9)), ((0, 1.0), (0, 1.0))],
)
def test_both_seeds_must_tell_an_effect_apart_with_one_sign(
    first: tuple[float, float], again: tuple[float, float]
) -> None:
    assert p_of_both(effect(*first), effect(*again)) == 1


def test_an_effect_too_small_for_a_float_is_certain() -> None:
    assert p_of_both(effect(1, 0.0), effect(1, 0.0)) == 0


def test_effects_are_found_wherever_they_stand() -> None:
    figures = {"a": {"b": effect(1, 0.1), "c": {"d": effect(2, 0.2)}}, "sizes": [1, 2], "e": {"mean": 3.0}}
    assert dict(effects_in(figures)) == {("a", "b"): effect(1, 0.1), ("a", "c", "d"): effect(2, 0.2)}


def test_all_answers_of_a_page_are_tested_together() -> None:
    """Holm (1979): the smallest p value counts four times, the next three."""
    small, next_one = p_of_both(effect(1, 0.01), effect(1, 0.01)), p_of_both(effect(1, 0.02), effect(1, 0.02))
    first = {"x": effect(1, 0.01), "y": effect(1, 0.5)}, {"x": effect(1, 0.01), "y": effect(1, 0.5)}
    other = {"x": effect(1, 0.02), "y": effect(1, 0.5)}, {"x": effect(1, 0.02), "y": effect(-1, 0.5)}
    found = replicated({"first": first, "other": other})
    assert found == pytest.approx(
        {("first", "x"): 4 * small, ("first", "y"): 1, ("other", "x"): 3 * next_one, ("other", "y"): 1}
    )


def test_answers_to_different_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="the two answers of name test different effects"):
        replicated({"name": ({"x": effect(1, 0.1)}, {"y": effect(1, 0.1)})})


def test_a_sign_is_told_where_the_p_value_is_small() -> None:
    assert [sign_of(effect(mean, 0.0), p) for mean, p in ((2.0, 0.04), (-2.0, 0.04), (2.0, 0.06))] == [1, -1, 0]


def test_without_effects_a_page_is_wrong_in_one_case_of_twenty_at_most() -> None:
    """Samples of nothing, on two seeds: how often does any of two hundred effects hold?"""
    random = np.random.default_rng(0)

    def answer() -> Mapping[str, Any]:
        return effects_of({str(name): random.normal(size=12) for name in range(200)})

    pages = 60
    wrong = sum(min(replicated({"page": (answer(), answer())}).values()) < 0.05 for _ in range(pages))
    assert wrong <= 0.05 * pages


def test_samples_that_are_tested_together_have_both_p_values() -> None:
    found = effects_of({"a": np.array([1.0, 1.1, 0.9]), "b": np.array([1.0, -1.0, 0.1])})
    assert found["a"]["p"] == pytest.approx(2 * found["a"]["p alone"])
    assert found["b"]["p"] == found["b"]["p alone"] > 0.05
    assert found["a"]["low"] < found["a"]["mean"] == 1 < found["a"]["high"]
