"""The cards that a seat can't see, dealt at random to the other hands and the stock, as kernels.

No seat gets a card that it can't hold (R10), and every owner of a build gets a card of its value (B5).
"""

from __future__ import annotations

import numpy as np

from krypenv.cards import MAX_BUILD, NO_CARD, NO_SEAT, NUM_KINDS
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.kernels.builds import held_values, own_builds
from krypenv.kernels.compiled import hand_value_of
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.state import DEALS, random_below

MAX_TRIES = 200  # whole shuffles before one is repaired
MIXING_SWAPS = 2_000  # swaps that make a repaired shuffle random again

_SEEN, _HAND_SIZE, _DEALER = (LAYOUT[name].start for name in ("seen", "hand_size", "dealer"))


@kernel
def viewer_of(compiled: np.record, seen: np.ndarray) -> int:
    """Find the seat of the observer, where seats are numbered so that the dealer is the last."""
    for place in range(compiled.players):
        if seen[_DEALER + place]:
            return compiled.players - 1 - place
    return compiled.players - 1


@kernel
def give(game: np.record, seat: int, card: int, count: int) -> None:
    """Give copies of a card to a hand."""
    game.hands[seat, card] += count
    game.hand_size[seat] += count
    if count > 0:
        game.hand_kinds[seat] |= np.int64(1) << card


@kernel
def deal_hidden(
    compiled: np.record, game: np.record, seen: np.ndarray, whole: bool, owner: np.ndarray, pool: np.ndarray
) -> bool:
    """Deal the unseen cards to the other hands and the stock; return whether there is a deal that is consistent.

    The caller may have given cards to the other hands before; these count as seen, and don't count in the hand sizes.
    Unless `whole` is set, the stock is left in no particular order, which is faster.
    Scratch, (104,) int64 each: `pool` holds the unseen cards, and `owner` the seat of each, NO_SEAT for the stock.
    """
    size = 0
    for kind in range(NUM_KINDS):
        for _ in range(compiled.deck_counts[kind] - seen[_SEEN + kind]):
            pool[size] = kind
            size += 1
    hidden = 0
    viewer = viewer_of(compiled, seen)
    for place in range(1, compiled.players):
        for _ in range(seen[_HAND_SIZE + place]):
            owner[hidden] = (viewer + place) % compiled.players
            hidden += 1
    for at in range(hidden, size):
        owner[at] = NO_SEAT
    drawn = size if whole else hidden
    if not _arrange(compiled, game, pool, owner, size, hidden, drawn):
        return False
    place = 0
    for kind in range(NUM_KINDS):  # the part of the deck that has been dealt, in any order
        for _ in range(seen[_SEEN + kind]):
            game.deck[place] = kind
            place += 1
    for at in range(size):
        game.deck[place + at] = pool[at]
        if owner[at] != NO_SEAT:
            give(game, owner[at], pool[at], 1)
    return True


@kernel
def _is_barred(compiled: np.record, game: np.record, seat: int, card: int) -> bool:
    return seat != NO_SEAT and game.cannot_hold[seat] >> compiled.class_of[card] & 1 == 1


@kernel
def _swap(pool: np.ndarray, at: int, other: int) -> None:
    card = pool[other]
    pool[other] = pool[at]
    pool[at] = card


@kernel
def _arrange(
    compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, size: int, hidden: int, drawn: int
) -> bool:
    """Shuffle the pool uniformly among the orders that give no owner a card that it can't hold, and keep all promises.

    Repeating whole shuffles until one is allowed is uniform. If that takes too long, a shuffle is repaired, and random
    swaps that keep it allowed then wash out the repair (a symmetric random walk, so uniform in the limit). Only the
    first `drawn` places, the hidden hands among them, need be random. Returns False if no order is allowed.
    Where cards are built, no sweep is forced, and so no card is barred.
    """
    for _ in range(MAX_TRIES):
        barred = 0
        for at in range(drawn):
            _swap(pool, at, at + random_below(game, DEALS, size - at))
            barred += _is_barred(compiled, game, owner[at], pool[at])
        if barred == 0 and (not compiled.building or _are_kept(compiled, game, pool, owner, hidden)):
            return True
    if compiled.building:
        if not _keep_promises(compiled, game, pool, owner, size, hidden):
            return False
    else:
        for at in range(hidden):
            if _is_barred(compiled, game, owner[at], pool[at]) and not _exchange(compiled, game, pool, owner, size, at):
                return False
    for _ in range(MIXING_SWAPS):
        at, other = random_below(game, DEALS, hidden), random_below(game, DEALS, size)
        _swap(pool, at, other)
        is_allowed = not (
            _is_barred(compiled, game, owner[at], pool[at]) or _is_barred(compiled, game, owner[other], pool[other])
        )
        if not is_allowed or (compiled.building and not _are_kept(compiled, game, pool, owner, hidden)):
            _swap(pool, at, other)
    return True


