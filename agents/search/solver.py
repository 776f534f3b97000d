"""The open-hand solver, as kernels: alpha-beta with a transposition table, and max^n.

Alpha-beta is exact if it reaches the end of the deal. The table stores what a position gains over the margin so far,
or a bound of it, so that positions with other margins share it (`_open`, `_store`). A line that is cut gets a leaf
value: the margin at the end of the deal, if every seat makes its cheapest move, and what is expected after it.
"""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.listing import known_sweeps, list_moves, order_moves
from krypenv.agents.moves.making import make_move
from krypenv.agents.moves.prices import POINT, promised_margin
from krypenv.agents.search.horizon import expected_margin, majority_margin, may_sweep
from krypenv.agents.workspace import TABLE_SIZE
from krypenv.cards import NUM_KINDS
from krypenv.kernels.builds import copies_in
from krypenv.kernels.compiled import bit_index
from krypenv.kernels.deals import deal
from krypenv.kernels.play import DEAL_OVER, GAME_OVER, PLAYING, allow_plays
from krypenv.kernels.scoring import margin_of, running_score, sum_over
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.state import mix

PARANOID, MAX_N = 0, 1  # the other sides minimize the searching side's margin, or each maximizes its own
EXACT, AT_LEAST, AT_MOST = 0, 1, 2  # what the transposition table knows of a position's value

_TABLE_MASK = np.uint64(TABLE_SIZE - 1)


@kernel
def value_of(compiled: np.record, game: np.record, side: int, outcome: int, start: int, workspace: np.record) -> float:
    """Compute a side's leaf value: its margin so far and what it can expect to come."""
    listing, lines = workspace.listing, workspace.lines
    if not compiled.is_main and lines.known_deals == 0 and outcome != GAME_OVER:
        return _value_of_any(compiled, game, side, outcome, start, workspace)
    if outcome == PLAYING or (outcome == DEAL_OVER and lines.known_deals > 0):
        lines.ahead = game
        game = lines.ahead
        outcome = play_cheapest(compiled, game, outcome, lines.known_deals, start, listing)
    margin = margin_of(compiled, game, side)
    if outcome == GAME_OVER:
        return margin
    return margin + expected_margin(compiled, game, game.deal_number, side)


@other_kernel
def _value_of_any(
    compiled: np.record, game: np.record, side: int, outcome: int, start: int, workspace: np.record
) -> float:
    """Compute a side's leaf value under rules beyond the main game's.

    If a line is cut in the middle of a deal, the seat to act still makes the move of the largest immediate gain. For a
    low goal that is to take nothing, if it may.
    """
    listing = workspace.listing
    margin = margin_of(compiled, game, side)
    if outcome == PLAYING:
        gain = 0.0
        if compiled.lead_sign < 0 or not compiled.optional:
            end = list_moves(compiled, game, start, listing)
            order_moves(compiled, game, start, end, listing)
            gain = -listing.moves[start].cost / POINT
            if compiled.optional:
                gain = max(gain, 0.0)
        if compiled.building:
            margin += promised_margin(compiled, game, side, listing.prices)
        own = game.seat % compiled.teams == side
        return margin + majority_margin(compiled, game, side) + (gain if own else -gain / (compiled.teams - 1))
    if may_sweep(compiled, game):
        game.sweep_values = known_sweeps(compiled, np.int64(game.table_ranks), listing)
    return margin + expected_margin(compiled, game, game.deal_number, side)


@kernel
def play_cheapest(
    compiled: np.record, game: np.record, outcome: int, deals: int, start: int, listing: np.record
) -> int:
    """Play to the end of the deal, and of `deals` more from the known deck; return DEAL_OVER or GAME_OVER.

    Every seat makes the move of least immediate cost, knowing the next hand (`order_moves`).
    """
    while True:
        while outcome == PLAYING:
            end = list_moves(compiled, game, start, listing)
            if end > start + 1:
                order_moves(compiled, game, start, end, listing)
            outcome = make_move(compiled, game, listing.moves[start], listing)
        if outcome == GAME_OVER or deals == 0:
            return outcome
        deals -= 1
        deal(compiled, game)
        allow_plays(compiled, game, known_sweeps(compiled, game.table_ranks, listing))
        outcome = PLAYING


