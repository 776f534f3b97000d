"""The network of learned agents: its sizes, its layers, and the scales of its inputs.

All actions share one small scorer and one context, computed from the observation. Kernels play with it
(`krypenv.agents.neural.inference`); only training needs torch (`krypenv.training.learner.network`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krypenv.agents.neural.action_features import COLUMNS, WIDTH
from krypenv.cards import NUM_ACTIONS
from krypenv.kernels.observation import LAYOUT, SIZE

Arrays = dict[str, np.ndarray]  # the weights of a network by their names
FloatArray = npt.NDArray[np.float32]

ILLEGAL = -(2.0**100)  # the logit of an illegal action, and of padding: far below any network's
MAX_UNITS = 1 << 13  # in a layer, at most


@dataclass(frozen=True)
class Shape:
    """The sizes of a network."""

    context: int = 128  # units of the layer that reads the whole observation
    card: int = 64  # units of the two layers that score an action
    embedding: int = 8  # entries learned for each action


def layers_of(shape: Shape) -> dict[str, tuple[int, int]]:
    """Return the inputs and the units of every layer, in order; `kinds` is a learned embedding of each action."""
    context, card = shape.context, shape.card
    return {
        "read": (SIZE, context),
        "context": (context, card),
        "kinds": (NUM_ACTIONS, shape.embedding),
        "card": (WIDTH + shape.embedding, card),
        "hidden": (card, card),
        "score": (card, 1),
        "judge": (context + card, card),
        "value": (card, 1),
    }


def _scales(size: int, usual: float, entries: dict[str, slice], divisors: dict[str, float]) -> FloatArray:
    """Return the factors that bring inputs to the order of one, (size,) float32."""
    scales = np.full(size, usual, np.float32)
    for name, divisor in divisors.items():
        scales[entries[name]] = 1 / divisor
    scales.flags.writeable = False
    return scales


OBSERVATION_SCALES = _scales(
    SIZE, 0.5, LAYOUT,
    {"points": 10.0, "sweeps": 3.0, "hand_size": 4.0, "session_total": 30.0, "deals_left": 6.0, "games_left": 6.0},
)  # fmt: skip
ACTION_FEATURE_SCALES = _scales(
    WIDTH, 1.0, COLUMNS,
    {"least_points": 3.0, "points": 3.0, "chance": 50.0, "sweepers": 4.0, "left": 2.0, "takers": 4.0, "price": 3.0,
     "taker_chance": 50.0, "risk_chance": 50.0},
)  # fmt: skip
