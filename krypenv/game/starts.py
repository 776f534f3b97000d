"""What a game may start from: a deck or a seed, and a place in a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from krypenv.cards import NUM_KINDS, card_name, parse_card
from krypenv.inputs.words import is_whole, shown
from krypenv.kernels.scoring import are_best
from krypenv.rewards import LAST_GAME
from krypenv.rules import Rules

MOST_POINTS = 999_999  # the largest absolute value of a total


def parse_deck(rules: Rules, deck: Iterable[str]) -> list[int]:
    """Return the card kinds of a deck's names in deal order; raise ValueError if it is not the deck of the rules."""
    try:
        names = iter(deck.split() if isinstance(deck, str) else deck)
    except TypeError:
        raise ValueError(f"a deck is the names of its cards, not {shown(deck)}") from None
    most = 2 * rules.deck_size  # read no more than this: the iterable may be endless
    kinds = [parse_card(name) for name in islice(names, most + 1)]
    if len(kinds) > most:
        raise ValueError(f"the deck has more than {most} cards, but the rules {str(rules)!r} have {rules.deck_size}")
    counts = np.bincount(np.array(kinds, np.int64), minlength=NUM_KINDS)
    for kind in np.flatnonzero(counts != rules.deck_counts).tolist():
        raise ValueError(
            f"the deck has {counts[kind]} of {card_name(kind)} and {len(kinds)} cards in all, "
            f"but the rules {str(rules)!r} have {rules.deck_counts[kind]} of it and {rules.deck_size} in all"
        )
    return kinds


def check_session(rules: Rules, number: int, totals: Sequence[int]) -> str:
    """Return what is wrong with a game's number in its session and the totals before it; empty if nothing is."""
    if not isinstance(totals, (list, tuple)) or len(totals) != rules.players:
        return f"totals are one for each of the {rules.players} seats, not {shown(totals)}"
    if not is_whole(number, 1, rules.games or LAST_GAME):
        return f"game {shown(number)} is none of the session's {rules.games or LAST_GAME} games"
    if not all(is_whole(total, -MOST_POINTS, MOST_POINTS) for total in totals):
        return f"totals are whole numbers from -{MOST_POINTS} to {MOST_POINTS}"
    if number == 1 and any(totals):
        return "the totals before the first game are 0"
    sides = [sum(totals[side :: rules.num_teams]) for side in range(rules.num_teams)]
    goes_on = rules.tie_break == "play_on" and are_best(rules, np.array(sides)).sum() > 1
    if rules.threshold is not None and max(sides) >= rules.threshold and not goes_on:
        return f"the session was over when a total reached {rules.threshold}"
    return ""
