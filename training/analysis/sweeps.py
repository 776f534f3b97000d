"""Forced sweeps after a move, over sampled worlds: those set up for the next seat, and those its own seat risks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.engine import Engine
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.kernels.state import State, allocate
from krypenv.kernels.worlds import determinize


def sample_worlds(game: Game, count: int, seed: int, open_hands: bool) -> State:
    """Return `count` worlds that agree with what the seat to act sees, (count,) of `GAME`.

    With `open_hands` they agree in all hands too, and only the order of the stock is random.
    """
    if not open_hands:
        return determinize(np.tile(game.observation(), (count, 1)), seed, game.rules)
    state = allocate(count)
    state[:] = game.state
    size = game.rules.deck_size
    stock = state.deck[:, size - game.stock_size : size]
    stock[:] = np.random.default_rng(seed).permuted(stock, axis=1)
    return state


def sweep_chances(game: Game, moves: Sequence[Move], worlds: State, seed: int) -> list[tuple[float, float]]:
    """Return for each move the shares of worlds with a forced sweep after it: set up, and risked.

    Set up: the next seat must sweep, which is credited to the seat to act (R12). Risked: the seat to act must itself
    sweep at its next turn in this game, after all others have played like the tactician.
    """
    twin, made = game.copy(), len(game.actions)
    chances = []
    for move in moves:
        twin.push(move)
        actions = twin.actions[made:]
        twin.pop()
        chances.append(_play_on(Engine.from_state(game.rules, worlds), actions, seed))
    return chances


def _play_on(engine: Engine, actions: list[int], seed: int) -> tuple[float, float]:
    """Make a move in all rows, then play to the next turn of its seat; return the shares set up and risked."""
    own, goes_on = int(engine.seat[0]), np.ones(engine.num_games, np.bool_)

    def step(chosen: np.ndarray, rows: np.ndarray) -> None:
        left = _cards_left(engine)
        engine.step(chosen, rows)
        goes_on[_cards_left(engine) > left] = False  # the next game has been dealt

    for action in actions:
        step(np.full(engine.num_games, action), np.arange(engine.num_games))
    is_next = engine.seat == (own + 1) % engine.rules.players
    sets_up = float(np.mean(goes_on & is_next & _must_sweep(engine)))
    others = agents.make("tactician", engine.rules, seed)
    while (rows := np.flatnonzero(goes_on & (engine.seat != own))).size:
        step(others.act(engine.observation[rows], engine.action_mask[rows]), rows)
    return sets_up, float(np.mean(goes_on & _must_sweep(engine)))


def _cards_left(engine: Engine) -> npt.NDArray[np.int64]:
    """Return the number of cards in hands and stock, (B,) int64, which only falls until the next game."""
    return engine.rules.deck_size - engine.state.next_card + engine.state.hand_size.sum(axis=1)


def _must_sweep(engine: Engine) -> npt.NDArray[np.bool_]:
    """Return whether every legal card of the seat to act takes the whole table, (B,) bool (R10)."""
    values, plays = engine.state.sweep_values, engine.state.legal_plays
    sweepers = np.zeros(engine.num_games, np.int64)
    for value, kinds in enumerate(engine.compiled["value_kinds"][0]):
        sweepers |= np.where(values >> value & 1, kinds, 0)
    return (plays != 0) & (plays & ~sweepers == 0)
