"""How large a small game is: what `krypenv solve --list` counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.training.research.exact import deal_tree as tree
from krypenv.training.research.exact.growing import Trees


class Size(NamedTuple):
    """The size of a game, by counting; a decision without a choice is a history and an information set too."""

    histories: float  # sequences of chance's deals and of plays that lead to a decision or to the end
    terminals: float  # those that end the game
    infosets: tuple[float, float]  # information sets of each seat, with perfect recall
    deals: int  # public positions in which a deal begins, as far as they matter for what is to come


def size_of(trees: Trees) -> Size:
    """Return the size of a game whose trees were grown with `keeps_all`.

    A deal that several histories lead to is stored once and counted for each of them.
    """
    after = np.zeros((0, 4))
    for forest in reversed(trees.forests):
        deals = len(forest.starts) - 1
        counts = np.zeros((deals, 4))  # histories, terminals, information sets of each seat
        owner = np.repeat(np.arange(deals), np.diff(forest.starts[:, tree.LEAVES]))
        ends = forest.follower < 0
        counts[:, 1] = np.bincount(owner[ends], minlength=deals)
        counts[:, 0] = np.diff(forest.starts[:, tree.NODES]) + counts[:, 1]
        of_infoset = np.repeat(np.arange(deals), np.diff(forest.starts[:, tree.INFOSETS]))
        for seat in range(2):
            counts[:, 2 + seat] = np.bincount(of_infoset[forest.seat == seat], minlength=deals)
        for column in range(4):
            weights = after[forest.follower[~ends], column]
            if column > 1:  # a public history that is met again has the same information sets
                weights = weights * forest.is_new[~ends]
            counts[:, column] += np.bincount(owner[~ends], weights, minlength=deals)
        after = counts
    histories, terminals, own, other = after.sum(axis=0).tolist()
    return Size(histories, terminals, (own, other), sum(map(len, trees.roots)))
