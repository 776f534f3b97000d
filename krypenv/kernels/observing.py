"""Writes what a seat sees, and which actions are legal, from one row of the state (`krypenv.observation`)."""

from __future__ import annotations

import numpy as np

from krypenv.cards import BUILD, MAX_BUILD, NO_CARD, NUM_ACTIONS, NUM_KINDS, NUM_RANKS, TAKE
from krypenv.kernels.builds import LIES_IN
from krypenv.kernels.compiled import (
    BUILD_MULTIPLE,
    BUILD_OWNER,
    BUILDING,
    BUILT,
    BUILT_TWIN,
    CARDS_WON,
    COUNTED_SWEEPS,
    MULLE_SCORES,
    MULLES,
    SPADES_WON,
    SPECIAL,
    TABLE,
    TOTALS,
    bit_index,
)
from krypenv.observation import HISTORY_COLUMNS, HISTORY_OF_BUILDS, HISTORY_WIDTH, LAYOUT, SIZE
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, other_kernel, rare_kernel

_HAND, _TABLE, _SEEN, _ASIDE, _PENDING, _TAKEN = (
    LAYOUT[n].start for n in ("hand", "table", "seen", "set_aside", "pending", "taken")
)
_SEATED, _TEAM, _POINTS, _SWEEPS = (LAYOUT[n].start for n in ("seated", "team", "points", "sweeps"))
_HAND_SIZE, _CAPTURER, _DEALER, _TURN, _TOTAL = (
    LAYOUT[n].start for n in ("hand_size", "last_capturer", "dealer", "turn", "session_total")
)
_CANNOT_HOLD, _DEALS_LEFT, _GAMES_LEFT = (LAYOUT[n].start for n in ("cannot_hold", "deals_left", "games_left"))


@kernel
def clip_int8(number: int) -> int:
    """Clip a number to +-127."""
    return min(max(number, -127), 127)


