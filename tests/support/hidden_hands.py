"""Hidden hands that agree with an observation, and the true ones."""

from __future__ import annotations

import numpy as np

from krypenv import Rules, determinize


def hands_of(rules: Rules, state: np.ndarray) -> np.ndarray:
    """The hands of the seats that are not to act, from the next one on, (B, P - 1, 52), in games (B,)."""
    seats = (state["seat"][:, None] + np.arange(1, rules.players)) % rules.players
    return state["hands"][np.arange(len(state))[:, None], seats]


def sampled_hands(rules: Rules, seen: np.ndarray, rng: np.random.Generator, samples: int = 20) -> np.ndarray:
    """Hidden hands, (samples, P - 1, 52), drawn uniformly from those that agree with an observation, (N,)."""
    return hands_of(rules, determinize(np.repeat(seen[None], samples, axis=0), rng, rules))
