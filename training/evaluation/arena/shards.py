"""Shards: one match of an arena over one chunk of deals."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cloudpickle
import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.engine import Engine
from krypenv.features import want_history
from krypenv.inputs.words import one_line, shown
from krypenv.rewards import all_points
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.lineups import Seating
from krypenv.training.evaluation.luck.control import Control
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.mixed_table import (
    by_side,
    check_agent,
    describe_error,
    play_table,
)

LONGEST = 300  # characters of the reason for a forfeit

# A string for `krypenv.agents.make_known`, a name and a maker, or an agent.
AgentSource = str | tuple[str, Callable[[Rules, int], Agent]] | Agent
_KINDS = "an agent is a string, a pair of a name and maker(rules, seed), or an object with act, name and rules"
Chunk = dict[str, Any]  # the results of a shard, as plain JSON values; see docs/arena.md


@dataclass(frozen=True)
class Shard:
    """All that determines the results of a match over a chunk of n deals."""

    match: int
    chunk: int
    first_deal: int
    deal_seeds: npt.NDArray[np.uint64]  # (n,)
    seatings: tuple[Seating, ...]
    agents: dict[int, AgentSource]  # by index, in order
    rules: Rules
    seed: int
    control: Control | None = None  # by which luck is measured

    @property
    def num_games(self) -> int:
        """The number of games in it."""
        return len(self.deal_seeds) * len(self.seatings)


def make_agent(source: AgentSource, rules: Rules, seed: int) -> Agent:
    """Return the agent of a source; an agent object is copied.

    Raises ValueError if it can't be made, or was made for other rules.
    """
    if isinstance(source, str):
        return agents.make_known(source, rules, seed)
    if not isinstance(source, (tuple, list)):
        try:
            return _copy_of(check_agent(source, rules))
        except ValueError as error:
            raise ValueError(f"{error}; {_KINDS}") from None
    if len(source) != 2 or not isinstance(source[0], str) or not callable(source[1]):
        raise ValueError(f"{_KINDS}, not {shown(source)}")
    name, maker = source
    try:
        agent = maker(rules, seed)
    except BaseException as error:
        if type(error) is KeyboardInterrupt:
            raise
        raise ValueError(f"{one_line(name)} can't be made: its maker {describe_error(error)}") from error
    return check_agent(agent, rules, one_line(name))


def name_of(source: AgentSource) -> str:
    """Return the name of a source's agent in the results."""
    if isinstance(source, str):
        return agents.format_spec(*agents.parse_spec(source)) if agents.is_own(source) else source
    return source[0] if isinstance(source, (tuple, list)) else source.name


def check_sendable(source: AgentSource) -> None:
    """Raise ValueError if a source can't be sent to another process."""
    try:
        cloudpickle.dumps(source)
    except Exception as error:
        raise ValueError(
            f"{one_line(name_of(source))} can't be sent to other processes: pickling it {describe_error(error)}"
        ) from None


def _copy_of(agent: Agent) -> Agent:
    """Return a copy of an agent as it was passed, so that no chunk of an arena depends on earlier chunks."""
    try:
        return copy.deepcopy(agent)
    except Exception as error:
        raise ValueError(
            f"{one_line(agent.name)} can't be copied for each chunk: copying it {describe_error(error)}"
        ) from None


def breaks_ties(rules: Rules) -> bool:
    """Return whether something decides between equal scores at the end (K6, F7)."""
    return rules.tie_break in ("spades", "finnish")


def forfeit_scores(rules: Rules, side: int) -> list[int]:
    """Return the scores of a game that a side forfeits, by side.

    If low scores win, that side gets all points and the others none; if high ones do, each of the others gets them. In
    a session that holds for each of its games.
    """
    points = all_points(rules) * max(1, rules.games)
    return [points * ((each == side) == (rules.goal == "low")) for each in range(rules.num_teams)]


def play_shard(shard: Shard) -> Chunk:
    """Play a shard with fresh agents, and return its results as plain JSON values.

    `scores` is (n, K, S) by deal, seating and side. A forfeited game has the scores of `forfeit_scores`. Under rules
    that break ties `tie_breaks`, (n, K, S), is what decides. With a control variate `luck`, (n, K, S), is each side's.
    """
    rules, sides = shard.rules, shard.rules.num_teams
    deals, seatings = len(shard.deal_seeds), np.array(shard.seatings)
    indices = np.array([*shard.agents])
    made = [make_agent(source, rules, _agent_seed(shard, index)) for index, source in shard.agents.items()]
    engine = Engine(rules, shard.num_games, np.repeat(shard.deal_seeds, len(seatings)), history=want_history(made))
    lineup = np.tile(np.searchsorted(indices, seatings), (deals, 1))
    meter = Meter(rules, shard.control) if shard.control else None
    played = play_table(engine, made, lineup, forfeits=True, meter=meter)

    scores, tie_breaks = by_side(played.scores, sides), played.tie_breaks[:, :sides].copy()
    forfeits = []
    for row, agent, side, reason in sorted(played.forfeits):
        scores[row] = forfeit_scores(rules, side)
        tie_breaks[row] = 0
        deal, seating = divmod(row, len(seatings))
        forfeits.append([shard.first_deal + deal, seating, int(indices[agent]), one_line(reason, LONGEST)])
    shape = deals, len(seatings), sides
    return {
        "match": shard.match,
        "chunk": shard.chunk,
        "first_deal": shard.first_deal,
        "seats": seatings.tolist(),
        "scores": scores.reshape(shape).tolist(),
        "forfeits": forfeits,
        "agents": indices.tolist(),
        "decisions": played.decisions.sum(axis=0).tolist(),
        "seconds": [round(each, 9) for each in played.seconds.tolist()],
        **({"tie_breaks": tie_breaks.reshape(shape).tolist()} if breaks_ties(rules) else {}),
        **({"luck": played.luck.reshape(shape).tolist()} if played.luck is not None else {}),
    }


def _agent_seed(shard: Shard, agent: int) -> int:
    return int(np.random.SeedSequence([shard.seed, shard.match, shard.chunk, agent]).generate_state(1)[0])
