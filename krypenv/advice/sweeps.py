"""Probabilities of sweeps after a move, over sampled worlds: by the next seat, and at the own seat's next turn.

Where rules force sweeps, only forced ones count. In other games, every credited sweep that can be made counts.
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
    """Sample `count` worlds that are consistent with the observation of the seat to act, (count,) of `GAME`.

    With `open_hands` all hands are those of the game, and only the order of the stock is random.
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
    """Compute for each move the shares of worlds with a sweep after it: set up, and risked.

    Set up: the next seat must sweep, which is credited to the seat to act (R12). Risked: the seat to act must itself
    sweep at its next turn in this game, after all others have played like the tactician. Where sweeps are not forced,
    "must" is "can".
    """
    twin, length = game.copy(), len(game.actions)
    chances = []
    for move in moves:
        twin.push(move)
        actions = twin.actions[length:]
        twin.pop()
        chances.append(_play_on(Engine.from_state(game.rules, worlds), actions, seed))
    return chances


def _play_on(engine: Engine, actions: list[int], seed: int) -> tuple[float, float]:
    """Make a move in all rows, then play to the next turn of its seat; return the shares set up and risked."""
    own, is_running = int(engine.seat[0]), np.ones(engine.num_games, np.bool_)

    def step(chosen: np.ndarray, rows: np.ndarray) -> None:
        before = _cards_left(engine)
        engine.step(chosen, rows)
        is_running[_cards_left(engine) > before] = False  # the next game has been dealt

    for action in actions:
        step(np.full(engine.num_games, action), np.arange(engine.num_games))
    is_next = engine.seat == (own + 1) % engine.rules.players
    sets_up = float(np.mean(is_running & is_next & _sweeps(engine)))
    others = agents.make("tactician", engine.rules, seed)
    while (rows := np.flatnonzero(is_running & (engine.seat != own))).size:
        step(others.act(engine.observation[rows], engine.action_mask[rows]), rows)
    return sets_up, float(np.mean(is_running & _sweeps(engine)))


def _cards_left(engine: Engine) -> npt.NDArray[np.int64]:
    """Count the cards in hands and stock, (B,) int64; the number falls until the next game."""
    return engine.rules.deck_size - engine.state.next_card + engine.state.hand_size.sum(axis=1)


def _sweeps(engine: Engine) -> npt.NDArray[np.bool_]:
    """Test whether the seat to act sweeps, (B,) bool: it must, or where no sweep is forced, it can (R10, K3)."""
    is_forced = engine.rules.capture == "maximal" or engine.rules.forced_sweep
    out = np.empty(engine.num_games, np.bool_)
    _mark_sweepers(engine.compiled, handle(engine.state), is_forced, borrow_scratch(), out)
    return out


@kernel
def _mark_sweepers(
    compiled: np.ndarray, state: np.ndarray, is_forced: bool, scratch: np.ndarray, out: np.ndarray
) -> None:
    """Write for each game into `out`, (B,) bool, whether all legal cards sweep, or else one by a credited sweep."""
    for row in range(len(out)):
        game = state[row]
        ranks, plays = np.int64(game.table_ranks), game.legal_plays
        values = find_sweep_values(compiled[0], ranks, sum_of(compiled[0], ranks), scratch[0])
        if compiled[0].building:
            values = sweep_builds(values, ranks, np.int64(game.builds))
        sweepers = kinds_of_values(compiled[0], values) & plays
        if is_forced:
            out[row] = sweepers == plays != 0
        else:
            out[row] = sweepers != 0 and not is_void(compiled[0], game)
