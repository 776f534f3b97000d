"""Agents in a process of their own, so that pages are answered while they think."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krypenv.inputs.words import describe_error
from krypenv.runtime.workers import WORKERS, belong_to_parent, end_pool

if TYPE_CHECKING:
    from krypenv.advice.values import Values
    from krypenv.agents.base import Agent
    from krypenv.game.game import Game
    from krypenv.game.moves import Move
    from krypenv.rules import Rules

YIELDING = 5  # by how much agents yield to servers, which answer clicks
Spec = str  # an agent's name, as `krypenv.agents.make` reads it


class AgentFailed(Exception):
    """An agent can't play; the message continues its name."""


class Thinker:
    """One process in which all agents of a table think, one decision after another. A process that dies is replaced.

    Args:
        seed: from which each seat's agents get a seed of their own.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._pool: ProcessPoolExecutor | None = None

    async def prepare(self, rules: Rules, seats: Mapping[Spec, int], *, helps: bool = False) -> None:
        """Make agents and have each decide once, or value moves if it `helps`, which compiles.

        Each is made for one of its seats. Raises ValueError for one that can't sit here.
        """
        await self.work(_prepare, rules, dict(seats), self._seed, helps)

    async def decide(self, spec: Spec, seat: int, game: Game) -> str:
        """Return an agent's move, as records write it; raises AgentFailed with the reason if it has none."""
        return str(await self.work(_decide, spec, self._seed, seat, game))

    async def advise(self, spec: Spec, game: Game) -> Values | Move:
        """Return what an agent advises the seat to act, as `hint_of` does; raises AgentFailed if it can't."""
        hint: Values | Move = await self.work(_advise, spec, game)
        return hint

    def close(self) -> None:
        """End the process, whatever it does."""
        pool, self._pool = self._pool, None
        if pool:
            end_pool(pool)

    async def work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function of a module returns; raises what it raises, and AgentFailed if the process ended."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, WORKERS, initializer=_yield_to_the_server)
        pool = self._pool
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None
            raise AgentFailed("was ended from outside, or ended its process") from None


# ---------------------------------------------------------------------- in the process


def _yield_to_the_server() -> None:
    belong_to_parent()
    if hasattr(os, "nice"):
        os.nice(YIELDING)


def _prepare(rules: Rules, seats: dict[Spec, int], seed: int, helps: bool) -> None:
    """Have agents decide or value moves once; raises ValueError, with a sentence, for one that can't."""
    from krypenv.ui.ahead import warm

    for spec, seat in seats.items():
        agent = _agent(spec, rules, seed, seat)
        try:
            warm(agent, rules, helps=helps)
        except Exception as error:
            raise ValueError(f"{spec} {describe_error(error)}") from None


def _decide(spec: Spec, seed: int, seat: int, game: Game) -> str:
    """Return an agent's move; raises AgentFailed with the reason if it has none."""
    from krypenv.game.base_agent import move_of

    try:
        return str(move_of(_agent(spec, game.rules, seed, seat), game))
    except Exception as error:
        _agent.cache_clear()  # a program that has ended is started again, if it is asked again
        raise AgentFailed(describe_error(error)) from None


def _advise(spec: Spec, game: Game) -> Values | Move:
    """Return what an agent advises in a game; raises AgentFailed with the reason if it can't."""
    from krypenv.ui.table import hint_of

    try:
        return hint_of(game, spec)
    except Exception as error:
        raise AgentFailed(describe_error(error)) from None


@lru_cache(maxsize=64, typed=True)  # what a person typed is not what a record says
def _agent(spec: Spec, rules: Rules, seed: int, seat: int) -> Agent:
    from krypenv.ui.table import seated, seed_at

    return seated(spec, rules, seed_at(seed, seat))
