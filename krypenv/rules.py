"""The rulebook as data: a frozen `Rules`, with a preset for each description; the ids are those of docs/rulings.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from krypenv.families.bounds import check_bounds
from krypenv.families.field_checks import find_fault
from krypenv.families.fields import Fields
from krypenv.families.points import format_points, parse_value
from krypenv.families.random_rules import redraw
from krypenv.families.variants import PRESETS
from krypenv.inputs.words import check_keywords, check_name, check_text, shown
from krypenv.observation import layout_of

MAX_HAND = 26  # cards in a hand, at most


@dataclass(frozen=True)
class Rules(Fields):
    """The rules of a game. The defaults are the main rulebook for two players.

    Make them with `Rules.preset` or the constructor. Both raise ValueError, with the reason, for rules that can't be
    played.

    >>> Rules.preset("krypkasino", players=4, teams=2).total_points
    42
    """

    # ------------------------------------------------------------------ presets and text

    @classmethod
    def preset(cls, name: str = "krypkasino", **fields: Any) -> Rules:
        """Make the rules of a preset with some fields changed; `Rules.presets()` lists the names.

        Raises ValueError for an unknown preset and for rules that can't be played, and TypeError for an unknown field.
        """
        check_keywords("Rules.preset", fields, FIELDS)
        return cls._depart(name, fields)

    @classmethod
    def _depart(cls, name: str, fields: dict[str, Any]) -> Rules:
        """Make the rules of a preset from a text's fields, of which an unknown one raises ValueError."""
        check_name("preset", name, PRESETS)
        unknown = sorted(set(fields) - set(FIELDS))
        if unknown:
            raise ValueError(f"rules have no field {shown(unknown[0])}; the fields are {', '.join(sorted(FIELDS))}")
        return cls(**{"name": name, **PRESETS[name], **fields})

    def replace(self, **fields: Any) -> Rules:
        """Copy these rules with some fields changed; raise ValueError and TypeError as `preset` does.

        >>> Rules.preset("howto").replace(players=3).players
        3
        """
        check_keywords("Rules.replace", fields, FIELDS)
        return dataclasses.replace(self, **fields)

    @staticmethod
    def presets() -> list[str]:
        """List the names of all presets."""
        return list(PRESETS)

    @classmethod
    def random(cls, rng: np.random.Generator | int, name: str | None = None, **fields: Any) -> Rules:
        """Draw random rules: any preset with a few, many or all of its fields drawn within their bounds.

        Args:
            rng: a numpy generator or a seed.
            name: the preset; a random one if not given.
            fields: fields that are not drawn.

        Raises ValueError and TypeError as `preset` does.

        >>> Rules.random(7) == Rules.random(7)
        True
        """
        rng = np.random.default_rng(rng)
        chosen = name or list(PRESETS)[rng.integers(len(PRESETS))]
        return redraw(cls.preset(chosen, **fields), set(fields), rng)

    def __str__(self) -> str:
        """Format the preset and the fields that differ from it, as in ``krypkasino players=4 teams=2``."""
        base = PRESETS.get(self.name, {})
        words = [self.name, f"players={self.players}"]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name not in ("name", "players") and value != base.get(field.name, field.default):
                words.append(f"{field.name}={repr(value).replace(' ', '')}".replace("'", ""))
        return " ".join(words)

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Parse a text of the form of `str(rules)`; raise ValueError if it is not such a text."""
        name, *words = check_text(text, "rules").split() or [""]
        if "=" in name:
            raise ValueError(
                f"the rules {shown(text)} begin with a field; a preset comes first, as in krypkasino players=4"
            )
        fields: dict[str, Any] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                raise ValueError(f"{shown(word)} in the rules {shown(text)} is no field; a field is written players=4")
            if key in fields:
                raise ValueError(f"the field {shown(key)} appears in the rules {shown(text)} more than once")
            fields[key] = parse_value(value)
        return cls._depart(name, fields)

    # ------------------------------------------------------------------ what is observed

    @cached_property
    def layout(self) -> dict[str, slice]:
        """The named blocks of an observation, as slices of it; the first ones are the same for all rules."""
        return layout_of(self)

    @cached_property
    def observation_size(self) -> int:
        """N, the number of entries of an observation without the features."""
        return max(block.stop for block in self.layout.values())

    # ------------------------------------------------------------------ checks

    def __post_init__(self) -> None:
        check_name("preset", self.name, PRESETS)
        fields = [field.name for field in dataclasses.fields(self)]
        for name in fields:
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        object.__setattr__(self, "custom_points", format_points(self.custom_points))
        if reason := find_fault(self):
            raise ValueError(reason)
        self._check_deal()

    def _check_deal(self) -> None:
        first, later = self._cards_in(self.first_batches), self._cards_in(self.later_deal)
        if first > self.deck_size:
            raise ValueError(f"the first deal takes {first} cards, and the deck has {self.deck_size}")
        rest = (self.deck_size - first) % later
        if rest and not self.short_last_deal:
            raise ValueError(
                f"this deck can't be dealt: of {self.deck_size} cards {first} go into the first deal and {later} into "
                f"each later one, which leaves {rest}; change the deck or the deals, or set short_last_deal=True"
            )
        if max(max(hands) for hands, _ in self.deal_sizes()) > MAX_HAND:
            raise ValueError(f"a hand may have at most {MAX_HAND} cards; deal fewer at a time")
        check_bounds(self)


FIELDS = tuple(field.name for field in dataclasses.fields(Rules) if field.name != "name")  # that `Rules.preset` takes


RulesLike: TypeAlias = Rules | str | Mapping[str, Any]  # rules, their text, or a preset's name and its fields


def as_rules(rules: Any = None) -> Rules:
    """Convert rules, their text, or a mapping of a preset's name and fields, as from JSON, to rules.

    Without any, return those of Krypkasino for two. Raises ValueError for anything else.

    >>> as_rules("krypkasino players=3") == as_rules({"name": "krypkasino", "players": 3})
    True
    """
    if rules is None:
        return Rules()
    if isinstance(rules, Mapping):
        given = {str(key): value for key, value in rules.items()}
        return Rules._depart(given.pop("name", Rules.name), given)
    if isinstance(rules, str):
        return Rules.parse(rules)
    if not isinstance(rules, Rules):
        raise ValueError(f"rules are those of Rules.preset or Rules.parse, not {shown(rules)}")
    return rules


def _frozen(value: Any, depth: int = 3) -> Any:
    """Convert a value to the plain Python that `str(rules)` and `Rules.parse` handle, if possible."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item, depth - 1) for item in value) if depth else value
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return str.__str__(value) if isinstance(value, str) else value
