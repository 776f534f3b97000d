"""The network of learned agents: its sizes, its layers, and the scales of its inputs.

All actions share one small scorer and one context, computed from the observation. Kernels play with it
(`krypenv.agents.neural.inference`); only training needs torch (`krypenv.training.learn.network`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from krypenv.agents.neural import move_features
from krypenv.agents.neural.action_features import COLUMNS, WIDTH, kind_of, width_of_kind
from krypenv.cards import NUM_ACTIONS, NUM_BUILDING_ACTIONS
from krypenv.observation import LAYOUT
from krypenv.rules import Rules

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


@dataclass(frozen=True)
class Inputs:
    """What a network reads under some rules: blocks of the observation, and the features of each legal action."""

    blocks: tuple[tuple[str, int, int], ...]  # of the observation: name, start and stop
    kind: str  # of the action features: main or moves

    def are_in(self, others: Inputs) -> bool:
        """Return whether others begin with these, so that a network of these can read them."""
        return self.blocks == others.blocks[: len(self.blocks)] and self.kind == others.kind

    @property
    def layout(self) -> dict[str, slice]:
        """The blocks of the observation."""
        return {name: slice(start, stop) for name, start, stop in self.blocks}

    @property
    def observation(self) -> int:
        """The entries of an observation."""
        return self.blocks[-1][2]

    @property
    def features(self) -> int:
        """The features of an action."""
        return width_of_kind(self.kind)

    @property
    def actions(self) -> int:
        """The actions that there are."""
        return NUM_BUILDING_ACTIONS if "building" in self.layout else NUM_ACTIONS

    @property
    def observation_scales(self) -> FloatArray:
        """The factors of the entries of an observation."""
        return _observation_scales(self)

    @property
    def feature_scales(self) -> FloatArray:
        """The factors of the features of an action."""
        return _FEATURE_SCALES[self.kind]


def _inputs(layout: dict[str, slice], kind: str) -> Inputs:
    return Inputs(tuple((name, part.start, part.stop) for name, part in layout.items()), kind)


MAIN = _inputs(LAYOUT, "main")  # of Krypkasino and its variants


@lru_cache(64)
def inputs_of(rules: Rules) -> Inputs:
    """Return what a network reads under some rules."""
    return _inputs(rules.layout, kind_of(rules))


def layers_of(shape: Shape, inputs: Inputs = MAIN) -> dict[str, tuple[int, int]]:
    """Return the inputs and the units of every layer, in order; `kinds` is a learned embedding of each action."""
    context, card = shape.context, shape.card
    return {
        "read": (inputs.observation, context),
        "context": (context, card),
        "kinds": (inputs.actions, shape.embedding),
        "card": (inputs.features + shape.embedding, card),
        "hidden": (card, card),
        "score": (card, 1),
        "judge": (context + card, card),
        "value": (card, 1),
    }


def _scales(size: int, usual: float, entries: dict[str, slice], divisors: dict[str, float]) -> FloatArray:
    """Return the factors that bring inputs to the order of one, (size,) float32."""
    scales = np.full(size, usual, np.float32)
    for name, divisor in divisors.items():
        if name in entries:
            scales[entries[name]] = 1 / divisor
    scales.flags.writeable = False
    return scales


@lru_cache(16)
def _observation_scales(inputs: Inputs) -> FloatArray:
    return _scales(
        inputs.observation, 0.5, inputs.layout,
        {"points": 10.0, "sweeps": 3.0, "hand_size": 4.0, "session_total": 30.0, "deals_left": 6.0, "games_left": 6.0,
         "cards_won": 15.0, "spades_won": 4.0, "counted_sweeps": 3.0, "totals": 10.0, "built": 10.0, "built_twin": 10.0,
         "building": 10.0, "mulle_scores": 20.0},
    )  # fmt: skip


_FEATURE_SCALES = {
    "main": _scales(
        WIDTH, 1.0, COLUMNS,
        {"least_points": 3.0, "points": 3.0, "chance": 50.0, "sweepers": 4.0, "left": 2.0, "takers": 4.0, "price": 3.0,
         "taker_chance": 50.0, "risk_chance": 50.0},
    ),
    "moves": _scales(
        move_features.WIDTH, 1.0, move_features.COLUMNS,
        {"gain": 15.0, "reply": 15.0, "keep": 15.0, "worth": 15.0, "behind": 15.0, "cards": 3.0, "points": 2.0,
         "mulle": 8.0, "laid": 30.0, "laid_chance": 50.0, "left": 2.0, "left_cards": 4.0, "left_spades": 2.0,
         "left_points": 2.0, "own_promise": 30.0, "other_promise": 30.0, "takers": 4.0, "takes": 10.0,
         "take_chance": 50.0, "sweepers": 4.0, "sweep_chance": 50.0, "copies": 2.0, "cards_lead": 10.0,
         "cards_open": 20.0, "spades_lead": 4.0, "spades_open": 6.0},
    ),
}  # fmt: skip
