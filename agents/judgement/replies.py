"""The expected reply: what the next seat can be expected to win from a table, over all cards that it may hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.prices import mulle_price, worth_of_build
from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.families.bounds import LILLAN, STORAN
from krypenv.kernels.builds import copies_in
from krypenv.kernels.compiled import NIBBLE, NUM_CLASSES, hand_value_of
from krypenv.kernels.gains import GAINS, find_best, price_of, search_best
from krypenv.kernels.outlook import chance_of_hit
from krypenv.kernels.unions import find_union
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel, other_kernel

FEW_LOOKS = 32  # captures of a card that are evaluated
_SEEN = LAYOUT["seen"].start
_ONE: Any = np.int64(1)

REPLIES = np.dtype(
    [
        ("nothing", np.int8, (NUM_KINDS,)),  # zeros
        ("gains", GAINS),
        ("unseen", np.int64, (NUM_KINDS,)),  # copies of each kind that the seat has not seen
        ("card", np.float64, (NUM_CLASSES,)),  # what an unseen card of a class is worth, on average
        ("best", np.float64, (NUM_CLASSES,)),  # what the best capture by a class wins
        ("gain", np.float64, (NUM_CLASSES,)),  # what the next seat can win with one, the best class first
        ("hits", np.int64, (NUM_CLASSES,)),  # and how many of them are unseen
    ],
    align=True,
)


@other_kernel
def look_at_replies(compiled: np.record, seen: np.ndarray, outlook: np.record, replies: np.record) -> None:
    """Read what the replies to all moves of a decision share; call `look` first."""
    gains, own = replies.gains, outlook.gains
    gains.card_price, gains.spade_price = own.card_price, own.spade_price
    gains.looks, gains.wanted = FEW_LOOKS, 1
    for kind in range(NUM_KINDS):
        replies.unseen[kind] = compiled.deck_counts[kind] - seen[_SEEN + kind]
    for each in range(NUM_CLASSES):
        replies.card[each] = 0.0
        if outlook.unseen[each] == 0:
            continue
        total, count = 0.0, np.int64(0)
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + compiled.class_rank[each]
            if compiled.class_of[kind] == each:
                total += replies.unseen[kind] * price_of(compiled, kind, gains.card_price, gains.spade_price)
                count += replies.unseen[kind]
        if count > 0:
            replies.card[each] = total / count


@kernel
def expected_reply(
    compiled: np.record, after: np.record, outlook: np.record, replies: np.record, listing: np.record
) -> float:
    """Return what the next seat can be expected to win from a table: by the best of its cards, and by mulles.

    The owner of a build holds a card that takes it (B5).
    """
    gains, builds = replies.gains, np.int64(after.builds)
    gains.counts_mulle = False
    ranks = find_best(compiled, np.int64(0), np.int64(0), after.table, replies.nothing, gains)
    count, sure = 0, 0.0 if compiled.building else -np.inf  # who need not take a build takes nothing
    for each in range(NUM_CLASSES):
        if outlook.unseen[each] == 0:
            continue
        kind = each if each < NUM_RANKS else LILLAN if each == NUM_RANKS else STORAN
        gain = _best_take(
            compiled, after, np.int64(kind), ranks, replies.card[each], outlook.sweeps_count, gains, listing
        )
        value = hand_value_of(compiled, kind)
        if builds >> value & 1 and after.build_owner[value] == after.seat:
            sure = max(sure, gain)
        replies.best[each] = gain
        count = _insert_reply(count, gain, outlook.unseen[each], replies)
    total, known, hits = 0.0, 0.0, np.int64(0)
    for at in range(count):  # the chance that this is the best of the next seat's cards
        hits += replies.hits[at]
        chance = chance_of_hit(hits, outlook.pool, outlook.drawn)
        total += (chance - known) * max(replies.gain[at], sure)
        known = chance
    if sure > 0.0:
        total += (1.0 - known) * sure
    return total + _expected_mulles(compiled, after, ranks, outlook, replies, listing.scratch)


@kernel
def _best_take(
    compiled: np.record,
    game: np.record,
    kind: int,
    ranks: int,
    price: float,
    counts: bool,
    gains: np.record,
    listing: np.record,
) -> float:
    """Return what the best capture of a card is worth that is worth `price` itself; call `find_best` first."""
    value = hand_value_of(compiled, kind)
    bit = _ONE << value
    gains.start, gains.nothing = price, 0.0
    gains.clears = game.builds & ~bit == 0
    if game.builds & bit:
        gains.start += worth_of_build(game, value, listing.prices)
        gains.nothing = gains.start
        if gains.clears and ranks == 0 and counts:
            gains.nothing -= compiled.lead_sign * compiled.sweep_points
    search_best(compiled, kind, ranks, counts, gains, listing.scratch)
    return gains.values[0]


@kernel
def _insert_reply(count: int, gain: float, hits: int, replies: np.record) -> int:
    """Add what one of the next seat's cards gains, and its unseen copies, to `count` others, the best first."""
    at = count
    while at > 0 and replies.gain[at - 1] < gain:
        replies.gain[at], replies.hits[at] = replies.gain[at - 1], replies.hits[at - 1]
        at -= 1
    replies.gain[at], replies.hits[at] = gain, hits
    return count + 1


@kernel
def _expected_mulles(
    compiled: np.record,
    after: np.record,
    ranks: int,
    outlook: np.record,
    replies: np.record,
    scratch: np.record,
) -> float:
    """Return the points of the mulles that the next seat can make, times their chances (M2, G2)."""
    total = 0.0
    if compiled.mulle_points == 0 and not compiled.mulle_by_value:
        return total
    for kind in range(NUM_KINDS):
        if replies.unseen[kind] > 0 and may_be_mulle(compiled, after, kind, ranks, scratch):
            chance = chance_of_hit(replies.unseen[kind], outlook.pool, outlook.drawn)
            total += mulle_price(compiled, kind) * chance
    return total


@kernel
def may_be_mulle(compiled: np.record, game: np.record, kind: int, ranks: int, scratch: np.record) -> bool:
    """Return whether a card could capture its identical copy from a table, loose ranks packed and builds (M2, G2)."""
    value = hand_value_of(compiled, kind)
    if copies_in(game, value, kind) > 0:
        return True
    if game.table[kind] == 0:
        return False
    return find_union(compiled, value, _ONE << NIBBLE * (kind % NUM_RANKS), ranks, scratch) != 0