# ---------------------------------------------------------------------- promises


@kernel
def missing_promises(compiled: np.record, game: np.record, seat: int) -> int:
    """Find the hand values, as bits, that a seat has promised and does not hold (B5).

    A seat that has begun a play must hold a card for the build it makes, and may have played the one for its own.
    """
    values = own_builds(game, seat)
    if game.pending != NO_CARD and game.seat == seat:
        values &= ~(np.int64(1) << hand_value_of(compiled, game.pending))
        if game.build_value != 0:
            values |= np.int64(1) << game.build_value
    return values & ~held_values(compiled, game, seat, NO_CARD)


@other_kernel
def _are_kept(compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, hidden: int) -> bool:
    """Check whether the hidden hands keep all promises; the cards of a hand are adjacent in the pool."""
    missing = np.int64(0)
    for at in range(hidden):
        if at == 0 or owner[at] != owner[at - 1]:
            if missing != 0:
                return False
            missing = missing_promises(compiled, game, owner[at])
        missing &= ~(np.int64(1) << hand_value_of(compiled, pool[at]))
    return missing == 0


@other_kernel
def _keep_promises(
    compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, size: int, hidden: int
) -> bool:
    """Exchange cards until the hidden hands keep all promises; return False if none can do that."""
    for seat in range(compiled.players):
        missing = missing_promises(compiled, game, seat)
        for value in range(1, MAX_BUILD + 1):
            if missing >> value & 1 and not _keep(compiled, game, pool, owner, size, hidden, seat, value):
                return False
    return True


@kernel
def _keep(
    compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, size: int, hidden: int, seat: int,
    value: int,
) -> bool:  # fmt: skip
    """Exchange a card of a seat for one of a hand value, unless it has one; cards that keep a promise stay."""
    given = -1
    for at in range(hidden):
        if owner[at] == seat:
            if hand_value_of(compiled, pool[at]) == value:
                return True
            if _is_free(compiled, game, pool, owner, hidden, at):
                given = at
    for at in range(size):
        is_wanted = owner[at] != seat and hand_value_of(compiled, pool[at]) == value
        if given >= 0 and is_wanted and _is_free(compiled, game, pool, owner, hidden, at):
            _swap(pool, given, at)
            return True
    return False


@kernel
def _is_free(compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, hidden: int, at: int) -> bool:
    """Check whether a card keeps no promise: nobody owns it, or its owner did not promise its value or has two."""
    seat, value, cards = owner[at], hand_value_of(compiled, pool[at]), np.int64(0)
    for place in range(hidden):
        cards += owner[place] == seat and hand_value_of(compiled, pool[place]) == value
    return seat == NO_SEAT or cards > 1 or missing_promises(compiled, game, seat) >> value & 1 == 0


# ---------------------------------------------------------------------- cards that a seat can't hold


@kernel
def _exchange(compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, size: int, start: int) -> bool:
    """Move a card away from an owner that can't hold it, by the shortest cycle of owners who each pass on one card.

    Nobody gets a card that it can't hold. If any order of the pool is allowed, there is such a cycle: follow the card
    to its owner there, from that owner a card that has another owner there, and so on. (Owners are bits 0 to 6, 0 for
    the stock; `passed` holds, 8 bits for each, the place of the card that it would get.)
    """
    passed, reached, owners = np.int64(0), np.int64(0), np.int64(0)
    for at in range(size):
        owners |= np.int64(1) << (owner[at] + 1)
    for taker in range(MAX_PLAYERS + 1):
        if owners >> taker & 1 and not _is_barred(compiled, game, taker - 1, pool[start]):
            passed |= np.int64(start) << 8 * taker
            reached |= 1 << taker
    first = owner[start] + 1
    fresh = reached
    while fresh != 0 and reached >> first & 1 == 0:
        takers = np.int64(0)
        for at in range(size):
            if fresh >> (owner[at] + 1) & 1:
                for taker in range(MAX_PLAYERS + 1):
                    is_new = owners & ~(reached | takers) & 1 << taker != 0
                    if is_new and not _is_barred(compiled, game, taker - 1, pool[at]):
                        passed |= np.int64(at) << 8 * taker
                        takers |= 1 << taker
        reached |= takers
        fresh = takers
    if reached >> first & 1 == 0:
        return False
    card = pool[start]
    hole, taker = np.int64(start), np.int64(first)
    while True:  # back along the cycle: each place gets the card that was to be passed to its owner
        at = passed >> 8 * taker & 255
        if at == start:
            pool[hole] = card
            return True
        pool[hole] = pool[at]
        hole = at
        taker = np.int64(owner[at] + 1)
