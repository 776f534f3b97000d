"""Words of others in a sentence: on one line, printable and not too long."""

from __future__ import annotations

from typing import Any


def printable(text: str) -> str:
    r"""Return a text with everything that can't be printed as an escape.

    >>> printable("a\u202eb")
    'a\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def one_line(text: str, longest: int = 300) -> str:
    """Return a text on one line of so many characters at most: spaces for line breaks, the middle of a long one out."""
    text = printable(" ".join(text.split()))
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def told(value: Any, longest: int = 80) -> str:
    """Return a value as it stands in a sentence, whatever it is.

    >>> told("x"), told(10**5000)
    ("'x'", 'an object of type int')
    """
    try:
        return one_line(repr(value), longest)
    except Exception:  # of a repr that fails, or of a number with too many digits
        return f"an object of type {one_line(type(value).__name__, longest)}"
