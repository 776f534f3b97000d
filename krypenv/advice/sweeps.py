"""Sweeps after a move, over sampled worlds: those set up for the next seat, and those of its own seat's next turn.

Where sweeps are forced, these are sweeps that must be made, otherwise sweeps that can be made and count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.engine import Engine
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.kernels.builds import sweep_builds
from krypenv.kernels.captures import borrow_scratch, find_sweep_values
from krypenv.kernels.compiled import kinds_of_values, sum_of
from krypenv.kernels.scoring import is_void
from krypenv.runtime.jit import handle, kernel
from krypenv.state import State, allocate
from krypenv.worlds.determinize import determinize


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
    """Return for each move the shares of worlds with a sweep after it: set up, and risked.

    Set up: the next seat must sweep, which is credited to the seat to act (R12). Risked: the seat to act must itself
    sweep at its next turn in this game, after all others have played like the tactician. Where sweeps are not forced,
    "must" is "can".
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
    sweeps = _must_sweep if engine.rules.capture == "maximal" or engine.rules.forced_sweep else _can_sweep
    sets_up = float(np.mean(goes_on & is_next & sweeps(engine)))
    others = agents.make("tactician", engine.rules, seed)
    while (rows := np.flatnonzero(goes_on & (engine.seat != own))).size:
        step(others.act(engine.observation[rows], engine.action_mask[rows]), rows)
    return sets_up, float(np.mean(goes_on & sweeps(engine)))


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


def _can_sweep(engine: Engine) -> npt.NDArray[np.bool_]:
    """Return whether the seat to act has a card that takes the whole table, by a sweep that counts, (B,) bool (K3)."""
    out = np.empty(engine.num_games, np.bool_)
    _mark_sweepers(engine.compiled, handle(engine.state), borrow_scratch(), out)
    return out


@kernel
def _mark_sweepers(compiled: np.ndarray, state: np.ndarray, scratch: np.ndarray, out: np.ndarray) -> None:
    """Write for each game whether its seat to act can sweep into `out`, (B,) bool."""
    rules = compiled[0]
    for row in range(len(out)):
        ranks = np.int64(state[row].table_ranks)
        values = find_sweep_values(rules, ranks, sum_of(rules, ranks), scratch[0])
        if rules.building:
            values = sweep_builds(values, ranks, np.int64(state[row].builds))
        out[row] = kinds_of_values(rules, values) & state[row].legal_plays != 0 and not is_void(rules, state[row])
