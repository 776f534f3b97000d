"""The tree of a deal, in flat arrays: its nodes, information sets and ends, and how they are found again.

A hand is played out before the next one is dealt, so nothing is hidden between two deals. A *deal* here is therefore a
game of its own: it begins in a public position, chance gives the hands, and each of its ends is the end of the game or
the public position in which a next deal begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.kernels.observing import write_history, write_observation
from krypenv.kernels.scoring import margin_of
from krypenv.runtime.jit import kernel
from krypenv.state import mix
from krypenv.training.solving.pairs import Pairs

FULL = -(1 << 40)  # an array has no room
STEPS = 64  # more than a play has actions
MOST_LENGTH = STEPS * 54  # two hands of 26 cards
MOST_DEPTH = 160  # actions of a deal, at most: two hands of 26 cards, and what they take
WALK = ("nodes", "edges", "infosets", "choices", "leaves", "positions", "publics", "hands", "histories")
NODES, EDGES, INFOSETS, CHOICES, LEAVES, POSITIONS, PUBLICS, HANDS, HISTORIES = range(len(WALK))


class Forest(NamedTuple):
    """The trees of all deals with one number, one after another; S of them.

    Nodes are histories with a decision; a node's parent lies before it. A child is a node, or -1 - leaf.
    """

    counts: np.ndarray  # (9,) int64: how many of `WALK` there are
    starts: np.ndarray  # (S + 1, 9) int64: where each deal begins in them
    infoset: np.ndarray  # (nodes,) int32
    edge: np.ndarray  # (nodes,) int64: the first of its children
    depth: np.ndarray  # (nodes,) int16: as `Walk.length`; the same for all nodes of an information set
    arrives: np.ndarray  # (nodes,) bool: whether it is the first one of its information set by the same own choices
    children: np.ndarray  # (edges,) int64
    seat: np.ndarray  # (infosets,) int8
    choice: np.ndarray  # (infosets + 1,) int64: the first of its choices
    before: np.ndarray  # (infosets,) int64: the choice by which the seat came there in this deal, or -1
    actions: np.ndarray  # (choices,) int16: what is chosen
    gain: np.ndarray  # (leaves,) float64: what the deal has changed of seat 0's margin
    public: np.ndarray  # (leaves,) int64: its public history
    follower: np.ndarray  # (leaves,) int32: the position of the next deal, -1 where the game is over
    first: np.ndarray  # (hands,) int64: the first node, or -1 - leaf, for each pair of hands
    chance: np.ndarray  # (hands,) float64: its probability
    dealt: np.ndarray  # (hands, 2) int64: the hands, two bits for each kind that is not seen when the deal begins
    seen: np.ndarray  # (infosets, N) int8: observations with the history block, or no rows


class Index(NamedTuple):
    """Hash tables: open addressing, -1 for an empty place. All but `positions` may be emptied between two deals."""

    publics: np.ndarray  # (2**k, 3) int64: public history before a play, the play, public history after it
    infosets: np.ndarray  # (2**k, 3) int64: public history, hand, information set
    arrivals: np.ndarray  # (2**k, 3) int64: public history, hand and last own choice, 0
    positions: np.ndarray  # (2**k,) int64
    base: np.ndarray  # (9,) int64: the forest's counts when they were emptied


class Walk(NamedTuple):
    """Where the walk through a deal's tree is."""

    stack: np.ndarray  # (MOST_DEPTH,) of `GAME`: the games on the way
    public: np.ndarray  # (MOST_DEPTH,) int64: their public histories
    origin: np.ndarray  # (MOST_DEPTH,) int64: those in which the next play, or the pending one, begins
    length: np.ndarray  # (MOST_DEPTH,) int64: `STEPS` for each play in them, and the actions of the pending one
    node: np.ndarray  # (MOST_DEPTH,) int64
    tried: np.ndarray  # (MOST_DEPTH,) int64: choices tried
    actions: np.ndarray  # (actions,) int64
    pairs: Pairs  # the hands dealt
    last: np.ndarray  # (MOST_DEPTH, 2) int64: the last choice of each seat, or -1
    record: np.ndarray  # (MOST_DEPTH, M, RECORD) int8: the plays of the deal
    keeps_all: bool  # whether decisions without a choice are nodes too
    keeps_points: bool  # whether positions with other points so far are told apart, though the rest is equal
    root: np.ndarray  # (1,) of `GAME`
    scratch: np.ndarray  # (1,) of `SCRATCH`


