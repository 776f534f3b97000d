"""What a tactician thinks of moves where cards are built (B), as kernels.

Each move is carried out. What it wins at once is the change of the margin. Then the next seat's best reply is expected,
over all cards that it may hold, with the mulles that it could make. A build of the own side counts as far as the next
seat is not likely to hold a card of its value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.making import make_move
from krypenv.agents.moves.prices import worth_of_build, worth_of_promise
from krypenv.agents.replies import insert_reply, look_at_replies
from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.families.bounds import LILLAN, STORAN
from krypenv.kernels.builds import copies_in
from krypenv.kernels.compiled import NIBBLE, NUM_CLASSES, bit_index, hand_value_of
from krypenv.kernels.gains import find_best, search_best
from krypenv.kernels.outlook import chance_of_hit, chance_of_sweep, look
from krypenv.kernels.play import GAME_OVER
from krypenv.kernels.scoring import margin_of
from krypenv.kernels.unions import NO_LIMIT, is_coverable, list_groups
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel, rare_kernel

# What wins most games against the same tactician without the weight. The next seat does not always do its best, and a
# build grows as others join it.
REPLY_WEIGHT, BUILD_WEIGHT = 0.8, 1.2

_SEEN = LAYOUT["seen"].start
_ONE: Any = np.int64(1)


@rare_kernel
def judge_building(
    compiled: np.record,
    observation: np.ndarray,
    end: int,
    looks_ahead: bool,
    listing: np.record,
    worlds: np.record,
    judging: np.record,
    tally: np.record,
) -> None:
    """Write into `.totals` what the first `end` moves from the root win at once and, looking ahead, by what follows."""
    look(compiled, observation, judging.feature_scratch)
    look_at_replies(compiled, observation, judging.feature_scratch, judging.replies)
    root, after = worlds.root, judging.after
    side = np.int64(root.seat % compiled.teams)
    before = margin_of(compiled, root, side)
    for at in range(end):
        judging.after = root
        outcome = make_move(compiled, after, listing.moves[at], listing)
        worth = margin_of(compiled, after, side) - before
        if looks_ahead and outcome != GAME_OVER:
            worth -= REPLY_WEIGHT * _expected_reply(compiled, observation, after, judging, listing.scratch)
            if not judging.feature_scratch.deal_ends:
                worth += BUILD_WEIGHT * _later(compiled, after, np.int64(root.seat), judging)
        tally.totals[at] = worth


@kernel
def _expected_reply(
    compiled: np.record, observation: np.ndarray, after: np.record, judging: np.record, scratch: np.record
) -> float:
    """Return what the next seat can be expected to win from a table, with the best of its cards, and by mulles."""
    feature_scratch, replies = judging.feature_scratch, judging.replies
    asked, builds = replies.asked, np.int64(after.builds)
    asked.counts_mulle = False
    for card in range(NUM_KINDS):
        replies.left[card] = after.table[card]
    ranks = find_best(compiled, np.int64(0), np.int64(0), replies.left, replies.nothing, asked)
    count, sure = 0, 0.0
    for each in range(NUM_CLASSES):
        if feature_scratch.unseen[each] == 0:
            continue
        kind = each if each < NUM_RANKS else LILLAN if each == NUM_RANKS else STORAN
        gain = _best_take(
            compiled, after, np.int64(kind), ranks, replies.card[each], feature_scratch.sweeps_count, judging, scratch
        )
        value = hand_value_of(compiled, kind)
        if builds >> value & 1 and after.build_owner[value] == after.seat:
            sure = max(sure, gain)  # an owner holds a card of the build's value (B5)
        count = insert_reply(count, gain, feature_scratch.unseen[each], replies)
    total, known, hits = 0.0, 0.0, np.int64(0)
    for at in range(count):  # the chance that this is the best of the next seat's cards
        hits += replies.hits[at]
        chance = chance_of_hit(hits, feature_scratch.pool, feature_scratch.drawn)
        total += (chance - known) * max(replies.gain[at], sure)
        known = chance
    return total + (1.0 - known) * sure + _expected_mulles(compiled, observation, after, ranks, judging, scratch)


@kernel
def _best_take(
    compiled: np.record,
    game: np.record,
    kind: int,
    ranks: int,
    price: float,
    counts: bool,
    judging: np.record,
    scratch: np.record,
) -> float:
    """Return what the best capture of a card is worth that is worth `price` itself; call `find_best` first."""
    asked, value = judging.replies.asked, hand_value_of(compiled, kind)
    bit = _ONE << value
    asked.start, asked.nothing = price, 0.0
    asked.clears = game.builds & ~bit == 0
    if game.builds & bit:
        asked.start += worth_of_build(compiled, game, value)
        asked.nothing = asked.start
        if asked.clears and ranks == 0 and counts:
            asked.nothing -= compiled.lead_sign * compiled.sweep_points
    search_best(compiled, kind, ranks, counts, asked, scratch)
    return asked.gains[0]


@kernel
def _expected_mulles(
    compiled: np.record, observation: np.ndarray, after: np.record, ranks: int, judging: np.record, scratch: np.record
) -> float:
    """Return the points of the mulles that the next seat can make, times their chances (G2)."""
    feature_scratch = judging.feature_scratch
    total = 0.0
    if not compiled.mulle_by_value:
        return total
    for kind in range(NUM_KINDS):
        unseen = np.int64(compiled.deck_counts[kind] - observation[_SEEN + kind])
        if unseen > 0 and may_be_mulle(compiled, after, kind, ranks, scratch):
            total += compiled.mulle_value[kind] * chance_of_hit(unseen, feature_scratch.pool, feature_scratch.drawn)
    return -compiled.lead_sign * total


@kernel
def may_be_mulle(compiled: np.record, game: np.record, kind: int, ranks: int, scratch: np.record) -> bool:
    """Return whether a card could capture its identical copy from a table, loose ranks packed and builds (G2)."""
    value = hand_value_of(compiled, kind)
    if copies_in(game, value, kind) > 0:
        return True
    if game.table[kind] == 0:
        return False
    groups = list_groups(compiled, value, ranks, scratch)
    return groups > 0 and is_coverable(_ONE << NIBBLE * (kind % NUM_RANKS), ranks, groups, NO_LIMIT, scratch)


@kernel
def _later(compiled: np.record, after: np.record, seat: int, judging: np.record) -> float:
    """Return what a seat can count on to take later: builds of its side, unless the next seat takes them."""
    worth = 0.0
    left = np.int64(after.builds)
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        if (after.build_owner[value] - seat) % compiled.teams == 0:
            lost = chance_of_sweep(compiled, judging.feature_scratch, _ONE << value)
            worth += (1.0 - lost) * worth_of_promise(compiled, after, value)
    return worth
