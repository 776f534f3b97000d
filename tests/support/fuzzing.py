"""Fuzzing: mutants of what is right give a right result or one sentence, and nothing else.

A fuzzer is a property of what strategies of hypothesis draw, registered by `fuzzer` under its module and name.
`tests/package/test_fuzz.py` tries all of them on a few examples, `make soak` on many new ones.
"""

from __future__ import annotations

import contextlib
import copy
import faulthandler
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.strategies import SearchStrategy

Tally = Counter[str]  # "right" and "refused", and whatever else a fuzzer counts

HANGS = 600.0  # seconds of one example
LONGEST_SENTENCE = 1500  # characters
NASTY_WORDS = (
    "", "-", "--", "0", "1", "-1", "3", "127", "128", "255", "1000", "99999999999999999999", "1e999", "nan", "inf",
    "None", "True", "[]", "{}", "()", "{[]:1}", "(((", ")))", "-" * 200, "9" * 5000, "٣", "\u212a", "K\u0131",
    "\x00", "\ud800", "\u2028", "\r", "\t", "\n", "=", ":", ";", "#", "##", "x", "..", "*", "rest", "players=2",
    "name=3", "cls=3", "'", '"', "\\", "10♦", "AS", "ZZ", "play", "take",
)  # fmt: skip
NASTY_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 127, 2**31, 2**63, -(2**63), 2**64, 10**30, 0.5, -1.5, 1e308, float("inf"),
    float("nan"), "", "x", "2", "nan", [], [0], [[]], [None], {}, {"": 0}, "\u212a", "9" * 5000,
)  # fmt: skip


def check_sentence(error: BaseException, what: Any) -> None:
    """Assert that an error tells what is wrong in one sentence."""
    text = str(error)
    assert text.strip(), f"{type(error).__name__} without a word, for {what!r:.300}"
    assert len(text.splitlines()) == 1, f"{type(error).__name__} of several lines, {text!r:.300}, for {what!r:.300}"
    assert len(text) <= LONGEST_SENTENCE, f"{type(error).__name__} of {len(text)} characters, {text!r:.200}"
    assert text.isprintable(), f"unprintable: {text!r:.300}, for {what!r:.300}"


REFUSED = object()


def attempt(call: Callable[[], Any], tally: Tally, what: Any) -> Any:
    """Return what a call gives, or REFUSED where it raises a ValueError of one sentence; any other error goes on.

    `what` is told where the sentence is none.
    """
    try:
        result = call()
    except ValueError as error:
        check_sentence(error, what)
        tally["refused"] += 1
        return REFUSED
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error!s:.300}, for {what!r:.600}") from error
    tally["right"] += 1
    return result


# ---------------------------------------------------------------------- fuzzers

FUZZERS: dict[str, Callable[[int], Tally]] = {}  # by module and name, as in "text.rules": tries so many examples
seeded = st.randoms(use_true_random=True)  # for long play: one number stands for all that is random