@kernel
def strip_hands(compiled: np.record, game: np.record) -> None:
    """Take all cards out of the hands that were just dealt; how many there were stays."""
    for seat in range(compiled.players):
        game.hand_kinds[seat] = 0
        for kind in range(NUM_KINDS):
            game.hands[seat, kind] = 0


@kernel
def hash_position(compiled: np.record, game: np.record) -> np.uint64:
    """Return a hash of what `are_equal` compares, without its counts of points."""
    word = mix(np.uint64(game.deal_number) << np.uint64(8) | np.uint64(game.last_capturer + 1))
    for kind in range(NUM_KINDS):
        cards = (np.int64(game.table[kind]) * 4 + game.set_aside[kind]) * 4 + game.seen[kind]
        word = mix(word ^ np.uint64(cards + 64 * kind))
    if compiled.counts_piles:
        for seat in range(compiled.players):
            word = mix(word ^ np.uint64(game.cards_won[seat] * 256 + game.spades_won[seat]))
    return word


@kernel
def are_equal(compiled: np.record, game: np.record, other: np.record, keeps_points: bool) -> bool:
    """Return whether two public positions at the beginning of a deal are the same for the rest of the game.

    With `keeps_points` all points so far must be the same too, as a seat sees them.
    """
    if game.deal_number != other.deal_number or game.last_capturer != other.last_capturer:
        return False
    for kind in range(NUM_KINDS):
        if (
            game.table[kind] != other.table[kind]
            or game.set_aside[kind] != other.set_aside[kind]
            or game.seen[kind] != other.seen[kind]
        ):
            return False
    points_decide = keeps_points or compiled.judges_sweeps or compiled.sweeps_cancel or compiled.threshold_at_once
    for seat in range(compiled.players):
        if game.cards_won[seat] != other.cards_won[seat] or game.spades_won[seat] != other.spades_won[seat]:
            return False
        if points_decide and (
            game.points[seat] != other.points[seat]
            or game.sweeps[seat] != other.sweeps[seat]
            or game.void_sweeps[seat] != other.void_sweeps[seat]
            or game.mulles[seat] != other.mulles[seat]
            or game.bonus[seat] != other.bonus[seat]
        ):
            return False
    return True


@kernel
def find_place(table: np.ndarray, first: int, second: int) -> int:
    """Return the place of a pair of keys, or the empty one where it belongs."""
    mask = np.int64(len(table) - 1)
    at = np.int64(mix(np.uint64(first) * np.uint64(0x9E3779B97F4A7C15) ^ mix(np.uint64(second)))) & mask
    while table[at, 2] >= 0 and (table[at, 0] != first or table[at, 1] != second):
        at = (at + 1) & mask
    return at


@kernel
def play_code(game: np.record) -> int:
    """Return a hash of the last play, or of what is known of the pending one: the card, and what it has taken.

    The order in which the cards of one capture are named tells nothing, so it is no part of a public history.
    """
    is_pending = game.pending != NO_CARD
    word = mix(np.uint64(2 * (game.pending if is_pending else game.last_card) + is_pending + 1))  # as mix(0) is 0
    for kind in range(NUM_KINDS):
        if game.taken[kind] > 0:
            word = mix(word ^ np.uint64(4 * kind + np.int64(game.taken[kind])))
    return np.int64(word >> np.uint64(1))


@kernel
def is_new(index: Index, public: int, way: int) -> bool:
    """Return whether a public history is met in some way for the first time, and remember it."""
    at = find_place(index.arrivals, public, way)
    was_new = index.arrivals[at, 2] < 0
    index.arrivals[at, 0], index.arrivals[at, 1], index.arrivals[at, 2] = public, way, 0
    return was_new


