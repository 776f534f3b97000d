"""Search inside a deal whose hands are known, as kernels: alpha-beta, exact where it reaches the end, and max^n."""

from __future__ import annotations

import numpy as np

from krypenv.agents.search.horizon import expected_margin
from krypenv.agents.search.space import MEMORY_SIZE
from krypenv.agents.search.tree import (
    known_sweeps,
    list_moves,
    make_move,
    order_moves,
)
from krypenv.kernels.captures import bit_index
from krypenv.kernels.play import DEAL_OVER, GAME_OVER, PLAYING, allow_plays, deal
from krypenv.kernels.scoring import margin_of
from krypenv.runtime.jit import kernel

PARANOID, MAX_N = 0, 1  # what the others do: keep the searching side's margin low, or each its own one high
EXACT, AT_LEAST, AT_MOST = 0, 1, 2  # what is remembered of a position's value

_MEMORY_MASK = np.uint64(MEMORY_SIZE - 1)


@kernel
def value_of(
    tables: np.record, model: np.record, game: np.record, side: int, outcome: int, start: int, space: np.record
) -> float:
    """Return the margin expected of a side where the search goes no further: so far, and what is likely to come."""
    if outcome == PLAYING or (outcome == DEAL_OVER and model.deals > 0):
        space.ahead = game
        game = space.ahead
        outcome = play_on(tables, game, outcome, model.deals, start, space)
    margin = margin_of(tables, game, side)
    if outcome == GAME_OVER:
        return margin
    return margin + expected_margin(tables, model, game, game.deal_number, side)


@kernel
def play_on(tables: np.record, game: np.record, outcome: int, deals: int, start: int, space: np.record) -> int:
    """Play on to the end of the deal, and of some more whose cards are known; return DEAL_OVER or GAME_OVER.

    Every seat makes the move that costs least at once, knowing the next hand (`order_moves`).
    """
    while True:
        while outcome == PLAYING:
            end = list_moves(tables, game, start, space)
            if end > start + 1:
                order_moves(tables, game, start, end, space)
            outcome = make_move(tables, game, space.moves[start], space)
        if outcome == GAME_OVER or deals == 0:
            return outcome
        deals -= 1
        deal(tables, game)
        allow_plays(tables, game, known_sweeps(tables, game.table_ranks, space))
        outcome = PLAYING


@kernel
def key_after(space: np.record, game: np.record, move: np.record, key: np.uint64) -> np.uint64:
    """Return the key of the position after a move: a sum over the cards in hands and on the table.

    What else the rest of a deal depends on, the seat to act and the deck, does not change within one search.
    """
    seat = game.seat
    key -= space.hand_keys[seat, move.card]
    if move.ranks == 0:
        return key + space.table_keys[move.card]
    kinds = np.int64(move.once)
    while kinds != 0:
        bit = kinds & -kinds
        kinds ^= bit
        key -= space.table_keys[bit_index(bit)]
    kinds = np.int64(move.twice)
    while kinds != 0:
        bit = kinds & -kinds
        kinds ^= bit
        key -= space.table_keys[bit_index(bit)]
    return key - space.last_keys[game.last_capturer + 1] + space.last_keys[seat + 1]


@kernel
def alpha_beta(
    tables: np.record,
    model: np.record,
    space: np.record,
    side: int,
    outcome: int,
    start: int,
    key: np.uint64,
    plies: int,
) -> float:
    """Return the margin of a side from the position in `space.stack[1]`, which it raises and all others lower.

    Exact for two sides where `plies` reach the end of the deal, up to the value given to that end. `start` is where
    there is room for moves, and `key` that of the position; a key must not be used again with other hands or decks.
    """
    frames, stack = space.frames, space.stack
    if outcome != PLAYING or plies < 1:
        return value_of(tables, model, stack[1], side, outcome, start, space)
    frames[0].alpha, frames[0].beta, frames[0].end = -np.inf, np.inf, start
    if _open(tables, stack[1], side, key, frames[0], frames[1], space):
        return frames[1].best
    depth = 1
    while True:
        frame = frames[depth]
        if frame.at == frame.end:
            value = frame.best
            _remember(frame, space)
            depth -= 1
            if depth == 0:
                return value
        else:
            move = space.moves[frame.at]
            stack[depth + 1] = stack[depth]
            game = stack[depth + 1]
            key = key_after(space, game, move, frame.key)
            outcome = make_move(tables, game, move, space)
            space.nodes += 1
            if outcome != PLAYING or depth >= plies:
                value = value_of(tables, model, game, side, outcome, frame.end, space)
            elif _open(tables, game, side, key, frame, frames[depth + 1], space):
                value = frames[depth + 1].best
            else:
                depth += 1
                continue
        _back_up(frames[depth], value)


