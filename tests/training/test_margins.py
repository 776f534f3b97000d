"""A margin and its interval are signed, from the view of the agent that is named."""

from __future__ import annotations

import math

import pytest

from krypenv.training.evaluation.matches.margins import format_margin, margin_cells
from krypenv.training.exploiting.exploiting import Exploiter, ExploitResult


def test_a_margin_and_its_bounds_are_signed() -> None:
    assert margin_cells(0.4, -0.8, 1.5) == ("+0.40", "-0.80 to +1.50")
    assert format_margin(-0.4, -1.5, 0.8, 1, " points a game", "; so") == "-0.4 points a game (-1.5 to +0.8; so)"


@pytest.mark.parametrize("bounds", [(None, None), (-math.inf, math.inf)])
def test_a_single_deal_has_no_interval(bounds: tuple[float | None, float | None]) -> None:
    assert format_margin(3, *bounds) == "+3.00 (no interval)"


@pytest.mark.parametrize(("margin", "low", "high"), [(0.4, -0.8, 1.5), (-0.4, -1.5, 0.8)])
def test_what_an_exploiter_found_is_signed(margin: float, low: float, high: float) -> None:
    one = Exploiter("best response", "0", "10 decisions", 1.0, margin, low, high)
    found = ExploitResult("greedy", "krypkasino", 0, (one,), 0, margin, low, high, "these", "those")
    assert format_margin(margin, low, high, unit=" points a game") in str(found)
