"""Who sees an observation."""

from __future__ import annotations

import numpy as np

from krypenv import Rules


def viewer_of(shown: np.ndarray, players: int) -> int:
    """Return the seat that sees an observation, where the last seat deals."""
    place = int(shown[Rules().layout["dealer"]].argmax())
    return players - 1 - place
