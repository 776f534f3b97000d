"""The network of learned agents (`krypenv.agents.neural.network`) as kernels, for one decision at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents.neural.action_features import MAIN_FEATURES, prepare_actions, write_action_features
from krypenv.agents.neural.model_file import check_rules, load_model, rules_in
from krypenv.agents.neural.move_features import MOVE_FEATURES
from krypenv.agents.neural.network import MAIN, MAX_UNITS, Arrays, Inputs, inputs_of
from krypenv.agents.workspace import WORKSPACE
from krypenv.cards import NUM_BUILDING_ACTIONS
from krypenv.observation import LARGEST_SIZE
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel

_ZERO = np.float32(0)
MAX_WIDTH = max(MAIN_FEATURES.width, MOVE_FEATURES.width)
MAX_INPUTS = max(MAX_UNITS, LARGEST_SIZE, MAX_WIDTH)  # of a layer
LINE = 64  # bytes

NETWORK_SCRATCH = np.dtype(
    [
        ("context", np.float32, (MAX_UNITS,)),  # the layer that reads the observation
        ("shared", np.float32, (MAX_UNITS,)),  # its contribution to the layers that score an action
        ("card", np.float32, (MAX_UNITS,)),  # the first of these
        ("hidden", np.float32, (MAX_UNITS,)),  # and the second
        ("active", np.uint32, (MAX_INPUTS,)),  # the inputs of a layer that are not 0
        ("legal", np.int64, (NUM_BUILDING_ACTIONS,)),  # the legal actions
        ("logits", np.float32, (NUM_BUILDING_ACTIONS,)),  # and their scores, in the same order
        ("seen", np.int8, (LARGEST_SIZE,)),  # an observation
        ("features", np.int8, (MAX_WIDTH,)),  # of one action
        ("workspace", WORKSPACE),  # of action features
    ],
    align=True,
)


class Weights(NamedTuple):
    """The weights of a network with C units of context and H that score an action; contiguous float32.

    A row of a matrix is one input's contribution to all units, so that inputs of 0, as most are, cost nothing. The rows
    include the input scales.
    """

    read: npt.NDArray[np.float32]  # (N, C) for observations of N entries
    read_bias: npt.NDArray[np.float32]  # (C,)
    context: npt.NDArray[np.float32]  # (C, H)
    kinds: npt.NDArray[np.float32]  # (A, H): contribution of an action's number alone, biases included
    features: npt.NDArray[np.float32]  # (W, H) for W action features
    hidden: npt.NDArray[np.float32]  # (H, H)
    hidden_bias: npt.NDArray[np.float32]  # (H,)
    score: npt.NDArray[np.float32]  # (H + 1,): the bias comes last

    @classmethod
    def of(cls, state: Arrays, inputs: Inputs = MAIN) -> Weights:
        """Convert arrays named as in a model's file (`network.specs_of`) to the weights of these kernels.

        `inputs` are those of the rules that the network was trained for (`network.inputs_of`). A layer has at most
        `MAX_UNITS` units.
        """
        of_features, of_kinds = np.split(state["card.weight"].T, [inputs.features])
        arrays = (
            state["read.weight"].T * inputs.observation_scales[:, None],
            state["read.bias"],
            state["context.weight"].T,
            state["kinds.weight"] @ of_kinds + state["card.bias"] + state["context.bias"],
            of_features * inputs.feature_scales[:, None],
            state["hidden.weight"].T,
            state["hidden.bias"],
            np.append(state["score.weight"], state["score.bias"]),
        )
        return cls(*(in_lines(np.asarray(array, np.float32)) for array in arrays))


def load_weights(folder: str | Path, rules: Rules) -> tuple[Weights, dict[str, Any]]:
    """Load the weights and the card in a model's folder; raises ModelError if it is faulty or plays other rules."""
    arrays, card = load_model(folder)
    check_rules(card, rules, folder)
    return Weights.of(arrays, inputs_of(rules_in(card))), card