@kernel
def key_after(game: np.record, move: np.record, key: np.uint64, workspace: np.record) -> np.uint64:
    """Compute the Zobrist key of the position after a move: a sum over the cards in hands and loose on the table.

    The seat to act follows from the hands, and the deck does not change within one search.
    """
    listing, lines, seat = workspace.listing, workspace.lines, game.seat
    key -= lines.hand_keys[seat, move.card]
    lays = move.build != 0
    if move.ranks == 0 and move.taken == 0 and not lays:
        return key + listing.table_keys[move.card]
    for taken in (np.int64(move.once), np.int64(move.twice)):
        kinds = taken
        while kinds != 0:
            key -= listing.table_keys[bit_index(kinds & -kinds)]
            kinds &= kinds - 1
    if lays:
        return key
    return key - lines.last_keys[game.last_capturer + 1] + lines.last_keys[seat + 1]


@other_kernel
def piles_key(compiled: np.record, game: np.record) -> np.uint64:
    """Hash what the rest of a deal depends on beside the cards: piles and scores, where they count.

    Majorities depend on the piles (K5). Scores make sweeps void or end the session (F5, F6). Which sweeps cancel
    depends on those made (F4).
    """
    key = np.uint64(0)
    for side in range(compiled.teams):
        word = np.int64(side + 1)
        if compiled.counts_piles:
            word = word << 8 | sum_over(compiled, game.cards_won, side)
            word = word << 8 | sum_over(compiled, game.spades_won, side)
        if compiled.judges_sweeps or compiled.threshold_at_once:
            word = word << 16 | running_score(compiled, game, side) & 0xFFFF
        if compiled.sweeps_cancel:
            sweeps = sum_over(compiled, game.sweeps, side) - sum_over(compiled, game.void_sweeps, side)
            word = word << 8 | sweeps & 0xFF
        key += mix(np.uint64(word))
    return key + builds_key(game) if compiled.building else key


@kernel
def builds_key(game: np.record) -> np.uint64:
    """Hash the builds: their cards, their owners, and which of them are multiple."""
    key = np.uint64(0)
    left = np.int64(game.builds)
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        word = (value << 8 | np.int64(game.multiple_builds) >> value & 1) << 8 | np.int64(game.build_owner[value]) + 1
        for kind in range(NUM_KINDS):
            for copy in range(copies_in(game, value, kind)):
                key += mix(np.uint64(word << 8 | 2 * kind + copy))
    return key


@kernel
def alpha_beta(
    compiled: np.record, workspace: np.record, side: int, outcome: int, start: int, key: np.uint64, plies: int
) -> float:
    """Search a side's margin from the position in `lines.stack[1]`: the side maximizes it, and all others minimize.

    Exact for two sides if `plies` reach the end of the deal, given the leaf value there. Moves are written from `start`
    on. `key` is the key of the position; a key must not be used again with other hands or decks. A search that reaches
    `lines.limit` nodes is given up, and its value means nothing.
    """
    listing, lines = workspace.listing, workspace.lines
    frames, stack = lines.frames, lines.stack
    if outcome != PLAYING or plies < 1:
        return value_of(compiled, stack[1], side, outcome, start, workspace)
    frames[0].alpha, frames[0].beta, frames[0].end = -np.inf, np.inf, start
    if _open(compiled, side, key, 1, workspace):
        return frames[1].best
    depth = 1
    while True:
        frame = frames[depth]
        if frame.at == frame.end:
            value = frame.best
            _store(frame, lines)
            depth -= 1
            if depth == 0:
                return value
        else:
            move = listing.moves[frame.at]
            stack[depth + 1] = stack[depth]
            game = stack[depth + 1]
            key = key_after(game, move, frame.key, workspace)
            outcome = make_move(compiled, game, move, listing)
            listing.nodes += 1
            if listing.nodes >= lines.limit:
                return 0.0
            if outcome != PLAYING or depth >= plies:
                value = value_of(compiled, game, side, outcome, frame.end, workspace)
            elif _open(compiled, side, key, depth + 1, workspace):
                value = frames[depth + 1].best
            else:
                depth += 1
                continue
        _back_up(frames[depth], value)


