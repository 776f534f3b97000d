"""What all fuzzers share: a right result or one sentence is accepted, anything else is not; and mutations.

A fuzzer is a function of a seed and a number of mutants that returns a tally of what came of them. Each module
`fuzz_*.py` has a dict `FUZZERS` of them; `test_fuzz.py` runs all for a moment, `tools/soak.py` for long.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Tally = Counter[str]  # "right" and "refused", and whatever else a fuzzer counts
Fuzzer = Callable[[int, int], Tally]  # (seed, mutants)

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


# ---------------------------------------------------------------------- mutations


def mutate_text(text: str, rng: random.Random, words: Sequence[str] = ()) -> str:
    """Return a text with one to three changes: characters, words or lines lost, doubled, swapped or strange."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        parts = _split(text, rng)
        if not parts:
            return rng.choice(NASTY_WORDS)
        at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
        kind = rng.randrange(7)
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
        text = "".join(parts)
    return text


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
