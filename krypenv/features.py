"""The features block: for each legal action its points, its sweeps, and the sweeps that it sets up for the next seat.

All of it follows from the observation and the action mask. If an action leaves several captures to choose from, the
entries describe the one with the lowest cost: points and own sweeps, minus the expected sweep of the next seat.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_KINDS, NUM_RANKS, SPADES, STOP, TAKE
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import bit_index, classes_of_values, compile_rules
from krypenv.kernels.decision_checks import check_decisions
from krypenv.kernels.gains import choose_cards, find_best
from krypenv.kernels.observing import clip_int8
from krypenv.kernels.optional import add_value
from krypenv.kernels.outlook import borrow_outlook, chance_of_sweep, read_outlook
from krypenv.kernels.scoring import is_mulle
from krypenv.kernels.weighing import built_copies, weigh_action
from krypenv.observation import LAYOUT, has_extra_features, history_shape, history_size, slices_of
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, other_kernel, parallel_kernel

Rows = npt.NDArray[np.int8]

_ENTRIES: tuple[tuple[str, int, str], ...] = (
    ("creeps", 1, "1 if the card captures nothing"),
    ("least_points", 1, "fewest points that it can take, over all its captures"),
    ("points", 1, "points that the best capture takes"),
    ("sweeps", 1, "sweeps that it makes: 0, 1 or 2"),
    ("chance", 1, "chance in percent that the next seat can sweep what it leaves"),
    ("sweepers", NUM_RANKS, "by rank: unseen cards that the next seat may hold and that would sweep what it leaves"),
)
_EXTRA: tuple[tuple[str, int, str], ...] = (  # where captures are optional, or cards, spades or mulles count
    ("cards", 1, "cards that the best capture wins, the card played included"),
    ("spades", 1, "spades among them"),
    ("mulle", 1, "1 if it is a mulle"),
    ("left_points", 1, "points of the cards that it leaves on the table"),
    ("take_chance", 1, "chance in percent that the next seat can take something of what it leaves"),
)

COLUMNS: dict[str, slice] = slices_of(_ENTRIES)
WIDTH = max(part.stop for part in COLUMNS.values())  # entries for each kind
SIZE = NUM_KINDS * WIDTH  # the block is (52, WIDTH), flat: a row for each kind to play or take, other rows zero
DESCRIPTIONS: dict[str, str] = {name: text for name, _, text in (*_ENTRIES, *_EXTRA)}
ALL_COLUMNS: dict[str, slice] = slices_of((*_ENTRIES, *_EXTRA))
ALL_WIDTH = max(part.stop for part in ALL_COLUMNS.values())

_CREEPS, _LEAST_POINTS, _POINTS, _SWEEPS, _CHANCE, _SWEEPERS = (part.start for part in COLUMNS.values())
_CARDS, _SPADES, _MULLE, _LEFT_POINTS, _TAKE_CHANCE = (
    ALL_COLUMNS[name].start for name in ("cards", "spades", "mulle", "left_points", "take_chance")
)
_TABLE, _ASIDE, _TAKEN, _CAPTURER = (LAYOUT[name].start for name in ("table", "set_aside", "taken", "last_capturer"))


def columns_of(rules: Rules) -> dict[str, slice]:
    """Name the columns of the features block under some rules, as slices of a row."""
    return ALL_COLUMNS if has_extra_features(rules) else COLUMNS


def shape_of(rules: Rules) -> tuple[int, int]:
    """Count the rows and columns of the features block: a row for each kind, and a last one for `stop` (K2)."""
    return NUM_KINDS + (rules.capture == "optional"), ALL_WIDTH if has_extra_features(rules) else WIDTH


def width_of(rules: Rules, features: bool) -> int:
    """Count N, the entries of an observation, with or without the features block."""
    rows, columns = shape_of(rules) if features else (0, 0)
    return rules.observation_size + rows * columns


def blocks_in(rules: Rules, observations: Rows) -> tuple[Rows, Rows, Rows]:
    """Split (B, N) int8 into views of the observation, the features and the history; absent blocks have no columns.

    Raises ValueError for a width that no observation has under these rules.
    """
    first, features, history = rules.observation_size, width_of(rules, True), history_size(rules)
    width = observations.shape[1] if observations.ndim == 2 else None
    for end in (first, features):
        if width in (end, end + history):
            return observations[:, :first], observations[:, first:end], observations[:, end:]
    raise ValueError(
        f"observations under {rules} are (B, {first}), with features (B, {features}), each with {history} more columns "
        f"for the history, not {observations.shape}"
    )


def history_in(rules: Rules, observations: Rows) -> Rows:
    """Extract the history block of observations, (B, N) to (B, M, W), with or without features; M is 0 without it.

    Raises ValueError for a width that no observation has under these rules.

    >>> rules = Rules.preset("krypkasino", players=2)
    >>> history_in(rules, Engine(rules, 4, history=True).observation).shape
    (4, 12, 110)
    """
    history = blocks_in(rules, observations)[2]
    columns = history_shape(rules)[1]
    return history.reshape(len(history), history.shape[1] // columns, columns)


def want_history(agents: Iterable[Any]) -> bool:
    """Check whether one of some agents asks for the history block (`needs_history`)."""
    return any(getattr(agent, "needs_history", False) for agent in agents)


def observation_for(agent: Any, rules: Rules, observations: Rows, masks: Rows) -> Rows:
    """Reduce observations, (B, N) int8 with any blocks, to those that an agent asks for.

    `needs_features` asks for the features block, which is computed if it is missing, and `needs_history` for the
    history block, which an engine writes only with `history=True`.
    """
    first, features, history = blocks_in(rules, observations)
    parts = [first]
    if getattr(agent, "needs_features", False):
        parts.append(features if features.shape[1] else append_features(rules, first, masks)[:, first.shape[1] :])
    if getattr(agent, "needs_history", False):
        parts.append(history)
    width = sum(part.shape[1] for part in parts)
    return observations if width == observations.shape[1] else np.concatenate(parts, axis=1)


@kernel
def write_features(
    compiled: np.record,
    observation: np.ndarray,
    plays: int,
    takes: int,
    outlook: np.record,
    scratch: np.record,
    out: np.ndarray,
) -> None:
    """Write the features block of an observation into `out`; legal plays and takes are bits, as in the state."""
    if not compiled.is_main:
        write_all_features(compiled, observation, plays, takes, outlook, scratch, out)
        return
    for at in range(SIZE):
        out[at] = 0
    read_outlook(compiled, observation, outlook)
    first = 0
    if takes != 0:
        first = TAKE
        plays = takes
    while plays != 0:
        bit = plays & -plays
        plays ^= bit
        kind = bit_index(bit)
        weigh_action(compiled, observation, first + kind, outlook, scratch)
        write_entries(compiled, outlook, out[kind * WIDTH : (kind + 1) * WIDTH])


@other_kernel
def write_all_features(
    compiled: np.record,
    observation: np.ndarray,
    plays: int,
    takes: int,
    outlook: np.record,
    scratch: np.record,
    out: np.ndarray,
) -> None:
    """Write the features block under any rules: some have extra entries, and a last row for `stop` (K2)."""
    width = ALL_WIDTH if compiled.extra_features else WIDTH
    rows = NUM_KINDS + 1 if compiled.optional else NUM_KINDS
    for at in range(rows * width):
        out[at] = 0
    read_outlook(compiled, observation, outlook)
    first, left = (TAKE, takes) if takes != 0 else (0, plays)
    while left != 0:
        kind = bit_index(left & -left)  # NUM_KINDS is the stop
        left &= left - 1
        weigh_action(compiled, observation, first + kind, outlook, scratch)
        row = out[kind * width : (kind + 1) * width]
        write_entries(compiled, outlook, row)
        if width > WIDTH:
            write_extra(compiled, observation, first + kind, outlook, row)


@other_kernel
def write_extra(compiled: np.record, observation: np.ndarray, action: int, outlook: np.record, out: np.ndarray) -> None:
    """Write the entries that only some rules have, for the capture that weighing found."""
    gains = outlook.gains
    card = np.int64(outlook.card if action >= TAKE else action)
    if not compiled.optional:
        table, taken = observation[_TABLE : _TABLE + NUM_KINDS], observation[_TAKEN : _TAKEN + NUM_KINDS]
        find_best(compiled, card, action, table, taken, gains)
        choose_cards(compiled, card, np.int64(outlook.capture), gains)
    captures = outlook.capture != 0 or (compiled.building and outlook.built != 0)
    takes_rest = outlook.game_ends and (captures or observation[_CAPTURER] != 0)
    cards, spades, left_points, sums = np.int64(0), np.int64(0), np.int64(0), np.int64(1)
    has_copy, lays = gains.chosen[card] > 0, compiled.building and outlook.lays
    for kind in range(NUM_KINDS):
        here = np.int64(observation[_TABLE + kind]) + (kind == card)
        if here == 0 and not takes_rest:
            continue
        won = here if takes_rest else np.int64(gains.chosen[kind] + (kind == card)) * captures
        rest = here - won
        if takes_rest:
            won += observation[_ASIDE + kind]
        cards += won
        spades += won * (kind >= SPADES * NUM_RANKS)
        if outlook.game_ends or (outlook.deal_ends and compiled.is_aside[kind]):
            rest = np.int64(0)
        left_points += rest * compiled.card_points[kind]
        if lays:
            rest -= gains.forced[kind] + (kind == card)
        choice = compiled.table_choice[kind % NUM_RANKS]
        for _ in range(rest):
            sums |= add_value(sums, choice) | choice
    if compiled.building:
        won, won_spades, points = part_builds(compiled, observation, np.int64(outlook.built))
        cards += won
        spades += won_spades
        left_points += points
        sums |= outlook.builds_left
        if outlook.built:
            has_copy |= built_copies(compiled, observation, card, np.int64(outlook.built)) > 0
    out[_CARDS], out[_SPADES], out[_LEFT_POINTS] = cards, spades, clip_int8(left_points)
    if compiled.mulle_points > 0 and captures:
        out[_MULLE] = is_mulle(card, outlook.capture, gains.chosen[card])
    if compiled.mulle_by_value and captures:
        out[_MULLE] = has_copy
    out[_TAKE_CHANCE] = np.int64(100.0 * chance_of_sweep(compiled, outlook, sums & ~1) + 0.5)


@other_kernel
def part_builds(compiled: np.record, observation: np.ndarray, value: int) -> tuple[int, int, int]:
    """Count the cards and the spades in the build that is captured, and the points in the other builds."""
    cards, spades, left_points = np.int64(0), np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        gone = built_copies(compiled, observation, kind, value) if value else np.int64(0)
        stays = built_copies(compiled, observation, kind, np.int64(0)) - gone
        cards += gone
        spades += gone * (kind >= SPADES * NUM_RANKS)
        left_points += stays * compiled.card_points[kind]
    return cards, spades, left_points


@kernel
def write_entries(compiled: np.record, outlook: np.record, out: np.ndarray) -> None:
    """Write what weighing found for an action into `out`, (WIDTH or more,) int8 zeros."""
    out[_CREEPS] = np.int64(outlook.creeps)
    out[_LEAST_POINTS] = clip_int8(np.int64(outlook.least_points))
    out[_POINTS] = clip_int8(np.int64(outlook.points))
    out[_SWEEPS] = np.int64(outlook.sweeps)
    out[_CHANCE] = np.int64(100.0 * outlook.chance + 0.5)
    classes = classes_of_values(compiled, np.int64(outlook.sweepers))
    while classes != 0:
        index = bit_index(classes & -classes)
        classes &= classes - 1
        out[_SWEEPERS + compiled.class_rank[index]] += outlook.unseen[index]


@kernel
def write_rows(
    compiled: np.ndarray,
    state: np.ndarray,
    observations: np.ndarray,
    orders: np.ndarray,
    outlook: np.ndarray,
    scratch: np.ndarray,
) -> None:
    """Write the features block of the rows that orders, (M, 2) int64, name first, behind what is observed of them."""
    for at in range(len(orders)):
        game, seen = state[orders[at, 0]], observations[orders[at, 0]]
        block = seen[compiled[0].entries :]
        write_features(compiled[0], seen, game.legal_plays, game.legal_takes, outlook[0], scratch[0], block)


@parallel_kernel
def write_parts(
    compiled: np.ndarray,
    state: np.ndarray,
    observations: np.ndarray,
    orders: np.ndarray,
    outlook: np.ndarray,
    scratch: np.ndarray,
) -> None:
    """Write the features block of the rows on several threads; outlook and scratch have a record for each, (parts,)."""
    for part in numba.prange(len(scratch)):
        own = orders[len(orders) * part // len(scratch) : len(orders) * (part + 1) // len(scratch)]
        write_rows(compiled, state, observations, own, outlook[part : part + 1], scratch[part : part + 1])


@kernel
def _write_all(
    compiled: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    outlook: np.ndarray,
    scratch: np.ndarray,
) -> None:
    for row in range(len(observations)):
        plays, takes = np.int64(0), np.int64(0)
        for kind in range(NUM_KINDS):
            plays |= np.int64(masks[row, kind]) << kind
            takes |= np.int64(masks[row, TAKE + kind]) << kind
        takes |= np.int64(masks[row, STOP]) << NUM_KINDS
        seen = observations[row]
        write_features(compiled[0], seen, plays, takes, outlook[0], scratch[0], seen[compiled[0].entries :])


def append_features(rules: Rules, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Append the features block to observations, given their masks: (B, `width_of(rules, True)`) int8.

    Observations that have the block already are returned unchanged. Raises ValueError for other widths, and if they are
    not observations.
    """
    size = rules.observation_size
    if np.shape(observations)[1:] == (width_of(rules, True),):
        return observations
    observations, masks = check_decisions(rules, observations, masks)
    if observations.shape[1] != size:
        raise ValueError(
            f"features follow observations (B, {size}), and these are {observations.shape}; "
            "an agent with needs_features = True is given them"
        )
    out = np.empty((len(observations), width_of(rules, True)), np.int8)
    out[:, :size] = observations
    _write_all(compile_rules(rules), out, masks, borrow_outlook(), borrow_scratch())
    return out
