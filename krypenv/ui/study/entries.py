"""Entries of a position's text, changed one by one: all else stays as a person wrote it, comments too."""

from __future__ import annotations

from krypenv.notation import key_of

ORDER = (
    "rules", "deal", "dealer", "turn", "hand", "table", "build", "owner", "aside", "captured", "sweeps", "counted",
    "mulles", "mulle-scores", "last-capturer", "cannot-hold", "pending", "building", "took", "bonus", "totals", "game",
    "ended", "stock",
)  # fmt: skip


def with_entry(text: str, key: str, value: str | None) -> str:
    """Return the text of a position, whose lines end in newlines, with another value of an entry; None removes it.

    An entry that the text does not have comes to where `krypenv.game.positions` would write it.
    """
    lines, is_there, place = [], False, 0
    for line in text.split("\n"):
        words, mark, comment = line.partition("#")
        parts = words.split(";")
        kept = [part for part in parts if key_of(part) != key or value is not None]
        is_there = is_there or any(key_of(part) == key for part in parts)
        if len(kept) < len(parts) and not "".join(kept).strip() and not mark:
            continue
        lines.append(";".join(_with_value(part, key, value) for part in kept) + mark + comment)
        if any(part.strip() and _rank(key_of(part)) <= _rank(key) for part in kept):
            place = len(lines)
    if value is not None and not is_there:
        lines.insert(place, f"{key}: {value}")
    return "\n".join(lines)


def _with_value(part: str, key: str, value: str | None) -> str:
    if key_of(part) != key:
        return part
    before, after = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
    return f"{before}{key}: {value}{after}"


def _rank(key: str) -> tuple[int, int]:
    """Return where an entry stands among others."""
    word, _, number = key.partition(" ")
    place = ORDER.index(word) if word in ORDER else len(ORDER)
    return place, int(number) if number.isdecimal() and len(number) < 4 else 0