@kernel
def _open(compiled: np.record, side: int, key: np.uint64, depth: int, workspace: np.record) -> bool:
    """Open the node of a position of the line; return whether the transposition table has its value, or a cutoff."""
    listing, lines = workspace.listing, workspace.lines
    game, above, frame = lines.stack[depth], lines.frames[depth - 1], lines.frames[depth]
    margin = margin_of(compiled, game, side)
    place = key
    if not compiled.is_main:
        place += piles_key(compiled, game)
    entry = lines.table[np.int64(place & _TABLE_MASK)]
    if entry.key == place:
        value = margin + entry.gain
        if (
            entry.bound == EXACT
            or (entry.bound == AT_LEAST and value >= above.beta)
            or (entry.bound == AT_MOST and value <= above.alpha)
        ):
            frame.best = value
            return True
    frame.key, frame.place, frame.margin = key, place, margin
    frame.alpha = frame.low = above.alpha
    frame.beta = frame.high = above.beta
    frame.own = game.seat % compiled.teams == side
    frame.best = -np.inf if frame.own else np.inf
    frame.at = above.end
    frame.end = list_moves(compiled, game, frame.at, listing)
    if frame.end > frame.at + 1:
        order_moves(compiled, game, frame.at, frame.end, listing)
    return False


@kernel
def solve_open_deal(
    compiled: np.record, game: np.record, side: int, start: int, key: np.uint64, workspace: np.record
) -> float:
    """Search a side's margin from a position with all hands open to the end of the deal, by `alpha_beta`."""
    workspace.lines.stack[1] = game
    return alpha_beta(compiled, workspace, side, PLAYING, start, key, np.sum(game.hand_size))


@kernel
def _back_up(frame: np.record, value: float) -> None:
    """Back up the value of the last move; cut off the node's other moves if they can't matter."""
    if frame.own:
        frame.best = max(frame.best, value)
        frame.alpha = max(frame.alpha, value)
    else:
        frame.best = min(frame.best, value)
        frame.beta = min(frame.beta, value)
    frame.at = frame.at + 1 if frame.alpha < frame.beta else frame.end


@kernel
def _store(frame: np.record, lines: np.record) -> None:
    """Store what a node gains over its margin so far in the transposition table."""
    entry = lines.table[np.int64(frame.place & _TABLE_MASK)]
    entry.key = frame.place
    entry.gain = frame.best - frame.margin
    entry.bound = AT_MOST if frame.best <= frame.low else AT_LEAST if frame.best >= frame.high else EXACT


@kernel
def max_n(compiled: np.record, workspace: np.record, side: int, outcome: int, start: int, plies: int) -> float:
    """Search a side's margin from the position in `lines.stack[1]` if every side maximizes its own (max^n).

    Luckhardt and Irani 1986. Of moves that are equal for the side to move, the first one counts.
    """
    listing, lines = workspace.listing, workspace.lines
    frames, stack = lines.frames, lines.stack
    if outcome != PLAYING or plies < 1:
        return value_of(compiled, stack[1], side, outcome, start, workspace)
    frames[0].end = start
    _open_n(compiled, 1, workspace)
    depth = 1
    while True:
        frame = frames[depth]
        if frame.at == frame.end:
            for team in range(compiled.teams):
                lines.margins[team] = frame.margins[team]
            depth -= 1
            if depth == 0:
                return lines.margins[side]
        else:
            stack[depth + 1] = stack[depth]
            game = stack[depth + 1]
            outcome = make_move(compiled, game, listing.moves[frame.at], listing)
            listing.nodes += 1
            if outcome == PLAYING and depth < plies:
                _open_n(compiled, depth + 1, workspace)
                depth += 1
                continue
            for team in range(compiled.teams):
                lines.margins[team] = value_of(compiled, game, team, outcome, frame.end, workspace)
        frame = frames[depth]
        mover = stack[depth].seat % compiled.teams
        if lines.margins[mover] > frame.best:
            frame.best = lines.margins[mover]
            for team in range(compiled.teams):
                frame.margins[team] = lines.margins[team]
        frame.at += 1


@kernel
def _open_n(compiled: np.record, depth: int, workspace: np.record) -> None:
    """Open the node of max^n of a position of the line."""
    frame, start = workspace.lines.frames[depth], workspace.lines.frames[depth - 1].end
    frame.best, frame.at = -np.inf, start
    frame.end = list_moves(compiled, workspace.lines.stack[depth], start, workspace.listing)
