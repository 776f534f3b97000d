"""The random streams of a game, as kernels: one shuffles the decks, and one samples actions."""

from __future__ import annotations

import numpy as np

from krypenv.kernels.state import ACTIONS, DEALS
from krypenv.runtime.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW_32, _TWO_32 = np.uint64(0xFFFFFFFF), np.uint64(1 << 32)


@kernel
def mix(word: np.uint64) -> np.uint64:
    """Scramble 64 bits (the finalizer of SplitMix64: Steele, Lea and Flood 2014)."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@kernel
def seed_game(game: np.record, seed: np.uint64) -> None:
    """Seed both random streams of a game from one number."""
    game.rng[DEALS] = mix(seed)
    game.rng[ACTIONS] = mix(~seed)


@kernel
def random_below(game: np.record, stream: int, limit: int) -> int:
    """Return a uniform integer below `limit` (at most 2**32) from one of a game's streams (Lemire 2019, no bias)."""
    bound = np.uint64(limit)
    while True:
        game.rng[stream] += _GOLDEN
        product = (mix(game.rng[stream]) >> _S32) * bound
        low = product & _LOW_32
        if low >= bound or low >= _TWO_32 % bound:
            return np.int64(product >> _S32)
