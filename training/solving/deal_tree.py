"""The tree of a deal, in flat arrays, and the walk that grows it: every pair of hands, and every play, depth first.

A hand is played out before the next one is dealt, so nothing is hidden between two deals. A *deal* here is therefore a
game of its own: it begins in a public position, chance deals the hands, and each leaf is the end of the game or the
public position in which a next deal begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.scripted import list_actions
from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.kernels.observing import note_play, write_history, write_observation
from krypenv.kernels.play import act, refresh
from krypenv.kernels.scoring import margin_of
from krypenv.runtime.jit import kernel
from krypenv.state import GAME, mix
from krypenv.training.solving.pairs import Pairs, hold_pair, list_pairs

FULL = -(1 << 40)  # returned when an array is full
STEPS = 64  # more than the actions of a play
MOST_DEPTH = 160  # most actions of a deal: two hands of 26 cards, and their captures
ITEMS = "nodes", "edges", "infosets", "choices", "leaves", "positions", "hands", "histories"
COUNTS = np.dtype([(item, np.int64) for item in ITEMS], align=True)

FRAME = np.dtype(  # a history on the way through a tree
    [
        ("game", GAME),
        ("public", np.int64),  # a hash of its public history
        ("origin", np.int64),  # a hash of that in which the next or pending play begins
        ("length", np.int64),  # `STEPS` for each play, and the actions of the pending one
        ("last", np.int64, (2,)),  # the last choice of each seat, or -1
        ("node", np.int64),
        ("tried", np.int64),  # number of its choices already tried
    ],
    align=True,
)


class Forest(NamedTuple):
    """The trees of the S deals with one deal number, one after another.

    Nodes are histories with a decision; a node's parent lies before it. A child is a node, or -1 - leaf.
    """

    counts: np.ndarray  # (1,) of `COUNTS`: the numbers of items
    starts: np.ndarray  # (S + 1,) of `COUNTS`: the first items of each deal
    infoset: np.ndarray  # (nodes,) int32
    edge: np.ndarray  # (nodes,) int64: the first of its children
    arrives: np.ndarray  # (nodes,) bool: whether it is the first node of its information set with the same own choices
    order: np.ndarray  # (nodes,) int64: the nodes of each deal by depth
    children: np.ndarray  # (edges,) int64
    seat: np.ndarray  # (infosets,) int8
    depth: np.ndarray  # (infosets,) int16: as `FRAME.length`
    choice: np.ndarray  # (infosets + 1,) int64: the first of its choices
    before: np.ndarray  # (infosets,) int64: the seat's previous choice in this deal, or -1
    actions: np.ndarray  # (choices,) int16
    gain: np.ndarray  # (leaves,) float64: the change of seat 0's margin in this deal
    public: np.ndarray  # (leaves,) int64: a hash of its public history
    follower: np.ndarray  # (leaves,) int32: the position of the next deal, -1 where the game is over
    first: np.ndarray  # (hands,) int64: the first node, or -1 - leaf, for each pair of hands
    chance: np.ndarray  # (hands,) float64: its probability
    dealt: np.ndarray  # (hands, 2) int64: the hands, two bits for each kind with unseen copies before the deal
    seen: np.ndarray  # (infosets, N) int8: observations with the history block, or no rows


class Index(NamedTuple):
    """Hash tables of two keys and a number, (2**k, 3) int64: open addressing, with number -1 for an empty slot.

    All but `positions` may be cleared between two deals.
    """

    infosets: np.ndarray  # public history, hand, information set
    arrivals: np.ndarray  # public history, hand and last own choice, node
    positions: np.ndarray  # a hash, the number of the deal, position
    followers: np.ndarray  # (positions,) of `GAME`: the positions
    base: np.ndarray  # (1,) of `COUNTS`: the forest's counts when the tables were cleared


class Walk(NamedTuple):
    """The state of the walk through a deal's tree."""

    frames: np.ndarray  # (MOST_DEPTH,) of `FRAME`: the current history and those before it
    root: np.ndarray  # (1,) of `GAME`
    pairs: Pairs  # the hands dealt
    record: np.ndarray  # (M, RECORD) int8: the plays of the deal
    actions: np.ndarray  # (actions,) int64
    scratch: np.ndarray  # (1,) of `SCRATCH`
    keeps_all: bool  # whether decisions with one legal action are nodes too
    keeps_points: bool  # whether positions that differ only in the points so far are distinguished


# ---------------------------------------------------------------------- tables


@kernel
def hash_pair(first: int, second: int) -> int:
    """Hash two numbers; the order counts."""
    return np.int64(mix(np.uint64(first) * np.uint64(0x9E3779B97F4A7C15) ^ mix(np.uint64(second))) >> np.uint64(1))


