"""What the tests of the games in OpenSpiel share."""

import numpy as np
import pytest

from krypenv import Rules

TINY = Rules.preset("mini-sweep", packs=2, suits=(3,))  # 468 histories with sorted deals


def play_at_random(game, seed):
    """The decisions of a random game, each a course and an action, and the last state."""
    rng = np.random.default_rng(seed)
    state, decisions = game.new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            kinds, chances = zip(*state.chance_outcomes(), strict=True)
            assert sum(chances) == pytest.approx(1, abs=1e-12)
            state.apply_action(int(rng.choice(kinds, p=chances)))
        else:
            decisions.append((state.course, int(rng.choice(state.legal_actions()))))
            state.apply_action(decisions[-1][1])
    return decisions, state


def walk(state):
    """Yield all states of a game."""
    yield state
    for action in [] if state.is_terminal() else state.legal_actions():
        yield from walk(state.child(action))
