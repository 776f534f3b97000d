"""Words from outside: how messages quote them, and how values are read from them."""

from __future__ import annotations

import difflib
import operator
import reprlib
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

TOOLBOXES = ("rllib", "tianshou", "toolboxes", "torchrl", "video")  # extras that need other versions
LANGUAGE = ("language", "openenv", "verifiers")  # and others that do
LONGEST_VALUE = 80  # characters of a value in a message
LONGEST_NAME = 200  # characters of a text from outside on a page

_SHORTENED = reprlib.Repr()
_SHORTENED.maxstring = _SHORTENED.maxlong = _SHORTENED.maxother = LONGEST_VALUE
_SHORTENED.maxlevel, _SHORTENED.maxtuple, _SHORTENED.maxlist = 3, 13, 13


def shown(value: Any) -> str:
    """Quote a value in a message: its `repr` on one line, shortened in its middle.

    >>> shown("8S"), len(shown("8S" * 1_000_000))
    ("'8S'", 80)
    """
    try:
        return one_line(_SHORTENED.repr(value), LONGEST_VALUE)
    except ValueError:  # a number with more digits than Python writes
        return f"<{type(value).__name__} with a number of too many digits>"


def printable(text: str) -> str:
    r"""Escape all unprintable characters of a text.

    >>> printable("a\u202eb")
    'a\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def one_line(text: str, longest: int = 300) -> str:
    """Join the lines of a text to one, of at most `longest` characters: a longer one loses its middle."""
    text = printable(" ".join(text.split()))
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def describe_error(error: BaseException) -> str:
    """Describe an exception on one line, as in "raised ValueError: no rows", even if its text raises another."""
    try:
        return one_line(f"raised {type(error).__name__}: {error}").removesuffix(":")
    except BaseException as other:
        if type(other) is KeyboardInterrupt:
            raise
        return one_line(f"raised {type(error).__name__}, whose text can't be read")


def to_install(extra: str) -> str:
    """Tell how to install an extra; krypenv itself comes from its checkout, and from no package index.

    >>> to_install("train")
    'in the checkout of krypenv, run pip install -c constraints.txt -e ".[train]"'
    """
    versions = "-toolboxes" if extra in TOOLBOXES else "-language" if extra in LANGUAGE else ""
    return f'in the checkout of krypenv, run pip install -c constraints{versions}.txt -e ".[{extra}]"'


def command_line(*words: str) -> str:
    """Join words to a line that a shell splits into them: as `shlex.join`, with double quotes where they are safe.

    >>> print(command_line("krypenv", "table", "learned(model='runs/mine')"))
    krypenv table "learned(model='runs/mine')"
    """
    return " ".join(
        f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word) for word in words
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Hint at the known name closest to a word; "" if none is close.

    >>> did_you_mean("greddy", ["greedy", "random"])
    " (did you mean 'greedy'?)"
    """
    close = difflib.get_close_matches(word[:80], list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def check_name(what: str, name: Any, known: Iterable[str], of: str = "") -> None:
    """Raise ValueError unless a name is one of the known presets, variants, ... of something."""
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(name, known) if isinstance(name, str) else ""
        raise ValueError(f"unknown {what} {shown(name)}{hint}; the {what}s{of} are {', '.join(known)}")


def check_keywords(call: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise TypeError, as Python does, for the first unknown keyword of a call."""
    for word in given:
        if word not in known:
            hint = did_you_mean(word, known)
            raise TypeError(
                f"{call}() got an unexpected keyword argument {shown(word)}{hint}; it takes {', '.join(known)}"
            )


def is_whole(value: Any, low: int, high: int) -> bool:
    """Test whether a value is a whole number of Python or numpy within bounds; True and False are not."""
    if type(value) is int:  # the common case
        return low <= value <= high
    if isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b":  # an index until numpy 2
        return False
    try:
        return low <= operator.index(value) <= high
    except (TypeError, ValueError):
        return False


def check_text(text: Any, what: str) -> str:
    """Remove the byte order mark of a text, which some editors write; raise ValueError for anything else."""
    if not isinstance(text, str):
        raise ValueError(f"{what} is a text, not {shown(text)}")
    return text.removeprefix("\ufeff")
