"""Counts of sequences of actions."""

from __future__ import annotations

import numpy as np

from krypenv import Game


def count(game: Game, depth: int) -> int:
    actions = np.flatnonzero(game.action_mask()).tolist()
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        game.act(action)
        total += count(game, depth - 1)
        game.pop()
    return total
