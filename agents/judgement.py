"""The tactician's judgement of moves without search: gain, expected reply and keep.

Each listed move is carried out, and the table after it is judged. The gain is the immediate change of the margin, with
a share of the majorities for each card and spade won. The expected reply is what the next seat can win from the table,
over all cards that it may hold. The keep is what the own hand may take later, and what builds of the own side will win
unless the next seat takes them. The worth of a move is its gain, less the reply, plus the keep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.making import make_move
from krypenv.agents.moves.prices import mulle_price, set_prices, worth_of_build, worth_of_promise
from krypenv.agents.moves.record import MOST_JUDGED, MOST_MOVES
from krypenv.cards import NUM_BUILDING_ACTIONS, NUM_KINDS, NUM_RANKS, NUM_SUITS
from krypenv.families.bounds import LILLAN, STORAN
from krypenv.kernels.builds import copies_in
from krypenv.kernels.compiled import NIBBLE, NUM_CLASSES, NUM_VALUES, bit_index, hand_value_of
from krypenv.kernels.gains import GAINS, find_best, price_of, search_best
from krypenv.kernels.outlook import OUTLOOK, chance_of_hit, chance_of_sweep, read_outlook
from krypenv.kernels.play import GAME_OVER
from krypenv.kernels.scoring import margin_of, sum_over
from krypenv.kernels.unions import find_union
from krypenv.observation import LARGEST_SIZE, LAYOUT
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.state import GAME

HOLD_WEIGHT = 0.3  # of what the own hand could take later, where nothing is built
MOST_EVALUATED = 32  # captures of a card that are evaluated for the reply
_SEEN, _HAND_SIZE = LAYOUT["seen"].start, LAYOUT["hand_size"].start
_ONE: Any = np.int64(1)

REPLIES = np.dtype(
    [
        ("nothing", np.int8, (NUM_KINDS,)),  # zeros
        ("gains", GAINS),
        ("unseen", np.int64, (NUM_KINDS,)),  # copies of each kind that the seat has not seen
        ("card", np.float64, (NUM_CLASSES,)),  # mean price of an unseen card of a class
        ("best", np.float64, (NUM_CLASSES,)),  # what the best capture by a class wins
        ("gain", np.float64, (NUM_CLASSES,)),  # the same, the best class first
        ("hits", np.int64, (NUM_CLASSES,)),  # and the unseen cards of these classes
    ],
    align=True,
)

JUDGED = np.dtype(
    [
        ("gain", np.float64),  # immediate gain
        ("reply", np.float64),  # expected gain of the next seat
        ("keep", np.float64),  # what the own side keeps for later
        ("worth", np.float64),  # the gain, less the reply, plus the keep
    ],
    align=True,
)

JUDGING = np.dtype(
    [
        ("legal", np.int64, (NUM_BUILDING_ACTIONS,)),  # legal actions
        ("outlook", OUTLOOK),
        ("seen", np.int8, (LARGEST_SIZE,)),  # an observation
        ("after", GAME),  # the game after a move
        ("replies", REPLIES),
        ("group_points", np.int64, (NUM_VALUES,)),  # the main game: points of the cheapest group of each value
        ("own", np.int64, (NUM_RANKS,)),  # the main game: cards of each rank in the own hand
        ("listed", np.int64),  # moves that were judged
        ("judged", JUDGED, (MOST_MOVES,)),
    ],
    align=True,
)


@kernel
def judge_decision(
    compiled: np.record, seen: np.ndarray, game: np.record, start: int, looks_ahead: bool, workspace: np.record
) -> int:
    """List the moves of a game from `start` on, and judge the best `MOST_JUDGED` of them; return where they end.

    Set `listing.keep` first: how many captures of a card are listed.
    """
    listing = workspace.listing
    set_prices(compiled, game, listing)
    end = list_moves(compiled, game, start, listing)
    order_moves(compiled, game, start, end, listing)
    end = min(end, start + MOST_JUDGED)
    judge_moves(compiled, seen, game, start, end, looks_ahead, workspace)
    return end


@other_kernel
def judge_moves(
    compiled: np.record,
    seen: np.ndarray,
    game: np.record,
    start: int,
    end: int,
    looks_ahead: bool,
    workspace: np.record,
) -> None:
    """Judge the moves from `start` to `end` into `.judged`; the seat to act sees `seen`, an observation.

    Without look-ahead, only the gain is computed.
    """
    listing, judging = workspace.listing, workspace.judging
    outlook, after = judging.outlook, judging.after
    read_outlook(compiled, seen, outlook)
    if looks_ahead:
        prepare_replies(compiled, seen, judging)
    seat, side = np.int64(game.seat), np.int64(game.seat % compiled.teams)
    for at in range(start, end):
        judged = judging.judged[at]
        outcome = carry_out_hidden(compiled, seen, game, listing.moves[at], workspace)
        judged.gain = margin_of(compiled, after, side) - margin_of(compiled, game, side)
        judged.reply, judged.keep = 0.0, 0.0
        if outcome != GAME_OVER:
            judged.gain += _share_of_majorities(compiled, game, after, side, outlook.gains)
            if looks_ahead:
                judged.reply = expected_reply(compiled, after, workspace)
                if not outlook.deal_ends:
                    if compiled.building:
                        judged.keep = _promised(compiled, after, seat, outlook, listing.prices)
                    else:
                        judged.keep = _held(compiled, after, seat, workspace)
        judged.worth = judged.gain + judged.keep - judged.reply


@kernel
def carry_out_hidden(
    compiled: np.record, seen: np.ndarray, game: np.record, move: np.record, workspace: np.record
) -> int:
    """Write the game after a move into `judging.after`; return PLAYING, DEAL_OVER or GAME_OVER.

    The other seats hold as many cards as the observation says, none of which is known.
    """
    judging = workspace.judging
    judging.after = game
    for place in range(1, compiled.players):
        judging.after.hand_size[(game.seat + place) % compiled.players] = seen[_HAND_SIZE + place]
    return make_move(compiled, judging.after, move, workspace.listing)


@kernel
def _share_of_majorities(
    compiled: np.record, before: np.record, after: np.record, side: int, prices: np.record
) -> float:
    """Price the cards and spades that a side has won by a move on the way to the majorities (K5)."""
    if not compiled.counts_piles:
        return 0.0
    cards = sum_over(compiled, after.cards_won, side) - sum_over(compiled, before.cards_won, side)
    spades = sum_over(compiled, after.spades_won, side) - sum_over(compiled, before.spades_won, side)
    return -compiled.lead_sign * (cards * prices.card_price + spades * prices.spade_price)


@kernel
def _promised(compiled: np.record, after: np.record, seat: int, outlook: np.record, prices: np.ndarray) -> float:
    """Estimate what the builds of a seat's side win, unless the next seat takes them (B5)."""
    worth = 0.0
    left = np.int64(after.builds)
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        if (after.build_owner[value] - seat) % compiled.teams == 0:
            lost = chance_of_sweep(compiled, outlook, np.int64(1) << value)
            worth += (1.0 - lost) * worth_of_promise(compiled, after, value, prices)
    return worth


