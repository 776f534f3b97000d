"""Weights in safetensors files: named tensors of the shapes that are asked for, finite, and small enough to add up."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from krypenv.agents.network import ILLEGAL, CardNetwork, Shape
from krypenv.observation import LAYOUT, SIZE

MOST_UNITS = 1 << 16  # of a layer that is read from a file
_LARGEST = 128.0  # entry of what a network reads, in size
_COUNTS = ("hand", "table", "seen", "set_aside", "pending", "taken", "cannot_hold")  # entries that are 2 at most


class Spec(NamedTuple):
    """What a tensor in a file is to be."""

    shape: tuple[int | None, ...]  # None for any size
    dtype: torch.dtype = torch.float32


def parse_tensors(data: bytes) -> dict[str, Tensor]:
    """Return the tensors in the bytes of a safetensors file; ValueError where it is none."""
    try:
        return safetensors.torch.load(data)
    except (SafetensorError, AssertionError, KeyError, TypeError, ValueError, RuntimeError, OverflowError, MemoryError):
        raise ValueError("is torn, or no file of tensors") from None


@lru_cache(64)
def specs_of(shape: Shape) -> dict[str, Spec]:
    """Return the tensors of a network of some shape; nothing of that size is made."""
    with torch.device("meta"):
        state = CardNetwork(shape).state_dict()
    return {name: Spec(tuple(tensor.shape), tensor.dtype) for name, tensor in state.items()}


def check_tensors(tensors: dict[str, Tensor], specs: dict[str, Spec]) -> None:
    """Raise ValueError unless tensors are those that are asked for, and their floats finite."""
    for name in [*specs.keys() - tensors.keys(), *tensors.keys() - specs.keys()][:1]:
        raise ValueError(f"{'lacks' if name in specs else 'has an unknown'} tensor {name[:100]!r}")
    for name, (shape, dtype) in specs.items():
        tensor = tensors[name]
        fits = len(shape) == tensor.dim() and all(a in (None, b) for a, b in zip(shape, tensor.shape, strict=True))
        if not fits or tensor.dtype != dtype:
            sizes = tuple("any" if size is None else size for size in shape)
            raise ValueError(
                f"has tensor {name!r} of {tensor.dtype} {tuple(tensor.shape)}, and it is to be of {dtype} {sizes}"
            )
        if dtype.is_floating_point and not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"has numbers in tensor {name!r} that are not finite")


@torch.no_grad()
def check_reach(state: dict[str, Tensor]) -> None:
    """Raise ValueError where a network's logits could come to what marks illegal actions, or to no number.

    `state` holds the tensors of a `CardNetwork`. What each layer comes to at most follows from the largest inputs.
    """
    size = {name: tensor.to(torch.float64).abs() for name, tensor in state.items()}

    def layer(name: str, inputs: Tensor) -> Tensor:
        return size[f"{name}.weight"] @ inputs + size[f"{name}.bias"]

    observation, facts = _largest_inputs()
    context = layer("read", observation)
    kinds = size["kinds.weight"].max(0).values
    card = layer("card", torch.cat([facts, kinds])) + layer("context", context)
    hidden = layer("hidden", card)
    value = layer("value", layer("judge", torch.cat([context, hidden])))
    largest = float(torch.cat([layer("score", hidden), value]).max())
    if not largest < -ILLEGAL / 2:
        raise ValueError(f"has weights so large that a network with them can come to {largest:.0e}")


@lru_cache(1)
def _largest_inputs() -> tuple[Tensor, Tensor]:
    """Return the largest inputs of a network in size: those of the observation, (433,), and those of a fact."""
    network = CardNetwork(Shape(1, 1, 1))
    largest = torch.full((SIZE,), _LARGEST, dtype=torch.float64)
    for name in _COUNTS:
        largest[LAYOUT[name]] = 2
    return largest * network.base_scale, network.fact_scale.to(torch.float64) * _LARGEST


def check_network(tensors: dict[str, Tensor], shape: Shape) -> None:
    """Raise ValueError unless tensors are the weights of a network of some shape that always comes to a number."""
    check_tensors(tensors, specs_of(shape))
    check_reach(tensors)


def read_tensors(path: Path, data: bytes, specs: dict[str, Spec]) -> dict[str, Tensor]:
    """Return checked tensors from the bytes of a file; raises ValueError with its name."""
    try:
        tensors = parse_tensors(data)
        check_tensors(tensors, specs)
    except ValueError as error:
        raise ValueError(f"{path} {error}") from None
    return tensors
