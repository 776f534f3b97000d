"""Small networks."""

from __future__ import annotations

from typing import Any

from krypenv import Rules
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.network import MAIN as MAIN_INPUTS, Arrays, Inputs, Shape, inputs_of
from support.games import some_arrays


def some_network(inputs: Inputs = MAIN_INPUTS) -> Arrays:
    """The weights of a small network that was never trained."""
    return some_arrays(Shape(context=24, card=16, embedding=4), inputs=inputs)


def network_of(rules: Rules, arrays: Arrays | None = None, **options: Any) -> LearnedAgent:
    """Return an agent that plays some rules with weights, or with those of `some_network`."""
    inputs = inputs_of(rules)
    weights = Weights.of(some_network(inputs) if arrays is None else arrays, inputs)
    return LearnedAgent(weights, rules, "network", **options)
