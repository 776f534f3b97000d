"""Checks of plain values from a file: types, lengths and bounds. An error says where the wrong value is.

A check is a function of a value and of its place, such as ``scores[3]``. It raises ValueError, naming both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from krypenv.inputs.words import one_line, shown

Check = Callable[[Any, str], None]
LONGEST = 600  # characters of a sentence
HUGE = 2**53  # floats are exact for whole numbers up to here


def wrong(value: Any, place: str, wanted: str) -> ValueError:
    """Return the error for a value that is not what is wanted at its place."""
    return ValueError(f"{place or 'all of it'} is to be {wanted}, not {shown(value)}")


def sentence_of(error: Exception) -> str:
    """Return an error's message on one line, shortened, whatever texts of a file it quotes."""
    return one_line(str(error), LONGEST)


def whole(low: int = -HUGE, high: int | None = HUGE) -> Check:
    """Check for a whole number within bounds; a `high` of None is no bound. True and False are not numbers."""
    wanted = f"a whole number from {low} {'on' if high is None else f'to {high}'}"

    def check(value: Any, place: str) -> None:
        if type(value) is not int or value < low or (high is not None and value > high):
            raise wrong(value, place, wanted)

    return check


def number(low: float = -1e15, high: float = 1e15) -> Check:
    """Check for a number within bounds, which may be infinite."""

    def check(value: Any, place: str) -> None:
        if type(value) not in (int, float) or not low <= value <= high:
            raise wrong(value, place, f"a number from {low:g} to {high:g}")

    return check


def text(value: Any, place: str) -> None:
    """Check for a text."""
    if type(value) is not str:
        raise wrong(value, place, "a text")


def line(value: Any, place: str) -> None:
    """Check for a text on one line."""
    if type(value) is not str or not value.isprintable():
        raise wrong(value, place, "a text on one line")


def matching(pattern: str, what: str) -> Check:
    """Check for a text that a regular expression matches as a whole."""

    def check(value: Any, place: str) -> None:
        if type(value) is not str or not re.fullmatch(pattern, value):
            raise wrong(value, place, what)

    return check


def flag(value: Any, place: str) -> None:
    """Check for True or False."""
    if type(value) is not bool:
        raise wrong(value, place, "true or false")


def optional(check: Check) -> Check:
    """Check for null or for what another check accepts."""
    return lambda value, place: None if value is None else check(value, place)


def a_list(check: Check, least: int = 0, most: int = HUGE) -> Check:
    """Check for a list of `least` to `most` items."""

    def check_all(value: Any, place: str) -> None:
        if type(value) is not list or not least <= len(value) <= most:
            size = f"{least}" if least == most else f"{least} or more" if most == HUGE else f"{least} to {most}"
            raise wrong(value, place, f"a list of {size} items")
        for at, each in enumerate(value):
            check(each, f"{place}[{at}]")

    return check_all


def a_table(check: Check) -> Check:
    """Check for an object whose keys are any texts on one line."""

    def check_all(value: Any, place: str) -> None:
        if type(value) is not dict:
            raise wrong(value, place, "an object")
        for key, each in value.items():
            line(key, f"a key of {place}" if place else "a key")
            check(each, f"{place}.{key}" if place else key)

    return check_all


def a_record(needed: dict[str, Check], others: dict[str, Check] | None = None, more: bool = True) -> Check:
    """Check for an object with all `needed` keys and any of the `others`; with `more`, also with unknown ones."""
    checks = {**needed, **(others or {})}

    def check_all(value: Any, place: str) -> None:
        if type(value) is not dict:
            raise wrong(value, place, "an object")
        prefix = f"{place}." if place else ""
        for key in needed:
            if key not in value:
                raise ValueError(f"{prefix}{key} is missing")
        for key, each in value.items():
            if key in checks:
                checks[key](each, prefix + key)
            elif not more:
                raise ValueError(f"{prefix}{shown(key)} is not known; the keys are {', '.join(checks)}")

    return check_all
