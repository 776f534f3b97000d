"""What the next seat can win from what a capture leaves, and what the own hand could win later.

Where captures are optional, or more than points and sweeps counts, a tactician weighs the best captures of each action
(`krypenv.kernels.gains`) not only by what they are worth now. It subtracts what the next seat can be expected to win
then, over all cards that this seat may hold, and adds a part of what its own hand could still take if nobody does
before.
"""

from __future__ import annotations

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS, NUM_SUITS, TAKE
from krypenv.families.bounds import LILLAN, STORAN
from krypenv.kernels.compiled import NUM_CLASSES
from krypenv.kernels.gains import GAINS, MOST_KEPT, choose_cards, find_best, price_of, search_best
from krypenv.kernels.outlook import chance_of_hit
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel, rare_kernel

FEW_LOOKS = 32  # captures of a reply that are looked at
HOLD_WEIGHT = 0.3  # of what the own hand could take later

_HAND, _TABLE, _SEEN, _ASIDE, _TAKEN = (LAYOUT[n].start for n in ("hand", "table", "seen", "set_aside", "taken"))
_CAPTURER = LAYOUT["last_capturer"].start

REPLIES = np.dtype(
    [
        ("left", np.int8, (NUM_KINDS,)),  # the table that an action leaves
        ("nothing", np.int8, (NUM_KINDS,)),  # zeros
        ("asked", GAINS),
        ("card", np.float64, (NUM_CLASSES,)),  # what an unseen card of a class is worth, on average
        ("gain", np.float64, (NUM_CLASSES,)),  # what the next seat can win with one, the best class first
        ("hits", np.int64, (NUM_CLASSES,)),  # and how many of them are unseen
    ],
    align=True,
)


@rare_kernel
def look_at_replies(
    compiled: np.record, observation: np.ndarray, feature_scratch: np.record, replies: np.record
) -> None:
    """Read what all actions of a decision share; call `look` first."""
    asked, own = replies.asked, feature_scratch.asked
    asked.card_price, asked.spade_price = own.card_price, own.spade_price
    asked.looks, asked.wanted = FEW_LOOKS, 1
    for each in range(NUM_CLASSES):
        replies.card[each] = 0.0
        if feature_scratch.unseen[each] == 0:
            continue
        total, count = 0.0, np.int64(0)
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + compiled.class_rank[each]
            if compiled.class_of[kind] == each:
                unseen = np.int64(compiled.deck_counts[kind] - observation[_SEEN + kind])
                total += unseen * price_of(compiled, kind, asked)
                count += unseen
        if count > 0:
            replies.card[each] = total / count


@rare_kernel
def weigh_replies(
    compiled: np.record,
    observation: np.ndarray,
    action: int,
    feature_scratch: np.record,
    replies: np.record,
    scratch: np.record,
) -> float:
    """Return the cost of an action by the best of its captures, and note in `feature_scratch` whether it trails."""
    asked = feature_scratch.asked
    table = observation[_TABLE : _TABLE + NUM_KINDS]
    card = np.int64(feature_scratch.card if action >= TAKE else action)
    ranks = find_best(compiled, card, action, table, observation[_TAKEN : _TAKEN + NUM_KINDS], asked)
    asked.wanted = MOST_KEPT
    search_best(compiled, card, ranks, feature_scratch.sweeps_count, asked, scratch)
    best = -np.inf
    for at in range(asked.kept):
        capture = np.int64(asked.captures[at])
        choose_cards(compiled, card, capture, asked)
        for kind in range(NUM_KINDS):
            replies.left[kind] = table[kind] - asked.chosen[kind]
        if capture == 0:
            replies.left[card] += 1
        value = asked.gains[at] + worth_of_rest(
            compiled, observation, action, capture != 0, feature_scratch, replies, scratch
        )
        if value > best:
            best = value
            feature_scratch.creeps = capture == 0
    return -best