@kernel
def _open(
    tables: np.record, game: np.record, side: int, key: np.uint64, above: np.record, frame: np.record, space: np.record
) -> bool:
    """Begin a node; return whether its value, or enough of it, is remembered: it is in `frame.best` then."""
    margin = margin_of(tables, game, side)
    known = space.memory[np.int64(key & _MEMORY_MASK)]
    if known.key == key:
        value = margin + known.gain
        if (
            known.bound == EXACT
            or (known.bound == AT_LEAST and value >= above.beta)
            or (known.bound == AT_MOST and value <= above.alpha)
        ):
            frame.best = value
            return True
    frame.key, frame.margin = key, margin
    frame.alpha = frame.low = above.alpha
    frame.beta = frame.high = above.beta
    frame.own = game.seat % tables.teams == side
    frame.best = -np.inf if frame.own else np.inf
    frame.start = frame.at = above.end
    frame.end = list_moves(tables, game, frame.start, space)
    if frame.end > frame.start + 1:
        order_moves(tables, game, frame.start, frame.end, space)
    return False


@kernel
def _back_up(frame: np.record, value: float) -> None:
    """Take the value of the move just tried; leave the node where the rest can't matter."""
    if frame.own:
        frame.best = max(frame.best, value)
        frame.alpha = max(frame.alpha, value)
    else:
        frame.best = min(frame.best, value)
        frame.beta = min(frame.beta, value)
    frame.at = frame.at + 1 if frame.alpha < frame.beta else frame.end


@kernel
def _remember(frame: np.record, space: np.record) -> None:
    """Remember what a node gains over its margin so far."""
    known = space.memory[np.int64(frame.key & _MEMORY_MASK)]
    known.key = frame.key
    known.gain = frame.best - frame.margin
    known.bound = AT_MOST if frame.best <= frame.low else AT_LEAST if frame.best >= frame.high else EXACT


@kernel
def max_n(
    tables: np.record, model: np.record, space: np.record, side: int, outcome: int, start: int, plies: int
) -> float:
    """Return the margin of a side from the position in `space.stack[1]` if every side raises its own (max^n).

    Luckhardt and Irani 1986. Among moves that are equal for the side to move the first one counts.
    """
    frames, stack = space.frames, space.stack
    if outcome != PLAYING or plies < 1:
        return value_of(tables, model, stack[1], side, outcome, start, space)
    frames[0].end = start
    _open_n(tables, stack[1], frames[0], frames[1], space)
    depth = 1
    while True:
        frame = frames[depth]
        if frame.at == frame.end:
            for each in range(tables.teams):
                space.margins[each] = frame.margins[each]
            depth -= 1
            if depth == 0:
                return space.margins[side]
        else:
            stack[depth + 1] = stack[depth]
            game = stack[depth + 1]
            outcome = make_move(tables, game, space.moves[frame.at], space)
            space.nodes += 1
            if outcome == PLAYING and depth < plies:
                _open_n(tables, game, frame, frames[depth + 1], space)
                depth += 1
                continue
            for each in range(tables.teams):
                space.margins[each] = value_of(tables, model, game, each, outcome, frame.end, space)
        frame = frames[depth]
        mover = stack[depth].seat % tables.teams
        if space.margins[mover] > frame.best:
            frame.best = space.margins[mover]
            for each in range(tables.teams):
                frame.margins[each] = space.margins[each]
        frame.at += 1


@kernel
def _open_n(tables: np.record, game: np.record, above: np.record, frame: np.record, space: np.record) -> None:
    """Begin a node of max^n."""
    frame.best = -np.inf
    frame.start = frame.at = above.end
    frame.end = list_moves(tables, game, frame.start, space)
