"""How large a small game is: what `krypenv solve --list` counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.runtime.jit import kernel
from krypenv.training.solving import deal_tree as tree
from krypenv.training.solving.asking import owners_of
from krypenv.training.solving.deal_tree import Forest
from krypenv.training.solving.growing import Trees
from krypenv.training.solving.insight import FloatArray, IntArray, follow_choices


class Size(NamedTuple):
    """The size of a game, by counting; a decision without a choice is a history and an information set too."""

    histories: float  # sequences of chance's deals and of plays that lead to a decision or to the end
    terminals: float  # those that end the game
    infosets: tuple[float, float]  # information sets of each seat, by the public history and the hand
    standard: tuple[float, float]  # those of perfect recall: in which order it named the cards of a capture counts too
    deals: int  # public positions in which a deal begins, as far as they matter for what is to come


def size_of(trees: Trees) -> Size:
    """Return the size of a game whose trees were grown with `keeps_all`.

    A deal that several histories lead to is stored once and counted for each of them.
    """
    after = np.zeros((0, 6))
    for forest in reversed(trees.forests):
        deals = len(forest.starts) - 1
        counts = np.zeros((deals, 6))  # histories, terminals, information sets of each seat, standard ones of each
        owner = np.repeat(np.arange(deals), np.diff(forest.starts[:, tree.LEAVES]))
        goes_on = forest.follower >= 0
        counts[:, 1] = np.bincount(owner[~goes_on], minlength=deals)
        counts[:, 0] = np.diff(forest.starts[:, tree.NODES]) + counts[:, 1]
        of_infoset = np.repeat(np.arange(deals), np.diff(forest.starts[:, tree.INFOSETS]))
        before = np.full((len(forest.infoset), 2), -1)
        follow_choices(forest, before)
        paths, last = paths_of(forest, before), last_choices(forest, before)
        weights = np.ones((len(goes_on), 6))
        for seat in range(2):
            own = forest.seat == seat
            counts[:, 2 + seat] = np.bincount(of_infoset[own], minlength=deals)
            counts[:, 4 + seat] = np.bincount(of_infoset[own], paths[own], minlength=deals)
            # public histories that are met again have the same information sets
            weights[:, 2 + seat] = _first_of(forest.public)
            weights[:, 4 + seat] = _first_of(forest.public, last[:, seat]) * _paths_before(forest, paths, last[:, seat])
        for column in range(6):
            found = weights[goes_on, column] * after[forest.follower[goes_on], column]
            counts[:, column] += np.bincount(owner[goes_on], found, minlength=deals)
        after = counts
    histories, terminals, *infosets = after.sum(axis=0).tolist()
    return Size(histories, terminals, tuple(infosets[:2]), tuple(infosets[2:]), sum(map(len, trees.roots)))


def paths_of(forest: Forest, before: IntArray) -> FloatArray:
    """Return how many sequences of own actions in the deal lead to each information set, (infosets,).

    `before` is the last choice of each seat before each node, (nodes, 2).
    """
    arriving = np.flatnonzero(forest.arrives)
    arriving = arriving[np.argsort(forest.depth[arriving], kind="stable")]
    paths = np.zeros(len(forest.seat))
    _add_paths(forest, arriving, before, owners_of(forest), paths)
    return paths


@kernel
def _add_paths(forest: Forest, arriving: IntArray, before: IntArray, owner: IntArray, paths: FloatArray) -> None:
    """Sum up the paths by which a seat arrives, in the order of depth."""
    for node in arriving:
        infoset = forest.infoset[node]
        last = before[node, forest.seat[infoset]]
        paths[infoset] += 1.0 if last < 0 else paths[owner[last]]


def last_choices(forest: Forest, before: IntArray) -> IntArray:
    """Return the last choice of each seat before each leaf, or -1: (leaves, 2); `before` as in `paths_of`."""
    sizes = np.diff(forest.choice)[forest.infoset]
    node = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(node)) - np.repeat(forest.edge, sizes)
    found = np.full((len(forest.gain), 2), -1)
    ends = np.flatnonzero(forest.children < 0)
    at = node[ends]
    leaf, infoset = -1 - forest.children[ends], forest.infoset[at]
    found[leaf] = before[at]
    found[leaf, forest.seat[infoset]] = forest.choice[infoset] + within[ends]
    return found


def _paths_before(forest: Forest, paths: FloatArray, last: IntArray) -> FloatArray:
    """Return the number of paths whose last choice is each of some."""
    return np.where(last >= 0, paths[owners_of(forest)[last]], 1.0)


def _first_of(*keys: IntArray) -> FloatArray:
    """Return 1 where a row of keys comes for the first time, else 0."""
    _, first = np.unique(np.column_stack(keys), axis=0, return_index=True)
    found = np.zeros(len(keys[0]))
    found[first] = 1.0
    return found
