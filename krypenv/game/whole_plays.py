"""Whole plays of one game: which are legal, and how staged actions carry them out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations, islice, product

import numpy as np

from krypenv.cards import BUILD, NO_CARD, NUM_KINDS, NUM_RANKS, STOP, TAKE, TAKE_BUILD
from krypenv.families.bounds import FIRST_LONER
from krypenv.game.history import History, Play, bits
from krypenv.game.stack import list_captures
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import NIBBLE
from krypenv.state import MAY_STOP

_KINDS = np.arange(NUM_KINDS)


def legal_plays(history: History, most: int) -> list[Play] | None:
    """Return the plays of the seat to act, sorted; if a play was begun, only those that agree with what it took.

    Optional captures grow without a practical bound: if there are more than `most` plays with them, returns None.
    """
    if history.is_optional:
        if _count_groups(history) > most:
            return None
        found = sorted(islice(_walk(history, history.at), most + 1))
        return found if len(found) <= most else None
    if history.pendings[history.at] != NO_CARD:
        return _expand(history, history.at)
    plays: list[Play] = []
    place = history.at + 1
    for action in history.legal_actions():
        history.look_ahead(history.at, action)
        plays += [history.play_at(place)] if history.pendings[place] == NO_CARD else _expand(history, place)
    return plays


def _count_groups(history: History) -> int:
    """Return how many plays take, beside what was taken already, just one group or the rest of one: some of all plays.

    Counts each card at the lower of its values, so it takes no time on the largest table.
    """
    state, values = history.state, history.compiled["lowest_value"][0]
    taken = history.taken() if history.pendings[history.at] != NO_CARD else []
    free = state["table"].astype(np.int64)
    free[taken] = 0
    if taken:
        free[: taken[-1]] = 0
    ways = [1] + [0] * (FIRST_LONER - 1)  # multisets of the cards that are left, by their sum
    for kind in np.flatnonzero(free).tolist():
        value = int(values[kind])
        ways = [
            sum(ways[total - count * value] for count in range(min(int(free[kind]), total // value) + 1))
            for total in range(FIRST_LONER)
        ]
    begun = {int(values[taken].sum())} | ({0} if not taken or int(state["legal_takes"]) & MAY_STOP else set())
    cards = [int(state["pending"])] if history.pendings[history.at] != NO_CARD else bits(int(state["legal_plays"]))
    return sum(
        max(
            (ways[value - least] for value in _hand_values(history, card) for least in begun if value >= least),
            default=0,
        )
        for card in cards
    )


def _hand_values(history: History, card: int) -> list[int]:
    return [value for value in bits(int(history.compiled["hand_choice"][0, card])) if value < FIRST_LONER]


def _walk(history: History, place: int) -> Iterator[Play]:
    """Yield the plays that the state at a place may come to, by all staged actions: each has one sequence (K2).

    Overwrites the states above it.
    """
    for action in history.actions_at(place):
        history.look_ahead(place, action)
        if history.pendings[place + 1] == NO_CARD:
            yield history.play_at(place + 1)
        else:
            yield from _walk(history, place + 1)


def _expand(history: History, place: int) -> list[Play]:
    """Return the plays of a state with a card pending: its maximal captures of ranks, with every choice of kinds (R7).

    None of them is a sweep: a capture of the whole table would be the only one.
    """
    row = history.states[place]
    count = list_captures(history.compiled, history.states, place, borrow_scratch())
    found: set[tuple[int, ...]] = set()
    for capture in borrow_scratch()["captures"][0, :count].tolist():
        choices = []
        for rank in range(NUM_RANKS):
            kinds = np.repeat(_KINDS[rank::NUM_RANKS], row["table"][rank::NUM_RANKS]).tolist()
            choices.append(set(combinations(kinds, capture >> NIBBLE * rank & 15)))
        found.update(tuple(sorted(chain(*parts))) for parts in product(*choices))
    taken = Counter(np.repeat(_KINDS, row["taken"]).tolist())
    return [(int(row["pending"]), takes, 0, 0, ()) for takes in sorted(found) if not taken - Counter(takes)]


def push_play(history: History, play: Play) -> bool:
    """Make a whole play, or complete one that was begun, and return whether it is legal; if not, change nothing.

    A sweep of 0 matches any.
    """
    start = history.at
    if not _try(history, *play):
        history.go_back(start)
        return False
    history.join(start)
    return True


def _try(history: History, card: int, takes: tuple[int, ...], sweep: int, build: int, builds: tuple[int, ...]) -> bool:
    """Carry out the actions of a play and return whether they made exactly this play."""
    if history.rules.building:
        is_made = _try_building(history, card, takes, build, builds)
    else:
        is_made = not build and not builds and _try_capture(history, card, takes)
    made = history.play_at(history.at)
    return is_made and (*made[:2], *made[3:]) == (card, takes, build, builds) and sweep in (0, made[2])


def _try_building(history: History, card: int, takes: tuple[int, ...], build: int, builds: tuple[int, ...]) -> bool:
    """Carry out the actions of a play where cards are built; return whether they ended a play.

    A build that is joined needs no action of its own.
    """
    actions = [card, *([BUILD + build] if build else []), *(TAKE + kind for kind in takes)]
    actions += [TAKE_BUILD + value for value in builds if value != build]
    if history.pendings[history.at] != NO_CARD:
        begun = [int(history.state["pending"]), *([BUILD + history.build()] if history.build() else [])]
        begun += [TAKE + kind for kind in history.taken()]
        if actions[: len(begun)] != begun:
            return False
        actions = actions[len(begun) :]
    for action in actions:
        if not history.act(action):
            return False
    return history.pendings[history.at] == NO_CARD or history.act(STOP)


def _try_capture(history: History, card: int, takes: tuple[int, ...]) -> bool:
    """Carry out the actions of a play where nothing is built; return whether they ended a play."""
    left = Counter(takes)
    if history.pendings[history.at] != NO_CARD:
        left.subtract(history.taken())
    elif not history.act(card):
        return False
    while history.pendings[history.at] != NO_CARD:
        action = _next_action(history, left)
        if action is None or not history.act(action):
            return False
        left[action - TAKE] -= 1
    return True


def _next_action(history: History, left: Counter[int]) -> int | None:
    """Return the action by which the pending card takes one of the kinds left, or None if there is none.

    An optional capture takes them in ascending order, and then stops. Of a maximal one some kind that is left is legal
    to take while another capture is possible: no maximal capture contains another, so the two differ in such a kind.
    """
    if history.is_optional:
        return TAKE + min((kind for kind in left if left[kind] > 0), default=STOP - TAKE)
    return next((action for action in history.legal_actions() if left[action - TAKE] > 0), None)


def take_kinds(history: History, kinds: list[int]) -> bool:
    """Take some kinds for the pending card, which stays pending; return whether some order of them is legal.

    If none is, change nothing.
    """
    start = history.at
    for kind in sorted(kinds) if history.is_optional else _order(history, kinds):
        if not history.act(TAKE + kind):
            break
    if history.pendings[history.at] != NO_CARD and history.at == start + len(kinds):
        return True
    history.go_back(start)
    return False


def _order(history: History, kinds: list[int]) -> list[int]:
    """Return some kinds in an order in which the pending card may take them, empty if there is none.

    What may be taken after some cards may also be taken before them. So put any kind last that may be taken last,
    and repeat with the others.
    """
    table = history.state["table"].astype(np.int64)
    taken = history.state["taken"] + np.bincount(np.array(kinds, np.int64), minlength=NUM_KINDS)
    if (taken > table).any():
        return []
    scratch = borrow_scratch()
    count = list_captures(history.compiled, history.states, history.at, scratch)
    shifts = NIBBLE * np.arange(NUM_RANKS)
    captures = scratch["captures"][0, :count, None] >> shifts & 15
    order: list[int] = []
    left = sorted(kinds)
    while left:
        last = next((kind for kind in left if _may_take(captures, table, taken - (kind == _KINDS), kind)), None)
        if last is None:
            return []
        left.remove(last)
        taken[last] -= 1
        order.append(last)
    return order[::-1]


def _may_take(captures: np.ndarray, table: np.ndarray, taken: np.ndarray, kind: int) -> bool:
    """Return whether those captures, (n, 13) counts of ranks, that contain what is taken differ in copies of a kind."""
    rank = kind % NUM_RANKS
    on_table, taken_ranks = table.reshape(-1, NUM_RANKS).sum(axis=0), taken.reshape(-1, NUM_RANKS).sum(axis=0)
    counts = captures[(captures >= taken_ranks).all(axis=1), rank]
    if len(counts) == 0:
        return False
    fewest = max(taken[kind], counts.min() - (on_table[rank] - table[kind]))
    return bool(min(table[kind], counts.max() - (taken_ranks[rank] - taken[kind])) > fewest)
