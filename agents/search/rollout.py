"""The rollout agent: flat Monte-Carlo over worlds, with the tactician at every seat."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from krypenv.agents.scripted import SHED_WEIGHT, best_action, list_bits
from krypenv.agents.search.horizon import expected_margin
from krypenv.agents.search.sampler import Sampler, name_of
from krypenv.agents.search.sampling import NO_ACTION, look_around, sample_world, world_seed
from krypenv.agents.search.search import best_of, has_choice
from krypenv.cards import NUM_ACTIONS
from krypenv.kernels.features import make_view
from krypenv.kernels.observation import SIZE, write_observation
from krypenv.kernels.play import act, random_below
from krypenv.kernels.scoring import margin_of
from krypenv.kernels.state import ACTIONS
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, parallel_kernel


@kernel
def play_out(
    tables: np.record,
    game: np.record,
    last_deal: int,
    looks_ahead: bool,
    seen: np.ndarray,
    legal: np.ndarray,
    view: np.record,
    scratch: np.record,
) -> None:
    """Play a game on with the tactician, or a random player, at every seat until a deal is over or the game is.

    Scratch: `seen` is (433,) int8, `legal` (105,) int64.
    """
    while not game.over and game.deal_number <= last_deal:
        count = list_bits(game.legal_plays, game.legal_takes, legal)
        action = legal[0]
        if count > 1:
            if looks_ahead:
                write_observation(tables, game, game.seat, seen)
                luck = np.int64(random_below(game, ACTIONS, 1 << 32))
                action = best_action(tables, seen, legal, count, True, SHED_WEIGHT, luck, view, scratch)
            else:
                action = legal[random_below(game, ACTIONS, count)]
        act(tables, game, action, scratch)


@kernel
def final_margin(tables: np.record, model: np.record, game: np.record, side: int) -> float:
    """Return the margin of a side where a deal has just ended, and of the next one at most the hands are dealt."""
    margin = margin_of(tables, game, side)
    return margin if game.over else margin + expected_margin(tables, model, game, game.deal_number - 1, side)


@kernel
def roll_out(
    tables: np.ndarray,
    model: np.ndarray,
    observations: np.ndarray,
    action_masks: np.ndarray,
    seeds: np.ndarray,
    first: int,
    worlds: int,
    deals: int,
    seen: np.ndarray,
    legal: np.ndarray,
    view: np.ndarray,
    space: np.ndarray,
    means: np.ndarray,
    out: np.ndarray,
    part: int,
    parts: int,
) -> None:
    """Write the action with the best mean margin of every `parts`-th row into `out`, (B,) int64.

    `means`, (B, 105) float64 or empty, gets the mean margin of each action, minus infinity for illegal ones.
    """
    rules, work = tables[0], space[part]
    values = work.totals
    for row in range(part, len(out), parts):
        if not has_choice(action_masks[row]):
            out[row] = np.argmax(action_masks[row])
            continue
        look_around(rules, observations[row], work)
        side = work.root.seat % rules.teams
        last_deal = work.root.deal_number + deals - 1
        for action in range(NUM_ACTIONS):
            if not action_masks[row, action]:
                values[action] = -np.inf
            elif first == 0:
                values[action] = 0.0
        for world in range(first, first + worlds):
            if not sample_world(rules, observations[row], world_seed(seeds[row], world), True, work):
                out[row] = NO_ACTION
                break
            for action in range(NUM_ACTIONS):
                if action_masks[row, action]:
                    work.ahead = work.stack[0]
                    act(rules, work.ahead, action, work.scratch)
                    play_out(rules, work.ahead, last_deal, True, seen[part], legal[part], view[part], work.scratch)
                    values[action] += final_margin(rules, model[0], work.ahead, side)
        else:
            out[row] = best_of(values, NUM_ACTIONS)
            if len(means) > 0:
                for action in range(NUM_ACTIONS):
                    means[row, action] = values[action] / (first + worlds)


@kernel
def roll_out_part(given: tuple[Any, ...], part: int, parts: int) -> None:
    """Do what `roll_out` does, given all its arguments but the last two."""
    roll_out(*given, part, parts)


@kernel
def try_roll_out_part(given: tuple[Any, ...], part: int, parts: int) -> bool:
    """Do what `roll_out_part` does; return whether it came to its end."""
    try:
        roll_out_part(given, part, parts)
    except Exception:
        return False
    return True


@parallel_kernel
def roll_out_parts(given: tuple[Any, ...], done: np.ndarray) -> None:
    """Do what `roll_out` does a thread a part; write which came to their ends into `done`, (parts,) bool."""
    for part in numba.prange(len(done)):
        done[part] = try_roll_out_part(given, part, len(done))


class Rollout(Sampler):
    """Plays the action with the best mean margin over worlds that the tactician plays on at every seat.

    The tactician is the one with `shed`. The first action alone is chosen by its value, the rest of the game is played
    out without search (flat Monte-Carlo).

    Args:
        worlds, ms, threads: as in `Sampler`; each action is tried once in each world.
        deals: deals that are played out, the one that is being played included; after them comes an expected value.
        value: what is expected after that: the next deal's first sweep (sweep), or nothing (margin).
    """

    _serial, _parallel = staticmethod(roll_out), staticmethod(roll_out_parts)

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        worlds: int = 30,
        deals: int = 1,
        value: str = "sweep",
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.name = name_of("rollout", self, locals())
        self._plan = (deals,)
        super().__init__(rules, seed, worlds, value, ms, threads)
        self._work = make_playout_work(self._threads)


def make_playout_work(threads: int) -> tuple[np.ndarray, ...]:
    """Return the scratch of `play_out` for some threads."""
    return np.zeros((threads, SIZE), np.int8), np.zeros((threads, NUM_ACTIONS), np.int64), make_view(threads)