def allocate_in_lines(shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
    """Allocate zeros that begin where a line of the processor's cache does, for vectors that span a line."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size].view(dtype).reshape(shape)


def in_lines(array: np.ndarray) -> np.ndarray:
    """Copy an array to where a line of the processor's cache begins."""
    copy = allocate_in_lines(array.shape, array.dtype)
    copy[...] = array
    return copy


@kernel
def score_legal(
    compiled: np.record, weights: Weights, observation: np.ndarray, count: int, network_scratch: np.record
) -> int:
    """Write the logits of the first `count` of `network_scratch.legal` to `.logits`; return the place of the best.

    `observation` is (>= N,) int8.
    """
    read_decision(compiled, weights, observation, network_scratch)
    best = 0
    for at in range(count):
        action = network_scratch.legal[at]
        network_scratch.logits[at] = score_one(compiled, weights, observation, action, network_scratch)
        if network_scratch.logits[at] > network_scratch.logits[best]:
            best = at
    return best


@kernel
def read_decision(compiled: np.record, weights: Weights, observation: np.ndarray, network_scratch: np.record) -> None:
    """Compute what all actions of a decision share, with the observation's contribution to every score in `.shared`."""
    prepare_actions(compiled, observation, network_scratch.workspace)
    context, shared, active = network_scratch.context, network_scratch.shared, network_scratch.active
    units, size = len(weights.read_bias), len(weights.hidden_bias)
    for unit in range(units):
        context[unit] = weights.read_bias[unit]
    count = list_nonzero(observation, len(weights.read), active)
    add_rows(context, observation, active, count, weights.read)
    for unit in range(size):
        shared[unit] = 0
    add_rows(shared, context, active, list_positive(context, units, active), weights.context)


@kernel
def score_one(
    compiled: np.record, weights: Weights, observation: np.ndarray, action: int, network_scratch: np.record
) -> float:
    """Compute the logit of one action; call `read_decision` first."""
    features, card, hidden = network_scratch.features, network_scratch.card, network_scratch.hidden
    active, size = network_scratch.active, len(weights.hidden_bias)
    for entry in range(len(weights.features)):
        features[entry] = 0
    write_action_features(compiled, observation, action, network_scratch.workspace, features)
    for unit in range(size):
        card[unit] = network_scratch.shared[unit] + weights.kinds[action, unit]
        hidden[unit] = weights.hidden_bias[unit]
    count = list_nonzero(features, len(weights.features), active)
    add_rows(card, features, active, count, weights.features)
    add_rows(hidden, card, active, list_positive(card, size, active), weights.hidden)
    logit = weights.score[size]
    for unit in range(size):
        logit += max(hidden[unit], _ZERO) * weights.score[unit]
    return logit


@kernel
def list_nonzero(inputs: np.ndarray, count: int, active: np.ndarray) -> int:
    """Write the places of the nonzero ones of the first `count` inputs to `active`; return their number.

    Without a branch, which the processor would often predict wrongly.
    """
    number = 0
    for at in range(count):
        active[number] = at
        number += inputs[at] != 0
    return number


@kernel
def list_positive(inputs: np.ndarray, count: int, active: np.ndarray) -> int:
    """Write the places of the positive ones of the first `count` inputs to `active`; return their number."""
    number = 0
    for at in range(count):
        active[number] = at
        number += inputs[at] > 0
    return number


@kernel
def add_rows(out: np.ndarray, inputs: np.ndarray, active: np.ndarray, count: int, rows: np.ndarray) -> None:
    """Add the rows of the first `count` active inputs, times the inputs, to the units of a layer, in float32.

    Four rows at a time, so that units are read and written once for four, and each adds its inputs in their order.
    """
    whole = count - count % 4
    for at in range(0, whole, 4):
        one, two, three, four = active[at], active[at + 1], active[at + 2], active[at + 3]
        first, second = np.float32(inputs[one]), np.float32(inputs[two])
        third, fourth = np.float32(inputs[three]), np.float32(inputs[four])
        for unit in range(rows.shape[1]):
            out[unit] = (
                out[unit] + first * rows[one, unit] + second * rows[two, unit]
                + third * rows[three, unit] + fourth * rows[four, unit]
            )  # fmt: skip
    for at in range(whole, count):
        add_row(out, inputs[active[at]], rows[active[at]], rows.shape[1])


@kernel
def add_row(out: np.ndarray, factor: float, row: np.ndarray, size: int) -> None:
    """Add a multiple of a row of weights to the first `size` units of a layer, in float32."""
    factor = np.float32(factor)
    for unit in range(size):
        out[unit] += factor * row[unit]
