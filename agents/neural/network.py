"""The network of learned agents: its inputs and their scales, its layers, and the checks of its weights.

All actions share one small scorer and one context, computed from the observation. Kernels play with it
(`krypenv.agents.neural.inference`); only training needs torch (`krypenv.training.learn.network`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from krypenv.agents.neural.action_features import FEATURE_SETS, kind_of
from krypenv.cards import NUM_ACTIONS, NUM_BUILDING_ACTIONS
from krypenv.observation import LAYOUT
from krypenv.rules import Rules

Arrays = dict[str, np.ndarray]  # the weights of a network by their names
FloatArray = npt.NDArray[np.float32]

ILLEGAL = -(2.0**100)  # the logit of an illegal action, and of padding: far below any network's
MAX_UNITS = 1 << 13  # in a layer, at most
_LARGEST = 128.0  # the largest absolute input, before scaling


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
        """Check whether other inputs begin with these, so that a network of these can read them."""
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
        return FEATURE_SETS[self.kind].width

    @property
    def actions(self) -> int:
        """The actions that there are."""
        return NUM_BUILDING_ACTIONS if "building" in self.layout else NUM_ACTIONS

    @property
    def observation_scales(self) -> FloatArray:
        """The factors of the entries of an observation."""
        return _scales(self, "observation")

    @property
    def feature_scales(self) -> FloatArray:
        """The factors of the features of an action."""
        return _scales(self, self.kind)


def _inputs(layout: dict[str, slice], kind: str) -> Inputs:
    return Inputs(tuple((name, part.start, part.stop) for name, part in layout.items()), kind)


MAIN = _inputs(LAYOUT, "main")  # of Krypkasino and its variants


@lru_cache(64)
def inputs_of(rules: Rules) -> Inputs:
    """Describe what a network reads under some rules."""
    return _inputs(rules.layout, kind_of(rules))


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


_USUAL_SCALE = {"observation": 0.5, "main": 1.0, "moves": 1.0}
_DIVISORS = {  # the reciprocals of the other scales, by block of the observation or by feature
    "observation": {
        "points": 10.0, "sweeps": 3.0, "hand_size": 4.0, "session_total": 30.0, "deals_left": 6.0, "games_left": 6.0,
        "cards_won": 15.0, "spades_won": 4.0, "counted_sweeps": 3.0, "totals": 10.0, "built": 10.0, "built_twin": 10.0,
        "building": 10.0, "mulle_scores": 20.0,
    },
    "main": {
        "least_points": 3.0, "points": 3.0, "chance": 50.0, "sweepers": 4.0, "left": 2.0, "takers": 4.0, "price": 3.0,
        "taker_chance": 50.0, "risk_chance": 50.0,
    },
    "moves": {
        "gain": 15.0, "reply": 15.0, "keep": 15.0, "worth": 15.0, "behind": 15.0, "cards": 3.0, "points": 2.0,
        "mulle": 8.0, "laid": 30.0, "laid_chance": 50.0, "left": 2.0, "left_cards": 4.0, "left_spades": 2.0,
        "left_points": 2.0, "own_promise": 30.0, "other_promise": 30.0, "takers": 4.0, "takes": 10.0,
        "take_chance": 50.0, "sweepers": 4.0, "sweep_chance": 50.0, "copies": 2.0, "cards_lead": 10.0,
        "cards_open": 20.0, "spades_lead": 4.0, "spades_open": 6.0,
    },
}  # fmt: skip


@lru_cache(32)
def _scales(inputs: Inputs, of: str) -> FloatArray:
    """Make the factors that bring inputs to the order of one, float32."""
    is_observation = of == "observation"
    columns = inputs.layout if is_observation else FEATURE_SETS[of].columns
    scales = np.full(inputs.observation if is_observation else inputs.features, _USUAL_SCALE[of], np.float32)
    for name, divisor in _DIVISORS[of].items():
        if name in columns:
            scales[columns[name]] = 1 / divisor
    scales.flags.writeable = False
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


# ---------------------------------------------------------------------- weights from files


def parse_arrays(data: bytes) -> Arrays:
    """Parse the bytes of a safetensors file; raises ValueError for other bytes."""
    try:
        return safetensors.numpy.load(data)
    except KeyError as error:
        raise ValueError(f"has a tensor of the type {error}, which NumPy does not know") from None
    except (SafetensorError, AssertionError, TypeError, ValueError, RuntimeError, OverflowError, MemoryError):
        raise ValueError("is torn, or no file of tensors") from None


def check_network(arrays: Arrays, shape: Shape, inputs: Inputs = MAIN) -> None:
    """Raise ValueError unless arrays are the weights of a network of this shape, finite and with bounded outputs."""
    specs = specs_of(shape, inputs)
    for name in [*specs.keys() - arrays.keys(), *arrays.keys() - specs.keys()][:1]:
        raise ValueError(f"{'lacks' if name in specs else 'has an unknown'} tensor {name[:100]!r}")
    for name, sizes in specs.items():
        array = arrays[name]
        if array.shape != sizes or array.dtype != np.float32:
            raise ValueError(f"has tensor {name!r} of {array.dtype} {array.shape}, and it is to be of float32 {sizes}")
        if not np.isfinite(array).all():
            raise ValueError(f"has numbers in tensor {name!r} that are not finite")
    check_reach(arrays, inputs)


def check_reach(arrays: Arrays, inputs: Inputs = MAIN) -> None:
    """Raise ValueError if a network's outputs could reach the logit that marks illegal actions, or overflow.

    `arrays` are those of a network (`specs_of`). The bound of each layer follows from the largest inputs.
    """
    size = {name: np.abs(array.astype(np.float64)) for name, array in arrays.items()}

    def layer(name: str, inputs: np.ndarray) -> np.ndarray:
        outputs: np.ndarray = size[f"{name}.weight"] @ inputs + size[f"{name}.bias"]
        return outputs

    context = layer("read", _LARGEST * inputs.observation_scales)
    features = np.append(_LARGEST * inputs.feature_scales, size["kinds.weight"].max(axis=0))
    hidden = layer("hidden", layer("card", features) + layer("context", context))
    value = layer("value", layer("judge", np.append(context, hidden)))
    largest = float(np.append(layer("score", hidden), value).max())
    if not largest < -ILLEGAL / 2:
        raise ValueError(f"has weights so large that a network with them can come to {largest:.0e}")
