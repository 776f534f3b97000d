"""Chance at a deal: the same game with the hands of the deal that has just begun dealt anew, and what they are worth.

A value is a side's margin at the end of the deal, with all hands known to nobody but their seats, as some player plays
all of them: a leaf value for the next deal included.
"""

from __future__ import annotations

import numpy as np

from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.playouts import NO_PATH, play_on
from krypenv.agents.scripted import Style
from krypenv.agents.search.rollout import final_margin, play_out
from krypenv.agents.workspace import Workspace
from krypenv.kernels.deals import deal, shuffle_deck, shuffle_rest, take_back
from krypenv.kernels.play import begin_game, prepare
from krypenv.runtime.jit import kernel
from krypenv.state import ACTIONS, DEALS, mix


@kernel
def redeal(compiled: np.record, game: np.record, seed: np.uint64, scratch: np.record) -> None:
    """Deal the current deal of a game anew, of which nothing has been played, from the cards not dealt before it.

    All orders of these cards are equally likely, as they were when the game was shuffled (R4).
    """
    game.rng[DEALS] = mix(seed)
    if game.deal_number == 1:
        shuffle_deck(compiled, game)
        begin_game(compiled, game, scratch)
        return
    take_back(compiled, game)
    shuffle_rest(game, np.int64(game.next_card), compiled.deck_size)
    deal(compiled, game)
    prepare(compiled, game, scratch)


@kernel
def write_redeals(
    compiled: np.ndarray, state: np.ndarray, rows: np.ndarray, redeals: int, out: np.ndarray, workspace: Workspace
) -> None:
    """Write some games that have just been dealt, and `redeals` of each, into `out`, (M * (1 + redeals),) of `GAME`.

    `rows` is (M,). A game is followed by its redeals. They follow from the game's own stream of deals, so all
    seatings of a deal have the same ones.
    """
    size = 1 + redeals
    for at in range(len(rows)):
        for number in range(size):
            game = out[at * size + number]
            out[at * size + number] = state[rows[at]]
            seed = mix(game.rng[DEALS] + np.uint64(game.deal_number * size + number))
            if number > 0:
                redeal(compiled[0], game, seed, workspace.listing[0].scratch)
            game.rng[ACTIONS] = mix(~seed)


@kernel
def value_by_tactician(
    compiled: np.ndarray, model: np.ndarray, games: np.ndarray, style: Style, workspace: Workspace, out: np.ndarray
) -> None:
    """Play N games to the end of their deal with a scripted player; write all sides' values into `out`, (N, S)."""
    for row in range(len(games)):
        play_out(compiled[0], games[row], games[row].deal_number, style, 0, workspace.listing[0], workspace.judging[0])
        _write_margins(compiled[0], model[0], games[row], out[row])


@kernel
def value_by_network(
    compiled: np.ndarray,
    model: np.ndarray,
    games: np.ndarray,
    weights: Weights,
    repeats: np.ndarray,
    network_scratch: np.ndarray,
    workspace: Workspace,
    out: np.ndarray,
) -> None:
    """Do what `value_by_tactician` does, with a network at every seat."""
    for row in range(len(games)):
        play_on(
            compiled[0], weights, games[row], games[row].deal_number, NO_PATH, repeats[0], network_scratch[0],
            workspace.listing[0].scratch,
        )  # fmt: skip
        _write_margins(compiled[0], model[0], games[row], out[row])


@kernel
def _write_margins(compiled: np.record, model: np.record, game: np.record, out: np.ndarray) -> None:
    for side in range(compiled.teams):
        out[side] = final_margin(compiled, model, game, side)