def fuzzer(
    share: float = 1.0,
    name: str = "",
    within: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext,
    **drawn: SearchStrategy[Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a property of a tally and of what is drawn as a fuzzer.

    Args:
        share: its examples for each one of other fuzzers; fewer where one takes long.
        name: that of the module and of the property unless given.
        within: what is set up for all examples.
        drawn: the strategies of its arguments.
    """

    def register(holds: Callable[..., None]) -> Callable[..., None]:
        def run(examples: int) -> Tally:
            tally = Tally()

            @settings(
                max_examples=max(1, round(share * examples)), deadline=None, suppress_health_check=list(HealthCheck)
            )
            @given(**drawn)
            def try_one(**values: Any) -> None:
                with watchdog():
                    holds(tally, **values)

            with within():
                try_one()
            return tally

        FUZZERS[name or f"{holds.__module__.removeprefix('fuzz.')}.{holds.__name__}"] = run
        return holds

    return register


@contextlib.contextmanager
def watchdog() -> Iterator[None]:
    """End the process, with a traceback of what hangs, unless the block is over in time (in a kernel too)."""
    faulthandler.dump_traceback_later(HANGS, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def mutants(known: SearchStrategy[str] | Sequence[str], words: Sequence[str] = ()) -> SearchStrategy[str]:
    """Texts with one to three changes (`mutate_text`)."""
    texts = known if isinstance(known, SearchStrategy) else st.sampled_from(known)
    return st.builds(partial(mutate_text, words=words), texts, st.randoms())


# ---------------------------------------------------------------------- mutations


def mutate_text(text: str, rng: random.Random, words: Sequence[str] = ()) -> str:
    """Return a text with one to three changes: characters, words or lines lost, doubled, swapped or strange."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = "".join(mutate_parts(_split(text, rng), rng, words))
    return text


def mutate_parts(parts: list[str], rng: random.Random, words: Sequence[str] = ()) -> list[str]:
    """Return parts of a text with one of them lost, doubled, swapped or strange, or with all after it lost."""
    if not parts:
        return [rng.choice(NASTY_WORDS)]
    at, other, kind = rng.randrange(len(parts)), rng.randrange(len(parts)), rng.randrange(7)
    if kind == 0:
        del parts[at]
    elif kind == 1:
        parts.insert(at, parts[other])
    elif kind == 2:
        parts[at], parts[other] = parts[other], parts[at]
    elif kind == 3:
        parts[at] = rng.choice(NASTY_WORDS)
    elif kind == 4:
        parts.insert(at, rng.choice([*words, *NASTY_WORDS]))
    elif kind == 5:
        parts[at] = rng.choice([*words, parts[at].swapcase()])
    else:
        del parts[at:]
    return parts


def _split(text: str, rng: random.Random) -> list[str]:
    """Return a text in characters, words or lines; joined they are the text."""
    kind = rng.randrange(3)
    if kind == 0:
        return list(text)
    if kind == 1:
        return text.splitlines(keepends=True)
    parts, last = [], ""
    for character in text:
        if parts and character.isalnum() and last.isalnum():
            parts[-1] += character
        else:
            parts.append(character)
        last = character
    return parts


def mutate_json(value: Any, rng: random.Random) -> Any:
    """Return JSON values with one place somewhere in them changed: another value, type or size, or gone."""
    value = copy.deepcopy(value)
    holder: list[Any] = [value]
    container: Any = holder
    key: Any = 0
    while True:
        inner = container[key]
        if not isinstance(inner, (dict, list)) or not inner or rng.random() < 0.15:
            break
        container, key = inner, rng.choice(list(inner)) if isinstance(inner, dict) else rng.randrange(len(inner))
    kind = rng.randrange(6)
    old = container[key]
    if kind == 0 and container is not holder:
        del container[key]
    elif kind == 1 and isinstance(container, list) and container is not holder:
        container.insert(key, copy.deepcopy(rng.choice(container)))
    elif kind == 2 and isinstance(container, dict):
        container[rng.choice(["", "x", key + "x", *container])] = rng.choice(NASTY_VALUES)
    elif kind == 3 and isinstance(old, (int, float)) and not isinstance(old, bool):
        container[key] = rng.choice([old + 1, old - 1, -old, float(old), str(old), [old], old * 10**20])
    else:
        container[key] = copy.deepcopy(rng.choice(NASTY_VALUES))
    return holder[0]


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with some bits or parts changed, lost, doubled or added."""
    data = bytearray(data)
    kind = rng.randrange(5)
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 1, 2, 8, 64, 1000)))
    if kind == 0 and at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[at:end]
    elif kind == 2:
        data[at:at] = data[at:end]
    elif kind == 3:
        del data[at:]
    else:
        data[at:at] = rng.randbytes(rng.choice((1, 4, 100)))
    return bytes(data)