@kernel
def _held(compiled: np.record, after: np.record, seat: int, workspace: np.record) -> float:
    """Compute `HOLD_WEIGHT` of the most that a card left in a seat's hand could win from the table after a move."""
    judging, scratch = workspace.judging, workspace.listing.scratch
    gains, counts = judging.replies.gains, judging.outlook.sweeps_count
    gains.counts_mulle = True
    best = 0.0
    kinds = np.int64(after.hand_kinds[seat])
    while kinds != 0:
        kind = bit_index(kinds & -kinds)
        kinds &= kinds - 1
        ranks = find_best(compiled, np.int64(kind), np.int64(0), after.table, judging.replies.nothing, gains)
        search_best(compiled, np.int64(kind), ranks, counts, gains, scratch)
        if gains.kept > 0:
            best = max(best, gains.values[0])
    return HOLD_WEIGHT * best


# ---------------------------------------------------------------------- the expected reply


@other_kernel
def prepare_replies(compiled: np.record, seen: np.ndarray, judging: np.record) -> None:
    """Compute what the replies to all moves of a decision share; call `read_outlook` first."""
    outlook, replies = judging.outlook, judging.replies
    gains, own = replies.gains, outlook.gains
    gains.card_price, gains.spade_price = own.card_price, own.spade_price
    gains.budget, gains.wanted = MOST_EVALUATED, 1
    for kind in range(NUM_KINDS):
        replies.unseen[kind] = compiled.deck_counts[kind] - seen[_SEEN + kind]
    for number in range(NUM_CLASSES):
        replies.card[number] = 0.0
        if outlook.unseen[number] == 0:
            continue
        total, count = 0.0, np.int64(0)
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + compiled.class_rank[number]
            if compiled.class_of[kind] == number:
                total += replies.unseen[kind] * price_of(compiled, kind, gains.card_price, gains.spade_price)
                count += replies.unseen[kind]
        if count > 0:
            replies.card[number] = total / count