@kernel
def number_of(table: np.ndarray, first: int, second: int, following: int) -> int:
    """Find the number of a pair of keys in a table; a new pair is entered with the following number."""
    mask = np.int64(len(table) - 1)
    at = hash_pair(first, second) & mask
    while table[at, 2] >= 0 and (table[at, 0] != first or table[at, 1] != second):
        at = (at + 1) & mask
    if table[at, 2] < 0:
        table[at, 0], table[at, 1], table[at, 2] = first, second, following
    return table[at, 2]


@kernel
def copy_table(table: np.ndarray, larger: np.ndarray) -> None:
    """Enter all pairs of keys of a table into an empty one."""
    for at in range(len(table)):
        if table[at, 2] >= 0:
            number_of(larger, table[at, 0], table[at, 1], table[at, 2])


@kernel
def position_code(compiled: np.record, game: np.record, keeps_points: bool) -> int:
    """Hash a public position at the beginning of a deal: all that the rest of the game depends on.

    With `keeps_points` the hash includes all points so far, as a seat sees them.
    """
    points_decide = keeps_points or compiled.judges_sweeps or compiled.sweeps_cancel or compiled.threshold_at_once
    word = mix(np.uint64(game.last_capturer + 2))  # as mix(0) is 0
    for kind in range(NUM_KINDS):
        word = mix(word ^ np.uint64((np.int64(game.table[kind]) * 4 + game.set_aside[kind]) * 4 + game.seen[kind]))
    for seat in range(compiled.players):
        word = mix(word ^ np.uint64(np.int64(game.cards_won[seat]) * 256 + game.spades_won[seat]))
        if points_decide:
            word = mix(word ^ np.uint64(np.int64(game.points[seat]) * 4096 + game.bonus[seat]))
            sweeps = np.int64(game.sweeps[seat]) * 4096 + game.void_sweeps[seat]
            word = mix(word ^ np.uint64(sweeps * 4096 + game.mulles[seat]))
    return np.int64(word >> np.uint64(1))


@kernel
def play_code(game: np.record) -> int:
    """Hash the last play, or what is known of the pending one: the card, and the kinds that it has taken.

    The order in which the cards of one capture are named tells nothing, so it is no part of a public history.
    """
    is_pending = game.pending != NO_CARD
    word = mix(np.uint64(2 * (game.pending if is_pending else game.last_card) + is_pending + 1))  # as mix(0) is 0
    for kind in range(NUM_KINDS):
        if game.taken[kind] > 0:
            word = mix(word ^ np.uint64(4 * kind + np.int64(game.taken[kind])))
    return np.int64(word >> np.uint64(1))


# ---------------------------------------------------------------------- the walk


@kernel
def has_room(walk: Walk, forest: Forest, index: Index) -> bool:
    """Tell whether the arrays have room for one more history."""
    counts, base, choices = forest.counts[0], index.base[0], len(walk.actions)
    return (
        counts.nodes < len(forest.infoset)
        and counts.edges + choices <= len(forest.children)
        and counts.infosets + 1 < len(forest.choice)
        and counts.choices + choices <= len(forest.actions)
        and counts.leaves < len(forest.gain)
        and counts.positions < len(index.followers)
        and 2 * (counts.infosets - base.infosets) < len(index.infosets)
        and 2 * (counts.nodes - base.nodes) < len(index.arrivals)
    )


@kernel
def add_leaf(compiled: np.record, walk: Walk, frame: np.record, forest: Forest, index: Index) -> int:
    """Add the leaf of a deal that has ended; return its number."""
    game, counts = frame.game, forest.counts[0]
    follower = np.int64(-1)
    if not game.over:
        code = position_code(compiled, game, walk.keeps_points)
        follower = number_of(index.positions, code, game.deal_number, counts.positions)
        if follower == counts.positions:
            index.followers[follower] = game
            counts.positions += 1
    leaf = counts.leaves
    forest.public[leaf] = frame.public
    forest.gain[leaf] = margin_of(compiled, game, 0) - margin_of(compiled, walk.root[0], 0)
    forest.follower[leaf] = follower
    counts.leaves += 1
    return leaf


