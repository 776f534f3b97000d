"""The walk through the tree of a deal: every pair of hands, and every play, depth first."""

from __future__ import annotations

import numpy as np

from krypenv.agents.scripted import list_actions
from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.kernels.compiled import bit_index
from krypenv.kernels.observing import note_play
from krypenv.kernels.play import act, refresh
from krypenv.kernels.scoring import margin_of
from krypenv.runtime.jit import kernel
from krypenv.training.research.exact.deal_tree import (
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
    public_after,
)


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
    walk.public[depth] = public_after(forest, index, walk.origin[depth], game)
    walk.length[depth] += 1
    if game.pending == NO_CARD:
        walk.origin[depth] = walk.public[depth]
        walk.length[depth] = (walk.length[depth] // STEPS + 1) * STEPS
    return walk.public[depth] != FULL


@kernel
def settle(
    compiled: np.record,
    walk: Walk,
    depth: int,
    before: float,
    forest: Forest,
    index: Index,
    positions: np.ndarray,
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
def next_hand(limits: np.ndarray, kinds: int, hand: np.ndarray) -> bool:
    """Turn a hand, counts by place, into the next one of its size within the limits; return whether there is one."""
    carried = 0
    for place in range(kinds):
        if carried > 0 and hand[place] < limits[place]:
            hand[place] += 1
            carried -= 1
            for low in range(place):
                hand[low] = min(carried, limits[low])
                carried -= hand[low]
            return True
        carried += hand[place]
    return False


@kernel
def first_hand(limits: np.ndarray, kinds: int, size: int, hand: np.ndarray) -> bool:
    """Write the first hand of some size within the limits; return whether there is one."""
    for place in range(kinds):
        hand[place] = min(size, limits[place])
        size -= hand[place]
    return size == 0


@kernel
def list_unseen(compiled: np.record, game: np.record, kinds: np.ndarray, limits: np.ndarray) -> int:
    """Write the kinds of which not all copies have been seen, and how many are left; return how many kinds."""
    count = 0
    for kind in range(NUM_KINDS):
        copies = np.int64(compiled.deck_counts[kind]) - np.int64(game.seen[kind])
        if copies > 0:
            kinds[count], limits[count] = kind, copies
            count += 1
    return count


@kernel
def can_hold(compiled: np.record, game: np.record, seat: int) -> bool:
    """Return whether a seat may hold its hand, by what it has not swept in this deal (R10)."""
    kinds = np.int64(game.hand_kinds[seat])
    while kinds != 0:
        bit = kinds & -kinds
        kinds ^= bit
        if game.cannot_hold[seat] >> compiled.class_of[bit_index(bit)] & 1:
            return False
    return True


@kernel
def ways(limits: np.ndarray, hand: np.ndarray, kinds: int) -> float:
    """Return how many sets of cards make a hand."""
    product = 1.0
    for place in range(kinds):
        for step in range(hand[place]):
            product *= (limits[place] - step) / (step + 1)
    return product


@kernel
def hold(game: np.record, seat: int, kinds: np.ndarray, count: int, hand: np.ndarray) -> int:
    """Give a seat a hand; return it packed, two bits a place."""
    code = np.int64(0)
    game.hand_kinds[seat] = 0
    for place in range(count):
        kind = kinds[place]
        game.hands[seat, kind] = hand[place]
        code |= np.int64(hand[place]) << 2 * place
        if hand[place] > 0:
            game.hand_kinds[seat] |= np.int64(1) << kind
    return code


@kernel
def walk_deal(
    compiled: np.record, walk: Walk, unseen: np.ndarray, forest: Forest, index: Index, positions: np.ndarray
) -> int:
    """Add the tree of the deal that begins in `walk.root`; return 0, or FULL.

    `unseen`, (5, MOST_KINDS) int64, is room for the kinds that may be in a hand, and how many copies of each may be in
    the first hand and in the second one, and the two hands.
    """
    root = walk.root[0]
    kinds, limits, rest, own, other = unseen[0], unseen[1], unseen[2], unseen[3], unseen[4]
    count = list_unseen(compiled, root, kinds, limits)
    before = margin_of(compiled, root, 0)
    public = forest.counts[PUBLICS]
    forest.counts[PUBLICS] += 1
    begin, total = forest.counts[HANDS], 0.0
    more = first_hand(limits, count, np.int64(root.hand_size[0]), own)
    while more:
        for place in range(count):
            rest[place] = limits[place] - own[place]
        walk.hand[0] = hold(root, 0, kinds, count, own)
        found = can_hold(compiled, root, 0) and first_hand(rest, count, np.int64(root.hand_size[1]), other)
        while found:
            at = forest.counts[HANDS]
            if at == len(forest.first):
                return FULL
            walk.hand[1] = hold(root, 1, kinds, count, other)
            if not can_hold(compiled, root, 1):
                found = next_hand(rest, count, other)
                continue
            forest.first[at] = walk_hands(compiled, walk, public, before, forest, index, positions)
            if forest.first[at] == FULL:
                return FULL
            forest.dealt[at, 0], forest.dealt[at, 1] = walk.hand[0], walk.hand[1]
            forest.chance[at] = ways(limits, own, count) * ways(rest, other, count)
            total += forest.chance[at]
            forest.counts[HANDS] += 1
            found = next_hand(rest, count, other)
        more = next_hand(limits, count, own)
    for at in range(begin, forest.counts[HANDS]):
        forest.chance[at] /= total
    return 0


@kernel
def walk_deals(
    rules: np.ndarray,
    roots: np.ndarray,
    start: int,
    walk: Walk,
    unseen: np.ndarray,
    forest: Forest,
    index: Index,
    positions: np.ndarray,
) -> int:
    """Add the trees of the deals that begin in `roots`, from `start` on; return the first one without room, or S.

    That one is left half done: it has to be begun again with the counts in `forest.starts`.
    """
    for at in range(start, len(roots)):
        for each in range(len(forest.counts)):
            forest.starts[at, each] = forest.counts[each]
        walk.root[0] = roots[at]
        if walk_deal(rules[0], walk, unseen, forest, index, positions) == FULL:
            return at
        for each in range(len(forest.counts)):
            forest.starts[at + 1, each] = forest.counts[each]
    return len(roots)
