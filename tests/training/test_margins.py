"""A margin and its interval are signed, from the view of the agent that is named."""

from __future__ import annotations

import math
import re

import pytest

from krypenv.training.evaluation.matches.margins import format_margin, margin_cells
from krypenv.training.exploiting.exploiting import Exploiter, ExploitResult

NUMBER = r"[-+−]?\d+\.\d+"
INTERVAL = re.compile(
    rf"(?<![\w.])({NUMBER})([^()|%\d]{{0,60}})\((?:95% |95% interval )?({NUMBER}) to ({NUMBER})\b(?!%)"
)
HALF_SIGNED = re.compile(r"(?<![\w.])[-+−]\d+\.\d+ to \d+\.\d")
AMOUNTS = ("credited to the dealer: ", " change hands")  # not margins: points that sweeps bring or move


def is_amount(text: str, found: re.Match[str]) -> bool:
    """Whether an interval is of an amount, which has no sign, by the words before and after it."""
    return text[: found.start()].endswith(AMOUNTS[0]) or text[found.end() :].lstrip(")").startswith(AMOUNTS[1])


def unsigned(text: str) -> list[str]:
    """The margins of a text that lack a sign, or whose bounds do, or that lie outside their bounds."""
    wrong = [found[0] for found in HALF_SIGNED.finditer(text)]
    for found in INTERVAL.finditer(text):
        numbers = [found[place].replace("−", "-") for place in (1, 3, 4)]
        mean, low, high = map(float, numbers)
        if not low <= mean <= high or not (all(each[0] in "+-" for each in numbers) or is_amount(text, found)):
            wrong.append(found[0])
    return wrong


def test_a_margin_and_its_bounds_are_signed() -> None:
    assert margin_cells(0.4, -0.8, 1.5) == ("+0.40", "-0.80 to +1.50")
    assert format_margin(-0.4, -1.5, 0.8, 1, " points a game", "; so") == "-0.4 points a game (-1.5 to +0.8; so)"


@pytest.mark.parametrize("bounds", [(None, None), (-math.inf, math.inf)])
def test_a_single_deal_has_no_interval(bounds: tuple[float | None, float | None]) -> None:
    assert format_margin(3, *bounds) == "+3.00 (no interval)"


def test_a_text_is_searched_for_signs() -> None:
    assert unsigned("loses 0.4 points a game (-0.8 to 1.5)")
    assert unsigned("-0.4 points a game (-0.8 to 1.5), or so")
    assert unsigned("| -0.8 to 1.5 |")
    assert unsigned("beats it by 2.4 points (1.2 to 3.6)")
    assert unsigned("-0.4 (+0.8 to +1.5)")
    assert not unsigned(
        "+0.4 points a game (-0.8 to +1.5); 34.6 points a game (34.2 to 35.0) change hands; 8% (7% to 9%)"
    )


@pytest.mark.parametrize(("margin", "low", "high"), [(0.4, -0.8, 1.5), (-0.4, -1.5, 0.8)])
def test_what_an_exploiter_found_is_signed(margin: float, low: float, high: float) -> None:
    one = Exploiter("best response", "0", "10 decisions", 1.0, margin, low, high)
    found = ExploitResult("greedy", "krypkasino", 0, (one,), 0, margin, low, high, "these", "those")
    assert format_margin(margin, low, high, unit=" points a game") in str(found)
    assert unsigned(str(found)) == []