@kernel
def add_node(compiled: np.record, walk: Walk, frame: np.record, count: int, forest: Forest, index: Index) -> int:
    """Add the node of a history with `count` legal actions; return its number."""
    game, counts = frame.game, forest.counts[0]
    hand, last, node = walk.pairs.packed[game.seat], frame.last[game.seat], counts.nodes
    infoset = number_of(index.infosets, frame.public, hand, counts.infosets)
    if infoset == counts.infosets:
        forest.seat[infoset], forest.depth[infoset], forest.before[infoset] = game.seat, frame.length, last
        forest.choice[infoset] = counts.choices
        for number in range(count):
            forest.actions[counts.choices + number] = walk.actions[number]
        if infoset < len(forest.seen):
            write_observation(compiled, game, game.seat, forest.seen[infoset])
            write_history(compiled, game, walk.record, game.seat, forest.seen[infoset, compiled.entries :])
        counts.choices += count
        counts.infosets += 1
        forest.choice[infoset + 1] = counts.choices
    forest.arrives[node] = number_of(index.arrivals, frame.public, hash_pair(hand, last), node) == node
    forest.infoset[node] = infoset
    forest.edge[node] = counts.edges
    counts.edges += count
    counts.nodes += 1
    return node


@kernel
def advance(compiled: np.record, walk: Walk, frame: np.record, action: int) -> None:
    """Carry out an action."""
    game = frame.game
    act(compiled, game, action, walk.scratch[0])
    if len(walk.record) > 0:
        note_play(compiled, game, walk.record)
    frame.public = hash_pair(frame.origin, play_code(game))
    frame.length += 1
    if game.pending == NO_CARD:
        frame.origin = frame.public
        frame.length = (frame.length // STEPS + 1) * STEPS


@kernel
def settle(compiled: np.record, walk: Walk, frame: np.record, forest: Forest, index: Index) -> int:
    """Play on to a node or the end of the deal; return the node, -1 - leaf, or FULL."""
    game = frame.game
    while has_room(walk, forest, index):
        forest.counts[0].histories += 1
        if game.over or game.deal_number != walk.root[0].deal_number:
            return -1 - add_leaf(compiled, walk, frame, forest, index)
        count = list_actions(game, walk.actions)
        if count > 1 or walk.keeps_all:
            return add_node(compiled, walk, frame, count, forest, index)
        advance(compiled, walk, frame, walk.actions[0])
    return FULL


@kernel
def walk_hands(compiled: np.record, walk: Walk, public: int, forest: Forest, index: Index) -> int:
    """Add the tree of the pair of hands that `walk.root` holds; return its first node, -1 - leaf, or FULL."""
    frame = walk.frames[0]
    frame.game = walk.root[0]
    frame.public = frame.origin = public
    frame.length = frame.tried = 0
    frame.last[0] = frame.last[1] = -1
    refresh(compiled, frame.game, walk.scratch[0])
    frame.node = first = settle(compiled, walk, frame, forest, index)
    depth = 0 if first >= 0 else -1
    while depth >= 0:
        frame = walk.frames[depth]
        infoset = forest.infoset[frame.node]
        choice = forest.choice[infoset] + frame.tried
        if choice == forest.choice[infoset + 1]:
            depth -= 1
            continue
        edge = forest.edge[frame.node] + frame.tried
        frame.tried += 1
        walk.frames[depth + 1] = frame
        after = walk.frames[depth + 1]
        after.last[forest.seat[infoset]] = choice
        advance(compiled, walk, after, np.int64(forest.actions[choice]))
        child = settle(compiled, walk, after, forest, index)
        if child == FULL:
            return FULL
        forest.children[edge] = child
        if child >= 0:
            depth += 1
            after.node, after.tried = child, 0
    return first


@kernel
def walk_deal(compiled: np.record, walk: Walk, forest: Forest, index: Index) -> int:
    """Add the tree of the deal that begins in `walk.root`; return 0, or FULL."""
    root, pairs, counts = walk.root[0], walk.pairs, forest.counts[0]
    begin, total = counts.hands, 0.0
    for combination in range(list_pairs(compiled, root, pairs)):
        sets = hold_pair(root, pairs, combination)
        if sets == 0.0:
            continue
        at = counts.hands
        if at == len(forest.first):
            return FULL
        forest.first[at] = walk_hands(compiled, walk, begin, forest, index)
        if forest.first[at] == FULL:
            return FULL
        forest.dealt[at, 0], forest.dealt[at, 1] = pairs.packed[0], pairs.packed[1]
        forest.chance[at] = sets
        total += sets
        counts.hands += 1
    for at in range(begin, counts.hands):
        forest.chance[at] /= total
    return 0


@kernel
def walk_deals(compiled: np.ndarray, roots: np.ndarray, start: int, walk: Walk, forest: Forest, index: Index) -> int:
    """Add the trees of the deals that begin in `roots`, from `start` on; return the first one without room, or S.

    That one is left half done: it has to be begun again with the counts in `forest.starts`.
    """
    for at in range(start, len(roots)):
        forest.starts[at] = forest.counts[0]
        walk.root[0] = roots[at]
        if walk_deal(compiled[0], walk, forest, index) == FULL:
            return at
        forest.starts[at + 1] = forest.counts[0]
    return len(roots)
