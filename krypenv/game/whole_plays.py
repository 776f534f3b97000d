"""Whole plays of one game: which are legal, and how staged actions carry them out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from krypenv.cards import BUILD, NO_CARD, NUM_KINDS, NUM_RANKS, STOP, TAKE, TAKE_BUILD
from krypenv.families.bounds import FIRST_LONER
from krypenv.game.moves import Move, Play, actions_in, bits, play_of
from krypenv.game.stack import list_captures, step_game
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import NIBBLE
from krypenv.state import MAY_STOP

if TYPE_CHECKING:
    from krypenv.game.game import Game

_KINDS = np.arange(NUM_KINDS)


def legal_plays(game: Game, most: int) -> list[Play] | None:
    """Return the plays of the seat to act, sorted; if a play was begun, only those that agree with what it took.

    Optional captures grow without a practical bound: if there are more than `most` plays with them, returns None.
    """
    if game.rules.capture == "maximal":
        return sorted(set(_walk(game, game.at)))
    if _count_groups(game) > most:
        return None
    found = sorted(islice(_walk(game, game.at), most + 1))
    return found if len(found) <= most else None


def list_some(game: Game, most: int) -> tuple[list[Move], bool]:
    """Return the moves of the seat to act, sorted as `legal_moves` has them, and whether they are all.

    Where captures are optional they are at most `most`. If they are not all, there is one for each card that may be
    played, unless these are more than `most`.
    """
    plays = legal_plays(game, most)
    some = sorted(_share(game, game.at, most)) if plays is None else plays
    return [Move.of_kinds(*play) for play in some], plays is not None


def _share(game: Game, place: int, most: int) -> list[Play]:
    """Return plays from the state at a place on, `most` shared out evenly between its actions.

    Overwrites the states above it.
    """
    found: list[Play] = []
    actions = actions_in(game.states[place])
    for number, action in enumerate(actions):
        share = -(-(most - len(found)) // (len(actions) - number))
        if share:
            _step(game, place, action)
            is_whole = game.states["pending"][place + 1] == NO_CARD
            found += [play_of(game.states[place + 1])] if is_whole else _share(game, place + 1, share)
    return found


def _count_groups(game: Game) -> int:
    """Return how many plays take, beside what was taken already, just one group or the rest of one: some of all plays.

    Counts each card at the lower of its values, so it takes no time on the largest table.
    """
    state, values = game.state, game.compiled["lowest_value"][0]
    taken = np.repeat(_KINDS, state["taken"]).tolist() if game.states["pending"][game.at] != NO_CARD else []
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
    cards = [int(state["pending"])] if game.states["pending"][game.at] != NO_CARD else bits(int(state["legal_plays"]))
    return sum(
        max(
            (ways[value - least] for value in _hand_values(game, card) for least in begun if value >= least),
            default=0,
        )
        for card in cards
    )


def _hand_values(game: Game, card: int) -> list[int]:
    return [value for value in bits(int(game.compiled["hand_choice"][0, card])) if value < FIRST_LONER]


def _walk(game: Game, place: int, first: int = 0) -> Iterator[Play]:
    """Yield the plays that the state at a place may come to, by staged actions: takes go on from action `first`.

    An optional capture has one such sequence (K2), a maximal one may have several: take the lowest of its kinds that is
    legal, again and again. A lower kind that was not legal then is in all captures left as often as in this one.
    Overwrites the states above the place.
    """
    for action in actions_in(game.states[place]):
        if action < first:
            continue
        _step(game, place, action)
        if game.states["pending"][place + 1] == NO_CARD:
            yield play_of(game.states[place + 1])
        else:
            yield from _walk(game, place + 1, action if TAKE <= action < STOP else 0)


def actions_of(game: Game, play: Play) -> list[int]:
    """Return the staged actions that make a whole play, or complete one that was begun; none if it is illegal.

    A sweep of 0 matches any. Overwrites the states above the present one.
    """
    card, takes, sweep, build, builds = play
    start, states, is_optional = game.at, game.states, game.rules.capture == "optional"
    begun = _begun(game)
    plan = [card, *([BUILD + build] if build else []), *(TAKE + kind for kind in takes)]
    plan += [TAKE_BUILD + value for value in builds if value != build]  # one that is joined needs no action
    if is_optional and plan[: len(begun)] != begun:
        return []
    actions: list[int] = []
    while not actions or states["pending"][start + len(actions)] != NO_CARD:
        done = [*begun, *actions]
        if is_optional or not done:  # one order, and then it stops
            action = plan[len(done)] if len(done) < len(plan) else STOP
        else:
            # While another maximal capture is possible, it differs from this one in a kind that may be taken.
            left = Counter(plan) - Counter(done)
            action = next((each for each in actions_in(states[start + len(actions)]) if left[each] > 0), -1)
        if not _step(game, start + len(actions), action):
            return []
        actions.append(action)
    made = play_of(states[start + len(actions)])
    return actions if (*made[:2], *made[3:]) == (card, takes, build, builds) and sweep in (0, made[2]) else []


def begin_play(game: Game, card: int, took: Iterable[int], build: int = 0) -> bool:
    """Play a card, begin a build unless its value is 0, and take some kinds, in any legal order.

    Returns whether the card is then still pending; if not, changes nothing. If it is pending already, takes only what
    is missing.
    """
    start, wanted, took = game.at, [card, *([BUILD + build] if build else [])], list(took)
    for action in [] if _begun(game) else wanted:
        game.actions += [action] if _step(game, game.at, action) else []
    missing = Counter(TAKE + kind for kind in took)
    missing.subtract(_begun(game)[len(wanted) :])
    if _begun(game)[: len(wanted)] == wanted and min(missing.values(), default=0) >= 0:
        kinds = [action - TAKE for action in missing.elements()]
        for kind in sorted(kinds) if game.rules.capture == "optional" else _order(game, kinds):
            game.actions += [TAKE + kind] if _step(game, game.at, TAKE + kind) else []
        if sorted(_begun(game)) == sorted([*wanted, *(TAKE + kind for kind in took)]):
            return True
    del game.actions[start:]
    return False


def _begun(game: Game) -> list[int]:
    """Return what has been done of an unfinished play, in the order in which a play where cards are built goes."""
    row = game.state
    if row["pending"] == NO_CARD:
        return []
    build = int(row["build_value"])
    taken = (TAKE + kind for kind in np.repeat(_KINDS, row["taken"]).tolist())
    return [int(row["pending"]), *([BUILD + build] if build else []), *taken]


def _step(game: Game, place: int, action: int) -> bool:
    """Carry out an action from the state at a place into the next place; return whether it is legal."""
    return bool(step_game(game.compiled, game.states, place, action, borrow_scratch()))


def _order(game: Game, kinds: list[int]) -> list[int]:
    """Return some kinds in an order in which the pending card may take them, empty if there is none.

    What may be taken after some cards may also be taken before them. So put any kind last that may be taken last,
    and repeat with the others.
    """
    table = game.state["table"].astype(np.int64)
    taken = game.state["taken"] + np.bincount(np.array(kinds, np.int64), minlength=NUM_KINDS)
    if (taken > table).any():
        return []
    scratch = borrow_scratch()
    count = list_captures(game.compiled, game.states, game.at, scratch)
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
