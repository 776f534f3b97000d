"""The gain, the expected reply and the keep of each listed move: each is carried out, and the table after it judged.

The gain is what the margin changes by at once, with a fair share of the majorities for each card and spade won. The
reply is what the next seat can then be expected to win. The keep is what the own hand may take later, and what builds
of the own side will win unless the next seat takes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.judgement.replies import REPLIES, expected_reply, look_at_replies
from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.making import make_move
from krypenv.agents.moves.prices import set_prices, worth_of_promise
from krypenv.agents.moves.space import MOST_JUDGED
from krypenv.cards import NUM_BUILDING_ACTIONS
from krypenv.kernels.compiled import bit_index
from krypenv.kernels.gains import find_best, search_best
from krypenv.kernels.outlook import OUTLOOK, chance_of_sweep, look
from krypenv.kernels.play import GAME_OVER
from krypenv.kernels.scoring import margin_of, sum_over
from krypenv.observation import LARGEST_SIZE, LAYOUT
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.state import GAME

HOLD_WEIGHT = 0.3  # of what the own hand could take later, where nothing is built

_HAND_SIZE = LAYOUT["hand_size"].start

JUDGED = np.dtype(
    [
        ("gain", np.float64),  # what a move wins at once
        ("reply", np.float64),  # what the next seat can be expected to win
        ("keep", np.float64),  # what the own side keeps for later
        ("worth", np.float64),  # the gain, less the reply, and the keep
    ],
    align=True,
)


def judging_type(moves: int) -> np.dtype[Any]:
    """Return the dtype of what judging so many moves needs."""
    return np.dtype(
        [
            ("legal", np.int64, (NUM_BUILDING_ACTIONS,)),  # legal actions
            ("outlook", OUTLOOK),
            ("seen", np.int8, (LARGEST_SIZE,)),  # an observation
            ("after", GAME),  # what a move makes of the game
            ("replies", REPLIES),
            ("listed", np.int64),  # moves that were judged
            ("judged", JUDGED, (moves,)),
        ],
        align=True,
    )


@kernel
def judge_decision(
    compiled: np.record,
    seen: np.ndarray,
    game: np.record,
    start: int,
    looks_ahead: bool,
    listing: np.record,
    judging: np.record,
) -> int:
    """List the moves of a game from `start` on, and judge the best `MOST_JUDGED` of them; return where they end.

    Set `listing.keep` first: how many captures of a card are listed.
    """
    set_prices(compiled, game, listing)
    end = list_moves(compiled, game, start, listing)
    order_moves(compiled, game, start, end, listing)
    end = min(end, start + MOST_JUDGED)
    judge_moves(compiled, seen, game, start, end, looks_ahead, listing, judging)
    return end


@other_kernel
def judge_moves(
    compiled: np.record,
    seen: np.ndarray,
    game: np.record,
    start: int,
    end: int,
    looks_ahead: bool,
    listing: np.record,
    judging: np.record,
) -> None:
    """Judge the moves from `start` to `end` of a game whose seat to act sees `seen`, an observation, into `.judged`.

    Without look-ahead, only the gain is computed.
    """
    outlook, replies, after = judging.outlook, judging.replies, judging.after
    look(compiled, seen, outlook)
    if looks_ahead:
        look_at_replies(compiled, seen, outlook, replies)
    seat, side = np.int64(game.seat), np.int64(game.seat % compiled.teams)
    for at in range(start, end):
        judged = judging.judged[at]
        outcome = carry_out_hidden(compiled, seen, game, listing.moves[at], listing, judging)
        judged.gain = margin_of(compiled, after, side) - margin_of(compiled, game, side)
        judged.reply, judged.keep = 0.0, 0.0
        if outcome != GAME_OVER:
            judged.gain += _share_of_majorities(compiled, game, after, side, outlook.gains)
            if looks_ahead:
                judged.reply = expected_reply(compiled, after, outlook, replies, listing)
                if not outlook.deal_ends:
                    if compiled.building:
                        judged.keep = _promised(compiled, after, seat, outlook, listing.prices)
                    else:
                        judged.keep = _held(compiled, after, seat, judging, listing.scratch)
        judged.worth = judged.gain + judged.keep - judged.reply


@kernel
def carry_out_hidden(
    compiled: np.record,
    seen: np.ndarray,
    game: np.record,
    move: np.record,
    listing: np.record,
    judging: np.record,
) -> int:
    """Write what a move makes of a game into `judging.after`; return PLAYING, DEAL_OVER or GAME_OVER.

    How many cards the other seats hold is known, though not which.
    """
    judging.after = game
    for place in range(1, compiled.players):
        judging.after.hand_size[(game.seat + place) % compiled.players] = seen[_HAND_SIZE + place]
    return make_move(compiled, judging.after, move, listing)


@kernel
def _share_of_majorities(
    compiled: np.record, before: np.record, after: np.record, side: int, prices: np.record
) -> float:
    """Return what the cards and the spades that a side has won are worth on the way to the majorities (K5)."""
    if not compiled.counts_piles:
        return 0.0
    cards = sum_over(compiled, after.cards_won, side) - sum_over(compiled, before.cards_won, side)
    spades = sum_over(compiled, after.spades_won, side) - sum_over(compiled, before.spades_won, side)
    return -compiled.lead_sign * (cards * prices.card_price + spades * prices.spade_price)


@kernel
def _promised(compiled: np.record, after: np.record, seat: int, outlook: np.record, prices: np.ndarray) -> float:
    """Return what the builds of a seat's side win, unless the next seat takes them (B5)."""
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
def _held(compiled: np.record, after: np.record, seat: int, judging: np.record, scratch: np.record) -> float:
    """Return `HOLD_WEIGHT` of the most that a card left in a seat's hand could win from the table after a move."""
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
