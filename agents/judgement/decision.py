"""The information set of the seat to act, as a game whose hidden hands are empty."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NUM_KINDS
from krypenv.kernels.play import prepare
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel
from krypenv.worlds.determinize import copy_public

_SEEN, _HAND_SIZE = LAYOUT["seen"].start, LAYOUT["hand_size"].start


@kernel
def has_choice(mask: np.ndarray) -> bool:
    """Return whether a mask, (A,) int8, allows more than one action."""
    count = 0
    for action in range(len(mask)):
        count += mask[action] != 0
    return count > 1


@kernel
def look_around(compiled: np.record, seen: np.ndarray, worlds: np.record, scratch: np.record) -> bool:
    """Write what an observation, (433,) int8, shows into `worlds.root`; return whether it hides nothing."""
    worlds.root = worlds.blank
    read_public(compiled, seen, worlds.root, scratch)
    return tells_all(compiled, seen)


@kernel
def read_public(compiled: np.record, seen: np.ndarray, game: np.record, scratch: np.record) -> None:
    """Write what an observation of the seat to act shows into a game of zeros."""
    copy_public(compiled, game, seen)
    prepare(compiled, game, scratch)


@kernel
def tells_all(compiled: np.record, seen: np.ndarray) -> bool:
    """Return whether an observation determines all hands: with two players, once all other cards have been seen."""
    unseen = np.int64(0)
    for kind in range(NUM_KINDS):
        unseen += compiled.deck_counts[kind] - seen[_SEEN + kind]
    return compiled.players == 2 and unseen == seen[_HAND_SIZE + 1]


@kernel
def find_open(compiled: np.ndarray, observations: np.ndarray, out: np.ndarray) -> None:
    """Write for each row of observations, (B, >= 433) int8, whether it hides nothing into `out`, (B,) bool."""
    for row in range(len(out)):
        out[row] = tells_all(compiled[0], observations[row])
