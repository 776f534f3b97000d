"""The network of learned agents: its inputs and their scales, its layers, and the checks of its weights.

All actions share one small scorer and one context, computed from the observation. Kernels play with it
(`krypenv.agents.neural.inference`); only training needs torch (`krypenv.training.learn.network`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krypenv.agents.neural.action_features import MAIN_FEATURES, features_of
from krypenv.agents.neural.move_features import FeatureSet
from krypenv.cards import NUM_ACTIONS, NUM_BUILDING_ACTIONS
from krypenv.observation import LAYOUT
from krypenv.rules import Rules

Arrays = dict[str, np.ndarray]  # the weights of a network by their names
FloatArray = npt.NDArray[np.float32]

ILLEGAL = -(2.0**100)  # the logit of an illegal action, and of padding: far below any network's
MAX_UNITS = 1 << 13  # in a layer, at most
LARGEST_WEIGHT = 1000.0  # so that no logit of a network with layers of `MAX_UNITS` can come to `ILLEGAL`


@dataclass(frozen=True)
class Shape:
    """The sizes of a network."""

    context: int = 128  # units of the layer that reads the whole observation
    card: int = 64  # units of the two layers that score an action
    embedding: int = 8  # entries learned for each action


@dataclass(frozen=True)
class Inputs:
    """What a network reads under some rules: blocks of the observation, and the features of each legal action."""

    layout: dict[str, slice]  # the blocks of the observation
    feature_set: FeatureSet

    def are_in(self, others: Inputs) -> bool:
        """Check whether other inputs begin with these, so that a network of these can read them."""
        begins = list(others.layout.items())[: len(self.layout)] == list(self.layout.items())
        return begins and self.feature_set == others.feature_set

    @property
    def observation(self) -> int:
        """The entries of an observation."""
        return max(part.stop for part in self.layout.values())

    @property
    def features(self) -> int:
        """The features of an action."""
        return self.feature_set.width

    @property
    def actions(self) -> int:
        """The actions that there are."""
        return NUM_BUILDING_ACTIONS if "building" in self.layout else NUM_ACTIONS

    @property
    def observation_scales(self) -> FloatArray:
        """The factors that bring the entries of an observation to the order of one, (N,)."""
        return _scales(self.layout, _DIVISORS, 0.5)

    @property
    def feature_scales(self) -> FloatArray:
        """The factors that do the same for the features of an action, (W,)."""
        return _scales(self.feature_set.columns, self.feature_set.divisors, 1.0)


MAIN = Inputs(LAYOUT, MAIN_FEATURES)  # of Krypkasino and its variants


def inputs_of(rules: Rules) -> Inputs:
    """Describe what a network reads under some rules."""
    return Inputs(rules.layout, features_of(rules))


def layers_of(shape: Shape, inputs: Inputs = MAIN) -> dict[str, tuple[int, int]]:
    """List the inputs and the units of every layer, in order; `kinds` is a learned embedding of each action."""
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


_DIVISORS = {  # of the blocks of the observation; 2 for others
    "points": 10.0, "sweeps": 3.0, "hand_size": 4.0, "session_total": 30.0, "deals_left": 6.0, "games_left": 6.0,
    "cards_won": 15.0, "spades_won": 4.0, "counted_sweeps": 3.0, "totals": 10.0, "built": 10.0, "built_twin": 10.0,
    "building": 10.0, "mulle_scores": 20.0,
}  # fmt: skip


def _scales(columns: dict[str, slice], divisors: dict[str, float], usual: float) -> FloatArray:
    scales = np.full(max(part.stop for part in columns.values()), usual, np.float32)
    for name in columns.keys() & divisors.keys():
        scales[columns[name]] = 1 / divisors[name]
    return scales


def specs_of(shape: Shape, inputs: Inputs = MAIN) -> dict[str, tuple[int, ...]]:
    """List the arrays of a network with their shapes, in the order of files; all are float32."""
    specs: dict[str, tuple[int, ...]] = {}
    for name, (entries, units) in layers_of(shape, inputs).items():
        if name == "kinds":
            specs["kinds.weight"] = entries, units
        else:
            specs |= {f"{name}.weight": (units, entries), f"{name}.bias": (units,)}
    return specs


def shape_of(arrays: Arrays) -> Shape:
    """Read the sizes of a network from its weights, named as in `specs_of`."""
    return Shape(len(arrays["read.bias"]), len(arrays["hidden.bias"]), arrays["kinds.weight"].shape[1])


def check_network(arrays: Arrays, shape: Shape, inputs: Inputs = MAIN) -> None:
    """Raise ValueError unless arrays are the weights of a network of this shape, none beyond `LARGEST_WEIGHT`."""
    specs = specs_of(shape, inputs)
    for name in [*specs.keys() - arrays.keys(), *arrays.keys() - specs.keys()][:1]:
        raise ValueError(f"{'lacks' if name in specs else 'has an unknown'} tensor {name[:100]!r}")
    for name, sizes in specs.items():
        array = arrays[name]
        if array.shape != sizes or array.dtype != np.float32:
            raise ValueError(f"has tensor {name!r} of {array.dtype} {array.shape}, and it is to be of float32 {sizes}")
        if not (np.abs(array) <= LARGEST_WEIGHT).all():  # as NaN is not
            raise ValueError(f"has numbers in tensor {name!r} that are beyond {LARGEST_WEIGHT:g} or none")
