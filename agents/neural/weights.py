"""Weights in safetensors files: named arrays, checked for their shapes, finite values and bounded outputs."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from krypenv.agents.neural.network import ILLEGAL, MAIN, Arrays, Inputs, Shape, layers_of

_LARGEST = 128.0  # the largest absolute input of a network, before scaling
_COUNTS = ("hand", "table", "seen", "set_aside", "pending", "taken", "cannot_hold")  # entries that are 2 at most


class Spec(NamedTuple):
    """The shape and type that an array in a file must have."""

    shape: tuple[int | None, ...]  # None for any size
    dtype: type[np.generic] = np.float32


def parse_arrays(data: bytes) -> Arrays:
    """Return the arrays in the bytes of a safetensors file; raises ValueError for other bytes."""
    try:
        return safetensors.numpy.load(data)
    except KeyError as error:
        raise ValueError(f"has a tensor of the type {error}, which NumPy does not know") from None
    except (SafetensorError, AssertionError, TypeError, ValueError, RuntimeError, OverflowError, MemoryError):
        raise ValueError("is torn, or no file of tensors") from None


@lru_cache(64)
def specs_of(shape: Shape, inputs: Inputs = MAIN) -> dict[str, Spec]:
    """Return the specs of a network's arrays, in order; allocates nothing of that size."""
    specs = {}
    for name, (entries, units) in layers_of(shape, inputs).items():
        if name == "kinds":
            specs["kinds.weight"] = Spec((entries, units))
        else:
            specs |= {f"{name}.weight": Spec((units, entries)), f"{name}.bias": Spec((units,))}
    return specs


def shape_of(arrays: Arrays) -> Shape:
    """Return the sizes of the network whose weights, named as in `specs_of`, are given."""
    return Shape(len(arrays["read.bias"]), len(arrays["hidden.bias"]), arrays["kinds.weight"].shape[1])


def check_arrays(arrays: Arrays, specs: dict[str, Spec]) -> None:
    """Raise ValueError unless arrays match their specs and all floats are finite."""
    for name in [*specs.keys() - arrays.keys(), *arrays.keys() - specs.keys()][:1]:
        raise ValueError(f"{'lacks' if name in specs else 'has an unknown'} tensor {name[:100]!r}")
    for name, (shape, dtype) in specs.items():
        array = arrays[name]
        fits = len(shape) == array.ndim and all(a in (None, b) for a, b in zip(shape, array.shape, strict=True))
        if not fits or array.dtype != dtype:
            sizes = tuple("any" if size is None else size for size in shape)
            found = f"{array.dtype} {array.shape}"
            raise ValueError(f"has tensor {name!r} of {found}, and it is to be of {dtype.__name__} {sizes}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"has numbers in tensor {name!r} that are not finite")


def check_reach(arrays: Arrays, inputs: Inputs = MAIN) -> None:
    """Raise ValueError if a network's outputs could reach the logit that marks illegal actions, or overflow.

    `arrays` are those of a network (`specs_of`). The bound of each layer follows from the largest inputs.
    """
    size = {name: np.abs(array.astype(np.float64)) for name, array in arrays.items()}

    def layer(name: str, inputs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        outputs: npt.NDArray[np.float64] = size[f"{name}.weight"] @ inputs + size[f"{name}.bias"]
        return outputs

    observation, features = _largest_inputs(inputs)
    context = layer("read", observation)
    card = layer("card", np.append(features, size["kinds.weight"].max(axis=0))) + layer("context", context)
    hidden = layer("hidden", card)
    value = layer("value", layer("judge", np.append(context, hidden)))
    largest = float(np.append(layer("score", hidden), value).max())
    if not largest < -ILLEGAL / 2:
        raise ValueError(f"has weights so large that a network with them can come to {largest:.0e}")


@lru_cache(16)
def _largest_inputs(inputs: Inputs) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the largest absolute inputs: of the observation, and of the action features, (N,) and (W,)."""
    largest = np.full(inputs.observation, _LARGEST)
    for name in _COUNTS:
        largest[inputs.layout[name]] = 2
    return largest * inputs.observation_scales, np.full(inputs.features, _LARGEST) * inputs.feature_scales


def check_network(arrays: Arrays, shape: Shape, inputs: Inputs = MAIN) -> None:
    """Raise ValueError unless arrays are the weights of a network of this shape whose outputs are bounded."""
    check_arrays(arrays, specs_of(shape, inputs))
    check_reach(arrays, inputs)