@kernel
def write_observation(compiled: np.record, game: np.record, viewer: int, out: np.ndarray) -> None:
    """Write what one seat sees of a row into `out`, (>= compiled.entries,) int8; later entries are left alone."""
    players = compiled.players
    hand, table, seen, aside = game.hands[viewer], game.table, game.seen, game.set_aside
    for kind in range(NUM_KINDS):
        out[_HAND + kind] = hand[kind]
        out[_TABLE + kind] = table[kind]
        out[_SEEN + kind] = seen[kind] + hand[kind]
        out[_ASIDE + kind] = aside[kind]
    for at in range(_PENDING, SIZE):
        out[at] = 0
    if game.pending != NO_CARD:
        out[_PENDING + game.pending] = 1
        for kind in range(NUM_KINDS):
            out[_TAKEN + kind] = game.taken[kind]

    total = np.int64(0)
    for seat in range(players):
        total += game.totals[seat]
    seat = viewer
    for place in range(players):
        out[_SEATED + place] = 1
        out[_TEAM + place] = compiled.relative_team[place]
        out[_POINTS + place] = clip_int8(game.points[seat] + game.bonus[seat])
        out[_SWEEPS + place] = clip_int8(game.sweeps[seat])
        out[_HAND_SIZE + place] = game.hand_size[seat]
        out[_CAPTURER + place] = seat == game.last_capturer
        out[_DEALER + place] = seat == game.dealer
        out[_TURN + place] = seat == game.seat
        if game.game_number > 1:
            out[_TOTAL + place] = clip_int8((2 * (players * game.totals[seat] - total) + players) // (2 * players))
        if place > 0:
            start = _CANNOT_HOLD + (place - 1) * NUM_RANKS
            for rank in range(NUM_RANKS):
                out[start + rank] = game.cannot_hold[seat] >> rank & 1
        seat += 1
        if seat == players:
            seat = 0
    out[_DEALS_LEFT] = compiled.num_deals - game.deal_number
    out[_GAMES_LEFT] = clip_int8(max(compiled.games - game.game_number, 0))
    if compiled.entries > SIZE:
        write_extra(compiled, game, viewer, out)


@rare_kernel
def write_extra(compiled: np.record, game: np.record, viewer: int, out: np.ndarray) -> None:
    """Write the blocks that only some rules have (K7)."""
    for at in range(SIZE, compiled.entries):
        out[at] = 0
    cards, spades, counted = compiled.blocks[CARDS_WON], compiled.blocks[SPADES_WON], compiled.blocks[COUNTED_SWEEPS]
    mulles, totals, special = compiled.blocks[MULLES], compiled.blocks[TOTALS], compiled.blocks[SPECIAL]
    mulle_scores = compiled.blocks[MULLE_SCORES]
    if compiled.building:
        write_builds(compiled, game, viewer, out)
    seat = viewer
    for place in range(compiled.players):
        if cards:
            out[cards + place] = game.cards_won[seat]
            out[spades + place] = game.spades_won[seat]
        if counted:
            out[counted + place] = clip_int8(game.sweeps[seat] - game.void_sweeps[seat])
        if mulles:
            out[_POINTS + place] = clip_int8(
                game.points[seat] + game.bonus[seat] + compiled.mulle_points * game.mulles[seat]
            )
            out[mulles + place] = clip_int8(game.mulles[seat])
        if mulle_scores:
            out[mulle_scores + place] = clip_int8(game.mulle_scores[seat])
        if totals:
            out[_TOTAL + place] = 0
            out[totals + place] = clip_int8(game.totals[seat])
        if special and place > 0:
            out[special + 2 * (place - 1)] = game.cannot_hold[seat] >> NUM_RANKS & 1
            out[special + 2 * (place - 1) + 1] = game.cannot_hold[seat] >> NUM_RANKS + 1 & 1
        seat += 1
        if seat == compiled.players:
            seat = 0


@other_kernel
def write_builds(compiled: np.record, game: np.record, viewer: int, out: np.ndarray) -> None:
    """Write the builds on the table, and the value of the one that the pending card makes (B1)."""
    if game.pending != NO_CARD:
        out[compiled.blocks[BUILDING]] = game.build_value
    left = np.int64(game.builds)
    if left != 0:
        for kind in range(NUM_KINDS):
            pair = LIES_IN[game.built[kind]]
            out[compiled.blocks[BUILT] + kind], out[compiled.blocks[BUILT_TWIN] + kind] = pair[0], pair[1]
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        place = (game.build_owner[value] - viewer + compiled.players) % compiled.players
        out[compiled.blocks[BUILD_OWNER] + value - 1] = place + 1
        out[compiled.blocks[BUILD_MULTIPLE] + value - 1] = game.multiple_builds >> value & 1


@kernel
def write_mask(game: np.record, out: np.ndarray) -> None:
    """Write the action mask of the seat to act into `out`, (A,) int8."""
    for action in range(len(out)):
        out[action] = 0
    left = game.legal_plays
    while left != 0:
        bit = left & -left
        left ^= bit
        out[bit_index(bit)] = 1
    left = game.legal_takes
    while left != 0:
        bit = left & -left
        left ^= bit
        out[TAKE + bit_index(bit)] = 1
    if len(out) > NUM_ACTIONS:
        write_build_mask(game, out)


@rare_kernel
def write_build_mask(game: np.record, out: np.ndarray) -> None:
    """Write which builds may be begun or taken into a mask, (139,) int8 (B1, B2)."""
    left = np.int64(game.legal_builds)
    while left != 0:
        out[BUILD + bit_index(left & -left)] = 1
        left &= left - 1


# ---------------------------------------------------------------------- the history

# Entries of a recorded play: the seat, the card (NO_CARD if it is not known), and what it took; where cards are built
# also the build that it made, whether one lay there, and the one that it captured or raised, or 0.
RECORD = 2 + NUM_KINDS
RECORD_WITH_BUILDS = RECORD + 3
_CARD, _TAKES = HISTORY_COLUMNS["card"].start, HISTORY_COLUMNS["takes"].start


@kernel
def plays_of_deal(compiled: np.record, game: np.record) -> int:
    """Count the complete plays of the current deal."""
    number = game.deal_number
    plays = 0 if game.pending == NO_CARD else -1
    for place in range(compiled.deal_start[number - 1], compiled.deal_start[number]):
        plays += compiled.destination[place] != TABLE
    for seat in range(compiled.players):
        plays -= game.hand_size[seat]
    return plays


@kernel
def note_play(compiled: np.record, game: np.record, record: np.ndarray) -> None:
    """Write the last complete play, if it belongs to the current deal, into its row of `record`, (M, RECORD) int8."""
    plays = plays_of_deal(compiled, game)
    if plays > 0 and game.pending == NO_CARD:
        row = record[plays - 1]
        row[0], row[1] = game.last_seat, game.last_card
        for kind in range(NUM_KINDS):
            row[2 + kind] = game.taken[kind]
        if compiled.building:
            note_builds(game, row)


@rare_kernel
def note_builds(game: np.record, row: np.ndarray) -> None:
    """Add the builds of the last complete play to its record."""
    made = np.int64(game.build_value)
    others = np.int64(game.taken_builds) & ~(np.int64(made != 0) << made)
    row[RECORD], row[RECORD + 1] = made, others != game.taken_builds
    row[RECORD + 2] = bit_index(others) if others != 0 else 0


@kernel
def write_play(play: np.ndarray, viewer: int, players: int, out: np.ndarray) -> None:
    """Write a recorded play, (RECORD or more,) int8, as a seat sees it into `out`, a row of the history block."""
    for at in range(len(out)):
        out[at] = 0
    if play[1] != NO_CARD:
        out[(play[0] - viewer) % players] = 1
        out[_CARD + play[1]] = 1
        for kind in range(NUM_KINDS):
            out[_TAKES + kind] = play[2 + kind]
        if len(out) > HISTORY_WIDTH:
            write_builds_of(play, out[HISTORY_WIDTH:])


@rare_kernel
def write_builds_of(play: np.ndarray, out: np.ndarray) -> None:
    """Write the builds of a recorded play, (RECORD_WITH_BUILDS,) int8, into the last columns of its row."""
    made, is_joined, other = play[RECORD], play[RECORD + 1], play[RECORD + 2]
    if made != 0:
        out[made] = 1
        out[MAX_BUILD + 1 + made] = is_joined
    if other != 0:
        out[MAX_BUILD + 1 + other] = 1


@kernel
def write_history(compiled: np.record, game: np.record, record: np.ndarray, viewer: int, out: np.ndarray) -> None:
    """Write the plays of the current deal as a seat sees them into `out`, (M * W,) int8."""
    plays = plays_of_deal(compiled, game)
    width = HISTORY_WIDTH + HISTORY_OF_BUILDS * np.int64(compiled.building)
    for at in range(len(record)):
        part = out[at * width : (at + 1) * width]
        if at < plays:
            write_play(record[at], viewer, compiled.players, part)
        else:
            for entry in range(width):
                part[entry] = 0


@kernel
def note_rows(
    compiled: np.ndarray,
    state: np.ndarray,
    orders: np.ndarray,
    record: np.ndarray,
    seen: np.ndarray,
    out: np.ndarray,
) -> None:
    """Record the last plays of the rows in `orders`, (M, 2) int64, in (B, M, RECORD) int8.

    Then write what is seen, (B, N) int8, and the history after it, into their rows of `out`.
    """
    size = seen.shape[1]
    for at in range(len(orders)):
        row = orders[at, 0]
        note_play(compiled[0], state[row], record[row])
        for entry in range(size):
            out[row, entry] = seen[row, entry]
        write_history(compiled[0], state[row], record[row], state[row].seat, out[row, size:])


def record_width(rules: Rules) -> int:
    """Count the entries of a recorded play under some rules."""
    return RECORD_WITH_BUILDS if rules.building else RECORD
