"""The text of a position as entries, before anything is made of them, and the error of a faulty text."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from krypenv.cards import parse_card
from krypenv.inputs.words import check_text, shown

AnyEntries = TypeVar("AnyEntries", bound="Entries")
LINE_END = re.compile(r"\r\n|\r|\n")


class NotationError(ValueError):
    """A text that is not a position or a record; the message begins with the line, which is also in `line`."""

    def __init__(self, line: int, reason: object) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line


def key_of(part: str) -> str:
    """Extract the key of an entry ``key: value``, in lower case and with single spaces."""
    key = part.partition(":")[0]
    return " ".join((key.lower() if key.isascii() else key).split())


def is_record(text: str) -> bool:
    """Check whether a text is a record, which begins with a tag, and not a position."""
    return check_text(text, "a record").lstrip().startswith("[")


class Entries:
    """The entries of a position's text, or the tags of a record: each key with its line and its value."""

    def __init__(self, entries: dict[str, tuple[int, str]], last_line: int) -> None:
        self.entries, self.last_line = entries, last_line

    @classmethod
    def read(cls: type[AnyEntries], text: str) -> AnyEntries:
        """Read the entries ``key: value`` of a position's text."""
        entries = cls({}, 1)
        for line, words in enumerate(LINE_END.split(check_text(text, "a position")), start=1):
            for part in filter(str.strip, words.partition("#")[0].split(";")):
                _, colon, value = part.partition(":")
                key, entries.last_line = key_of(part), line
                if not colon:
                    raise NotationError(line, f"{shown(part.strip())} is no entry; an entry is 'key: value'")
                entries.check(key not in entries.entries, "", f"{shown(key)} is already in line {entries.line_of(key)}")
                entries.entries[key] = line, value.strip()
        return entries

    def line_of(self, key: str) -> int:
        """Find the line of an entry, or the last line if it is missing."""
        return self.entries.get(key, (self.last_line,))[0]

    def fail(self, key: str, reason: object) -> NotationError:
        """Make the error of an entry, or of the whole text if the entry is missing."""
        return NotationError(self.line_of(key), reason)

    def check(self, holds: Any, key: str, reason: str) -> None:
        """Raise the error of an entry unless a condition holds."""
        if not holds:
            raise self.fail(key, reason)

    def value(self, key: str) -> str:
        """Get the text of an entry; empty for ``-`` or if it is missing."""
        text = self.entries.get(key, (0, ""))[1]
        return "" if text == "-" else text

    def numbers(self, key: str, count: int, default: int = 0, most: int | None = None) -> list[int]:
        """Parse the `count` whole numbers of an entry; each is the default if the entry is missing.

        With `most` they are from 0 to that.
        """
        words = self.value(key).split()
        if not words:
            return [default] * count
        is_read = len(words) == count and all(re.fullmatch(r"-?[0-9]{1,20}", word) for word in words)
        numbers = [int(word) for word in words] if is_read else []
        if not is_read or (most is not None and not 0 <= min(numbers) <= max(numbers) <= most):
            within, said = "" if most is None else f" from 0 to {most}", shown(" ".join(words))
            raise self.fail(key, f"{key!r} takes {count} whole number{'s' * (count > 1)}{within}, not {said}")
        return numbers

    def parse_cards(self, key: str) -> list[int]:
        """Parse the card kinds of an entry."""
        try:
            return [parse_card(name) for name in self.value(key).split()]
        except ValueError as error:
            raise self.fail(key, error) from None