@rare_kernel
def worth_of_rest(
    compiled: np.record,
    observation: np.ndarray,
    action: int,
    captures: bool,
    feature_scratch: np.record,
    replies: np.record,
    scratch: np.record,
) -> float:
    """Return what a play that leaves `replies.left` wins later: `action` played a card, and captured or did not."""
    if feature_scratch.game_ends:
        if captures or observation[_CAPTURER] != 0:
            return _price_of_rest(compiled, observation, replies)
        return 0.0
    worth = -expected_reply(compiled, observation, feature_scratch, replies, scratch)
    if not feature_scratch.deal_ends:
        worth += HOLD_WEIGHT * _best_later(
            compiled, observation, action, feature_scratch.sweeps_count, replies, scratch
        )
    return worth


@kernel
def _price_of_rest(compiled: np.record, observation: np.ndarray, replies: np.record) -> float:
    """Return what the seat with the last capture wins at the end of a game (K4, S3)."""
    total = -np.float64(compiled.lead_sign * compiled.last_capture_points)
    for kind in range(NUM_KINDS):
        count = np.int64(replies.left[kind]) + observation[_ASIDE + kind]
        if count > 0:
            total += count * price_of(compiled, kind, replies.asked)
    return total


@kernel
def expected_reply(
    compiled: np.record,
    observation: np.ndarray,
    feature_scratch: np.record,
    replies: np.record,
    scratch: np.record,
) -> float:
    """Return what the next seat can be expected to win from `replies.left`, with the best of its cards."""
    asked = replies.asked
    asked.counts_mulle = False
    ranks = find_best(compiled, np.int64(0), np.int64(0), replies.left, replies.nothing, asked)
    count = 0
    for each in range(NUM_CLASSES):
        unseen = feature_scratch.unseen[each]
        if unseen > 0:
            kind = each if each < NUM_RANKS else LILLAN if each == NUM_RANKS else STORAN
            asked.start = replies.card[each]
            search_best(compiled, np.int64(kind), ranks, feature_scratch.sweeps_count, asked, scratch)
            count = insert_reply(count, asked.gains[0], unseen, replies)
    total, known, hits = 0.0, 0.0, np.int64(0)
    for at in range(count):  # the chance that this is the best of the next seat's cards
        hits += replies.hits[at]
        chance = chance_of_hit(hits, feature_scratch.pool, feature_scratch.drawn)
        total += (chance - known) * replies.gain[at]
        known = chance
    if compiled.mulle_points > 0:
        total += _expected_mulles(compiled, observation, feature_scratch, replies)
    return total


@kernel
def insert_reply(count: int, gain: float, hits: int, replies: np.record) -> int:
    """Add what one of the next seat's cards gains, and its unseen copies, to `count` others, the best first."""
    at = count
    while at > 0 and replies.gain[at - 1] < gain:
        replies.gain[at], replies.hits[at] = replies.gain[at - 1], replies.hits[at - 1]
        at -= 1
    replies.gain[at], replies.hits[at] = gain, hits
    return count + 1


@kernel
def _expected_mulles(
    compiled: np.record, observation: np.ndarray, feature_scratch: np.record, replies: np.record
) -> float:
    """Return the points of the mulles that the next seat can make, times their chances (M2)."""
    total = 0.0
    for kind in range(NUM_KINDS):
        if replies.left[kind] > 0:
            unseen = np.int64(compiled.deck_counts[kind] - observation[_SEEN + kind])
            if unseen > 0:
                total += chance_of_hit(unseen, feature_scratch.pool, feature_scratch.drawn)
    return -compiled.lead_sign * compiled.mulle_points * total


@kernel
def _best_later(
    compiled: np.record,
    observation: np.ndarray,
    action: int,
    counts: bool,
    replies: np.record,
    scratch: np.record,
) -> float:
    """Return the most that a card left in the own hand could win from `replies.left`."""
    asked = replies.asked
    asked.counts_mulle = True
    best = 0.0
    for kind in range(NUM_KINDS):
        if observation[_HAND + kind] > np.int64(action == kind):
            ranks = find_best(compiled, np.int64(kind), np.int64(0), replies.left, replies.nothing, asked)
            search_best(compiled, np.int64(kind), ranks, counts, asked, scratch)
            if asked.kept > 0:
                best = max(best, asked.gains[0])
    return best
