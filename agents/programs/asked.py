"""Agents that are asked for whole moves: a program, a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from krypenv.agents.base import BaseAgent, IntArray, check_seed, name_of, options_of
from krypenv.envs.seen import seen_values
from krypenv.features import history_in
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.kernels.decision_checks import check_decisions
from krypenv.observation import history_columns
from krypenv.rules import Rules
from krypenv.runtime.threads import Lock, in_turn
from krypenv.worlds.determinize import check_genuine, determinize

MOST_PLANS = 100_000  # observations under which planned actions are kept


class Asked(BaseAgent):
    """Plays whole moves that something else answers, by their staged actions; a subclass has `ask`.

    Args:
        name: the name in the string of the agent.
        rules, seed, options: what the subclass is made from, and a copy too; `options` may hold more.
    """

    needs_history = True  # questions list the plays of the deal, where they are known

    def __init__(self, name: str, rules: Rules, seed: int, options: dict[str, Any]) -> None:
        made_by: Callable[..., Asked] = type(self)
        options = {key: options[key] for key in options_of(made_by)}
        self.name, self.rules, self.lock = name_of(name, made_by, options), rules, Lock()
        self._made = partial(made_by, rules, check_seed(seed), **options)
        self._plans: dict[bytes, list[int]] = {}  # the next actions of moves, by observation

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made, ()

    def ask(self, games: Sequence[Game], seen: np.ndarray) -> list[str]:
        """Ask for a legal move of the seat to act in each game, which shows it a row of `seen`, (M, N) int8, alone."""
        raise NotImplementedError

    @in_turn
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Choose the action of each row, (B,) int64; see `krypenv.agents.Agent`."""
        seen, masks = check_decisions(self.rules, observations, action_masks)
        check_genuine(self.rules, seen, masks)
        worlds = determinize(seen, 0, self.rules)  # of which questions hold only what is seen
        actions = np.array([self._planned(row) for row in seen])
        rows = np.flatnonzero(actions < 0).tolist()
        games = [Game.at_row(self.rules, worlds[row]) for row in rows]
        for row, game, move in zip(rows, games, self.ask(games, seen[rows]), strict=True):
            actions[row] = self._begin(game, move)
        return actions

    def _planned(self, seen: np.ndarray) -> int:
        """Take the next action of a move that was begun; -1 where none was."""
        key = seen[: self.rules.observation_size].tobytes()
        if key not in self._plans:
            return -1
        action = self._plans[key].pop(0)  # of plays with the same observation, any will do
        if not self._plans[key]:
            del self._plans[key]
        return action

    def _begin(self, game: Game, move: str) -> int:
        """Plan the actions of a legal move, and return the first."""
        game.push(move)
        actions = list(game.actions)
        game.pop()
        for action, next_action in pairwise(actions):
            game.act(action)
            self._plans.setdefault(game.observation().tobytes(), []).append(next_action)
        while len(self._plans) > MOST_PLANS:  # of games that were not played on, the oldest first
            del self._plans[next(iter(self._plans))]
        return actions[0]


def view_of(game: Game, seen: np.ndarray, listed: bool = True) -> dict[str, Any]:
    """Describe what the seat to act sees, as docs/programs.md says; `seen`, (N,) int8, may have the history block."""
    return seen_values(game, game.turn, seen, _plays_seen(game, seen), listed)


def _plays_seen(game: Game, seen: np.ndarray) -> list[tuple[int, Move]] | None:
    """List the plays of the deal with their seats, without sweeps; None for an observation without the history."""
    history, plays = history_in(game.rules, seen[None])[0], []
    if len(history) == 0:
        return None
    columns = history_columns(game.rules)
    for row in history[history.any(axis=1)]:
        play = {name: np.arange(part.stop - part.start).repeat(row[part]).tolist() for name, part in columns.items()}
        builds = tuple(play.get("builds", ()))
        move = Move.of_kinds(play["card"][0], play["takes"], 0, sum(play.get("build", ())), builds)
        plays.append(((game.turn + play["who"][0]) % game.rules.players, move))
    return plays