@kernel
def public_after(forest: Forest, index: Index, public: int, action: int) -> int:
    """Return the public history after a play, or a pending one, that began at a public history; see `play_code`."""
    at = find_place(index.publics, public, action)
    if index.publics[at, 2] < 0:
        if 2 * (forest.counts[PUBLICS] - index.base[PUBLICS]) >= len(index.publics):
            return FULL
        index.publics[at, 0], index.publics[at, 1] = public, action
        index.publics[at, 2] = forest.counts[PUBLICS]
        forest.counts[PUBLICS] += 1
    return index.publics[at, 2]


@kernel
def add_leaf(
    compiled: np.record,
    game: np.record,
    before: float,
    public: int,
    keeps_points: bool,
    forest: Forest,
    index: Index,
    positions: np.ndarray,
) -> int:
    """Note where a deal has ended; return the leaf, or FULL."""
    leaf = forest.counts[LEAVES]
    if leaf == len(forest.gain):
        return FULL
    follower = np.int64(-1)
    if not game.over:
        strip_hands(compiled, game)
        mask = np.int64(len(index.positions) - 1)
        at = np.int64(hash_position(compiled, game)) & mask
        while index.positions[at] >= 0 and not are_equal(compiled, game, positions[index.positions[at]], keeps_points):
            at = (at + 1) & mask
        follower = index.positions[at]
        if follower < 0:
            follower = forest.counts[POSITIONS]
            if follower == len(positions) or 2 * follower >= len(index.positions):
                return FULL
            index.positions[at] = follower
            positions[follower] = game
            forest.counts[POSITIONS] += 1
    forest.public[leaf] = public
    forest.gain[leaf] = margin_of(compiled, game, 0) - before
    forest.follower[leaf] = follower
    forest.counts[LEAVES] += 1
    return leaf


@kernel
def add_node(compiled: np.record, walk: Walk, depth: int, count: int, forest: Forest, index: Index) -> int:
    """Note the history at some depth, with a choice of `count` actions; return its node, or FULL."""
    game, counts = walk.stack[depth], forest.counts
    public, hand, last = walk.public[depth], walk.pairs.packed[game.seat], walk.last[depth, game.seat]
    node = counts[NODES]
    if (
        node == len(forest.infoset)
        or counts[EDGES] + count > len(forest.children)
        or counts[INFOSETS] + 1 == len(forest.choice)
        or counts[CHOICES] + count > len(forest.actions)
        or 2 * (counts[INFOSETS] - index.base[INFOSETS]) >= len(index.infosets)
        or 2 * (node - index.base[NODES]) >= len(index.arrivals)
    ):
        return FULL
    at = find_place(index.infosets, public, hand)
    if index.infosets[at, 2] < 0:
        infoset = counts[INFOSETS]
        index.infosets[at, 0], index.infosets[at, 1], index.infosets[at, 2] = public, hand, infoset
        forest.seat[infoset] = game.seat
        forest.choice[infoset] = counts[CHOICES]
        forest.before[infoset] = last
        for each in range(count):
            forest.actions[counts[CHOICES] + each] = walk.actions[each]
        if infoset < len(forest.seen):
            write_observation(compiled, game, game.seat, forest.seen[infoset])
            write_history(compiled, game, walk.record[depth], game.seat, forest.seen[infoset, compiled.entries :])
        counts[CHOICES] += count
        counts[INFOSETS] += 1
        forest.choice[infoset + 1] = counts[CHOICES]
    infoset = index.infosets[at, 2]
    forest.arrives[node] = is_new(
        index, public, np.int64(mix(np.uint64(hand)) ^ mix(np.uint64(last + 2)) >> np.uint64(1))
    )
    forest.infoset[node] = infoset
    forest.edge[node] = counts[EDGES]
    forest.depth[node] = walk.length[depth]
    counts[EDGES] += count
    counts[NODES] += 1
    return node
