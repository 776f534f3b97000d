"""Which cards count alike, and which kinds have a value from the hand: read from the rules, for all texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from krypenv.cards import ACE, SPADES, card_name, card_of, parse_card, rank_of, suit_of
from krypenv.families.bounds import LILLAN, STORAN, capture_values
from krypenv.kernels.compiled import find_groups, pack_ranks
from krypenv.rules import Rules

SPADE_ACE = card_of(ACE, SPADES)
_SUITS = ("clubs", "diamonds", "hearts", "spades")
_MOST_SPLIT = 12  # cards that are split into groups


class CardClass(NamedTuple):
    """Cards that count the same."""

    name: str  # a card's, or the class's as keys of catalogues end
    kinds: tuple[int, ...]
    points: int


def counting_cards(rules: Rules) -> list[CardClass]:
    """Classify the cards that count points, and those that count none where others like them do."""
    classes: dict[str, list[int]] = {}
    deck = np.flatnonzero(rules.deck_counts).tolist()
    for kind in (STORAN, LILLAN, SPADE_ACE, *deck):
        if kind in deck and not any(kind in kinds for kinds in classes.values()):
            classes.setdefault(_class_of(rules, kind), []).append(kind)
    classes.pop("", None)
    found = []
    for name, kinds in sorted(classes.items(), key=lambda item: item[0] in ("aces", *_SUITS)):
        alike = [kind for kind in deck if name in ("aces" if rank_of(kind) == ACE else "", _SUITS[suit_of(kind)])]
        is_part = any(kind not in kinds for kind in alike)
        found.append(CardClass(f"other_{name}" if is_part else name, tuple(kinds), int(rules.card_points[kinds[0]])))
    return found


def _class_of(rules: Rules, kind: int) -> str:
    """Name the class of a kind: aces, a suit or the card alone; empty for a card that counts nothing."""
    points, suit = int(rules.card_points[kind]), suit_of(kind)
    if rules.custom_points:
        of_suit = Counter(rules.card_points[[card_of(rank, suit) for rank in rules.ranks]].tolist())
        common, times = of_suit.most_common(1)[0]
        likes = [(_SUITS[suit], common)] * (times > 1)
    else:
        likes = [("aces", rules.ace_points)] * (rank_of(kind) == ACE)
        likes += [("spades", rules.spade_points)] * (suit == SPADES)
    for name, each in likes:
        if each and points == each:
            return name
    return card_name(kind) if points or any(each for _, each in likes) else ""


def hand_values(rules: Rules, kind: int) -> tuple[int, ...]:
    """Look up the values of a card when it is played."""
    return capture_values(rules)[0][kind]


def table_values(rules: Rules, rank: int) -> tuple[int, ...]:
    """Look up the values of a rank, 1 to 13, on the table."""
    return capture_values(rules)[1][rank - 1]


def kinds_worth(rules: Rules, value: int) -> list[int]:
    """List the kinds in the deck that may have a value when they are played."""
    hands = capture_values(rules)[0]
    return [kind for kind in np.flatnonzero(rules.deck_counts).tolist() if value in hands[kind]]


def split(rules: Rules, cards: Sequence[str], values: Sequence[int]) -> list[tuple[str, ...]]:
    """Split cards into groups that sum to one of some values (R7); one by one if they don't, or are many."""
    for value in values if len(cards) <= _MOST_SPLIT else ():
        found = _cover(tuple(cards), _groups(rules, value))
        if found is not None:
            return found
    return [(card,) for card in cards]


@lru_cache(maxsize=256)
def _groups(rules: Rules, value: int) -> frozenset[int]:
    return frozenset(find_groups(rules, value))


def _cover(cards: tuple[str, ...], groups: frozenset[int]) -> list[tuple[str, ...]] | None:
    """Split cards into groups, the smallest first; None if there is no way."""
    if not cards:
        return []
    for size in range(len(cards)):
        for others in combinations(range(1, len(cards)), size):
            group = (cards[0], *(cards[at] for at in others))
            if pack_ranks([rank_of(parse_card(card)) for card in group]) in groups:
                left = tuple(card for at, card in enumerate(cards) if at and at not in others)
                rest = _cover(left, groups)
                if rest is not None:
                    return [group, *rest]
    return None
