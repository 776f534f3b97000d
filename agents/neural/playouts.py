"""Playouts of worlds, as kernels: the network plays every seat, and values what comes after the last deal."""

from __future__ import annotations

import numpy as np

from krypenv.agents.neural.inference import Weights, score_legal, state_value
from krypenv.agents.neural.repeats import NO_PATH, path_after, slot_of_path
from krypenv.agents.scripted import list_actions
from krypenv.agents.search.rollout import final_margin
from krypenv.kernels.observing import write_observation
from krypenv.kernels.play import act
from krypenv.kernels.scoring import margin_of
from krypenv.runtime.jit import kernel


@kernel
def play_on(
    compiled: np.record,
    weights: Weights,
    game: np.record,
    last_deal: int,
    path: int,
    repeats: np.record,
    network_scratch: np.record,
    scratch: np.record,
) -> None:
    """Play on with the network's best action at every seat, to the end of deal `last_deal` or of the game.

    `path` leads to the game from a decision: until the next deal, what its seat sees is the same after the same
    actions, so the network is asked once. NO_PATH if the game comes from no decision.
    """
    deal = game.deal_number
    while not game.over and game.deal_number <= last_deal:
        count = list_actions(game, network_scratch.legal)
        if game.deal_number != deal:
            path = NO_PATH
        action = network_scratch.legal[0]
        if count > 1:
            slot = slot_of_path(path, game.seat, repeats)
            if slot >= 0 and repeats.choices[slot].path == path:
                action = repeats.choices[slot].action
            else:
                write_observation(compiled, game, game.seat, network_scratch.seen)
                best = score_legal(compiled, weights, network_scratch.seen, count, network_scratch, scratch)
                action = network_scratch.legal[best]
                if slot >= 0:
                    repeats.choices[slot].path, repeats.choices[slot].action = path, action
        path = path_after(path, action)
        act(compiled, game, action, scratch)


@kernel
def leaf_value(
    compiled: np.record,
    model: np.record,
    weights: Weights,
    value_unit: float,
    game: np.record,
    side: int,
    network_scratch: np.record,
    scratch: np.record,
) -> float:
    """Return a side's leaf value: the margin it can expect where a deal has just ended and the next hands are dealt.

    What is to come is the network's state value times `value_unit`, or what `model` expects if the unit is 0.
    """
    if game.over or value_unit == 0.0:
        return final_margin(compiled, model, game, side)
    write_observation(compiled, game, game.seat, network_scratch.seen)
    count = list_actions(game, network_scratch.legal)
    to_come = value_unit * state_value(compiled, weights, network_scratch.seen, count, network_scratch, scratch)
    return margin_of(compiled, game, side) + (to_come if game.seat % compiled.teams == side else -to_come)