@kernel
def expected_reply(compiled: np.record, after: np.record, workspace: np.record) -> float:
    """Estimate what the next seat can win from a table, by the best of its cards and by mulles.

    The owner of a build holds a card that takes it (B5).
    """
    outlook, replies = workspace.judging.outlook, workspace.judging.replies
    gains, builds = replies.gains, np.int64(after.builds)
    gains.counts_mulle = False
    ranks = find_best(compiled, np.int64(0), np.int64(0), after.table, replies.nothing, gains)
    count, sure = 0, 0.0 if compiled.building else -np.inf  # who need not take a build takes nothing
    for number in range(NUM_CLASSES):
        if outlook.unseen[number] == 0:
            continue
        kind = number if number < NUM_RANKS else LILLAN if number == NUM_RANKS else STORAN
        gain = _best_take(compiled, after, np.int64(kind), ranks, replies.card[number], workspace)
        value = hand_value_of(compiled, kind)
        if builds >> value & 1 and after.build_owner[value] == after.seat:
            sure = max(sure, gain)
        replies.best[number] = gain
        count = _insert_reply(count, gain, outlook.unseen[number], replies)
    total, known, hits = 0.0, 0.0, np.int64(0)
    for at in range(count):  # the chance that this is the best of the next seat's cards
        hits += replies.hits[at]
        chance = chance_of_hit(hits, outlook.pool, outlook.drawn)
        total += (chance - known) * max(replies.gain[at], sure)
        known = chance
    if sure > 0.0:
        total += (1.0 - known) * sure
    return total + _expected_mulles(compiled, after, ranks, workspace)


@kernel
def _best_take(
    compiled: np.record, game: np.record, kind: int, ranks: int, price: float, workspace: np.record
) -> float:
    """Price the best capture by a card of a given price; call `find_best` first."""
    listing, gains, counts = workspace.listing, workspace.judging.replies.gains, workspace.judging.outlook.sweeps_count
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
    """Insert a gain and the number of unseen cards with it into the `count` replies so far, the best first."""
    at = count
    while at > 0 and replies.gain[at - 1] < gain:
        replies.gain[at], replies.hits[at] = replies.gain[at - 1], replies.hits[at - 1]
        at -= 1
    replies.gain[at], replies.hits[at] = gain, hits
    return count + 1


@kernel
def _expected_mulles(compiled: np.record, after: np.record, ranks: int, workspace: np.record) -> float:
    """Sum the points of the mulles that the next seat can make, times their chances (M2, G2)."""
    outlook, replies, scratch = workspace.judging.outlook, workspace.judging.replies, workspace.listing.scratch
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
    """Check whether a card could capture its identical copy from a table, loose ranks packed and builds (M2, G2)."""
    value = hand_value_of(compiled, kind)
    if copies_in(game, value, kind) > 0:
        return True
    if game.table[kind] == 0:
        return False
    return find_union(compiled, value, _ONE << NIBBLE * (kind % NUM_RANKS), ranks, scratch) != 0
