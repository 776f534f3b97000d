"""The walk through the tree of a deal: every pair of hands, and every play, depth first."""

from __future__ import annotations

import numpy as np

from krypenv.agents.scripted import list_actions
from krypenv.cards import NO_CARD
from krypenv.kernels.observing import note_play
from krypenv.kernels.play import act, refresh
from krypenv.kernels.scoring import margin_of
from krypenv.runtime.jit import kernel
from krypenv.training.solving.deal_tree import (
    FULL,
    HANDS,
    HISTORIES,
    PUBLICS,
    STEPS,
    Forest,
    Index,
    Walk,
    add_leaf,
    add_node,
    play_code,
    public_after,
)
from krypenv.training.solving.pairs import hold_pair, list_pairs


@kernel
def note(compiled: np.record, walk: Walk, depth: int) -> None:
    """Record the last play of the game at some depth, if histories are kept and it belongs to the deal."""
    game = walk.stack[depth]
    if walk.record.shape[1] > 0 and not game.over and game.deal_number == walk.root[0].deal_number:
        note_play(compiled, game, walk.record[depth])


@kernel
def advance(compiled: np.record, walk: Walk, depth: int, action: int, forest: Forest, index: Index) -> bool:
    """Carry out an action in `walk.stack[depth]`; return whether there was room."""
    game = walk.stack[depth]
    act(compiled, game, action, walk.scratch[0])
    note(compiled, walk, depth)
    walk.public[depth] = public_after(forest, index, walk.origin[depth], play_code(game))
    walk.length[depth] += 1
    if game.pending == NO_CARD:
        walk.origin[depth] = walk.public[depth]
        walk.length[depth] = (walk.length[depth] // STEPS + 1) * STEPS
    return walk.public[depth] != FULL


@kernel
def settle(
    compiled: np.record, walk: Walk, depth: int, before: float, forest: Forest, index: Index, positions: np.ndarray
) -> int:
    """Play on from `walk.stack[depth]` to a node or the end of the deal; return the node, -1 - leaf, or FULL."""
    game = walk.stack[depth]
    number = walk.root[0].deal_number
    while True:
        forest.counts[HISTORIES] += 1
        if game.over or game.deal_number != number:
            leaf = add_leaf(compiled, game, before, walk.public[depth], walk.keeps_points, forest, index, positions)
            return leaf if leaf == FULL else -1 - leaf
        count = list_actions(game, walk.actions)
        if count > 1 or walk.keeps_all:
            return add_node(compiled, walk, depth, count, forest, index)
        if not advance(compiled, walk, depth, walk.actions[0], forest, index):
            return FULL


@kernel
def walk_hands(
    compiled: np.record,
    walk: Walk,
    root_public: int,
    before: float,
    forest: Forest,
    index: Index,
    positions: np.ndarray,
) -> int:
    """Add the tree of one pair of hands, which `walk.root` holds; return its first node, -1 - leaf, or FULL."""
    walk.stack[0] = walk.root[0]
    walk.public[0] = walk.origin[0] = root_public
    walk.length[0] = 0
    walk.last[0, 0] = walk.last[0, 1] = -1
    refresh(compiled, walk.stack[0], walk.scratch[0])
    first = settle(compiled, walk, 0, before, forest, index, positions)
    if first < 0:
        return first
    depth = 0
    walk.node[0], walk.tried[0] = first, 0
    while depth >= 0:
        node, at = walk.node[depth], walk.tried[depth]
        infoset = forest.infoset[node]
        start = forest.choice[infoset]
        if start + at == forest.choice[infoset + 1]:
            depth -= 1
            continue
        walk.tried[depth] += 1
        action = np.int64(forest.actions[start + at])
        for seat in range(2):
            walk.last[depth + 1, seat] = walk.last[depth, seat]
        walk.last[depth + 1, forest.seat[infoset]] = start + at
        walk.stack[depth + 1] = walk.stack[depth]
        walk.origin[depth + 1], walk.length[depth + 1] = walk.origin[depth], walk.length[depth]
        for play in range(walk.record.shape[1]):
            for entry in range(walk.record.shape[2]):
                walk.record[depth + 1, play, entry] = walk.record[depth, play, entry]
        if not advance(compiled, walk, depth + 1, action, forest, index):
            return FULL
        child = settle(compiled, walk, depth + 1, before, forest, index, positions)
        if child == FULL:
            return FULL
        forest.children[forest.edge[node] + at] = child
        if child >= 0:
            depth += 1
            walk.node[depth], walk.tried[depth] = child, 0
    return first


@kernel
def walk_deal(compiled: np.record, walk: Walk, forest: Forest, index: Index, positions: np.ndarray) -> int:
    """Add the tree of the deal that begins in `walk.root`; return 0, or FULL."""
    root, pairs = walk.root[0], walk.pairs
    before = margin_of(compiled, root, 0)
    public = forest.counts[PUBLICS]
    forest.counts[PUBLICS] += 1
    begin, total = forest.counts[HANDS], 0.0
    for combination in range(list_pairs(compiled, root, pairs)):
        sets = hold_pair(root, pairs, combination)
        if sets == 0.0:
            continue
        at = forest.counts[HANDS]
        if at == len(forest.first):
            return FULL
        forest.first[at] = walk_hands(compiled, walk, public, before, forest, index, positions)
        if forest.first[at] == FULL:
            return FULL
        forest.dealt[at, 0], forest.dealt[at, 1] = pairs.packed[0], pairs.packed[1]
        forest.chance[at] = sets
        total += forest.chance[at]
        forest.counts[HANDS] += 1
    for at in range(begin, forest.counts[HANDS]):
        forest.chance[at] /= total
    return 0


@kernel
def walk_deals(
    rules: np.ndarray, roots: np.ndarray, start: int, walk: Walk, forest: Forest, index: Index, positions: np.ndarray
) -> int:
    """Add the trees of the deals that begin in `roots`, from `start` on; return the first one without room, or S.

    That one is left half done: it has to be begun again with the counts in `forest.starts`.
    """
    for at in range(start, len(roots)):
        for each in range(len(forest.counts)):
            forest.starts[at, each] = forest.counts[each]
        walk.root[0] = roots[at]
        if walk_deal(rules[0], walk, forest, index, positions) == FULL:
            return at
        for each in range(len(forest.counts)):
            forest.starts[at + 1, each] = forest.counts[each]
    return len(roots)
