"""Fuzzing: what is right and what is damaged gives a right result or one sentence, and nothing else.

A fuzzer is a property of what strategies of hypothesis draw, which `fuzz` makes a test of.
"""

from __future__ import annotations

import contextlib
import copy
import faulthandler
import inspect
import random
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.strategies import SearchStrategy

HANGS = 600.0  # seconds of one example, after which the process is ended with a traceback
LONGEST_SENTENCE = 1500  # characters
NASTY_WORDS = (
    "", "-", "--", "0", "1", "-1", "3", "127", "128", "255", "1000", "99999999999999999999", "1e999", "nan", "inf",
    "None", "True", "[]", "{}", "()", "{[]:1}", "(((", ")))", "-" * 200, "[" * 2000, "9" * 5000, "٣", "\u212a",
    "K\u0131", "\x00", "\ud800", "\ufeff", "\u2028", "\r", "\t", "\n", "=", ":", ";", "#", "##", "x", "..", "*", "rest",
    "players=2", "name=3", "cls=3", "'", '"', "\\", "10♦", "AS", "ZZ", "play", "take",
)  # fmt: skip
NASTY_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 127, 2**31, 2**63, -(2**63), 2**64, 10**30, 0.5, -1.5, 1e308, float("inf"),
    float("nan"), "", "x", "2", "nan", [], [0], [[]], [None], {}, {"": 0}, "\u212a", "9" * 5000,
)  # fmt: skip
ODD: tuple[Any, ...] = (  # values of every kind
    *NASTY_VALUES, *NASTY_WORDS, 10**5000, -(10**5000), np.int8(3), np.int64(-1), np.uint64(2**64 - 1), np.bool_(True),
    np.float64(1), np.str_("8S"), np.array(3), np.array([]), np.array([1, 2]), np.array([[0]]), np.array([None]),
    np.array(["AS"]), np.array([2**63], np.uint64), np.zeros((2, 105)), b"8S", {1}, 1j, range(3), object(), dict,
    lambda: 0, ("AS",), (((),),), "x" * 100_000, "-" * 100_000, ["AS"] * 1000,
)  # fmt: skip
REFUSED = object()
OUTCOMES: set[str] = set()  # of the examples of a test: "right" and "refused"


def check_sentence(error: BaseException, what: Any) -> None:
    """Assert that an error tells what is wrong in one sentence."""
    text = str(error)
    is_sentence = text.strip() and text.isprintable() and len(text) <= LONGEST_SENTENCE
    assert is_sentence, f"{type(error).__name__} says {text!r:.300}, for {what!r:.300}"


def refusal(call: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return the sentence with which something is refused."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        call(*args, **kwargs)
    check_sentence(caught.value, args)
    return str(caught.value)


def attempt(call: Callable[[], Any], what: Any) -> Any:
    """Return what a call gives, or REFUSED where it raises a ValueError of one sentence; any other error goes on."""
    try:
        result = call()
    except ValueError as error:
        check_sentence(error, what)
        OUTCOMES.add("refused")
        return REFUSED
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error!s:.300}, for {what!r:.600}") from error
    OUTCOMES.add("right")
    return result


seeded = st.randoms(use_true_random=True)  # for long play: one number stands for all that is random


def fuzz(
    share: float = 1.0, within: Callable[[], Any] = contextlib.nullcontext, **drawn: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a test of a property of what is drawn, with `share` times as many examples as others.

    It tries few examples; with `-m slow` many, some of which must be right, and some refused. `make soak` tries new
    ones for an hour.
    """

    def decorate(holds: Callable[..., None]) -> Callable[..., None]:
        @pytest.mark.parametrize("part", [0.05, pytest.param(0.5, marks=pytest.mark.slow)], ids=["few", "many"])
        def test(part: float, **case: Any) -> None:
            examples = max(1, round(part * share * settings.default.max_examples))

            @settings(max_examples=examples, deadline=None, suppress_health_check=[*HealthCheck])
            @given(**drawn)
            def try_one(**values: Any) -> None:
                faulthandler.dump_traceback_later(HANGS, exit=True, file=sys.__stderr__)
                holds(**case, **values)

            OUTCOMES.clear()
            with within():
                try_one()
            faulthandler.cancel_dump_traceback_later()
            assert part < 0.5 or len(OUTCOMES) != 1

        own = [each for name, each in inspect.signature(holds).parameters.items() if name not in drawn]
        part = inspect.Parameter("part", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        test.__signature__ = inspect.Signature([part, *own])  # type: ignore[attr-defined]
        test.__doc__, test.__name__ = holds.__doc__, holds.__name__
        return test

    return decorate


# ---------------------------------------------------------------------- damage


def mutate_parts(parts: Sequence[Any], rng: random.Random, odd: Sequence[Any] = NASTY_WORDS) -> list[Any]:
    """Return parts with some of them lost, doubled, swapped or strange, or with all after them lost."""
    at, other = sorted((rng.randrange(len(parts) + 1), rng.randrange(len(parts) + 1)))
    end, parts, strange = at + rng.choice((1, 1, 1, 2, 9, 99)), [*parts], rng.choice(odd)
    return rng.choice((
        [*parts[:at], *parts[end:]],
        [*parts[:end], *parts[at:]],
        [*parts[:at], *parts[other : other + 1], *parts[at + 1 : other], *parts[at : at + 1], *parts[other + 1 :]],
        [*parts[:at], strange, *parts[at + 1 :]],
        [*parts[:at], strange, *parts[at:]],
        parts[:at],
    ))  # fmt: skip


def mutate_text(text: str, rng: random.Random, words: Sequence[str] = ()) -> str:
    """Return a text with one to three changes of characters, words, lines or letters' cases."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        parts = rng.choice((list(text), text.splitlines(keepends=True), re.findall(r"\w+|\W", text)))
        odd = rng.choice((words or NASTY_WORDS, NASTY_WORDS, [rng.choice([text, *parts]).swapcase()]))
        text = "".join(mutate_parts(parts, rng, odd))
    return text


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes of which some are changed, or those of the text that they are, changed or encoded in another way."""
    if rng.random() < 0.5:
        return bytes(mutate_parts(data, rng, range(256)))
    text = data.decode("utf-8", "replace")
    if rng.random() < 0.1:
        return text.encode(rng.choice(("utf-16", "utf-8-sig", "utf-7")))
    return mutate_text(text, rng).encode("utf-8", "surrogatepass")


def mutate_json(value: Any, rng: random.Random) -> Any:
    """Return JSON values with one place in them changed: another value, type or size, or lost, doubled or swapped."""
    if isinstance(value, (dict, list)) and value and rng.random() < 0.85:
        key = rng.choice([*value] if isinstance(value, dict) else range(len(value)))
        inner = mutate_json(value[key], rng)
        return {**value, key: inner} if isinstance(value, dict) else [*value[:key], inner, *value[key + 1 :]]
    odd = copy.deepcopy(NASTY_VALUES)
    if isinstance(value, list) and rng.random() < 0.5:
        return mutate_parts(value, rng, odd)
    if isinstance(value, dict) and rng.random() < 0.5:
        pairs = mutate_parts([*value.items()], rng, [(key, rng.choice(odd)) for key in ("", "x", *value)])
        return dict(pairs)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and rng.random() < 0.5:
        return rng.choice([value + 1, value - 1, -value, float(value), str(value), [value], value * 10**20])
    return rng.choice(odd)
