"""Shards: one match of an arena over one chunk of deals."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.engine import Engine
from krypenv.features import want_history
from krypenv.inputs.words import one_line
from krypenv.rewards import all_points
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.lineups import Seating
from krypenv.training.evaluation.luck.control import Control
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.duplicate import AnyAgent, make_player
from krypenv.training.evaluation.matches.mixed_table import by_side, describe_error, play_table

LONGEST = 300  # characters of the reason for a forfeit

AgentSource = AnyAgent  # a string for `krypenv.agents.make_known`, an agent, or a function that is one
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
    """Make the agent of a source; an agent object is copied, so that no chunk depends on earlier ones.

    Raises ValueError if it can't be made, or was made for other rules.
    """
    if isinstance(source, str):
        return agents.make_known(source, rules, seed)
    agent = make_player(source, rules, seed)
    try:
        return copy.deepcopy(agent)
    except Exception as error:
        name = one_line(agent.name)
        raise ValueError(f"{name} can't be copied for each chunk: copying it {describe_error(error)}") from None


def name_of(source: AgentSource, agent: Agent) -> str:
    """Name an agent made from a source in full, with its options."""
    if isinstance(source, str) and agents.is_own(source):
        return agents.format_spec(*agents.parse_spec(source))
    return agent.name


def forfeit_scores(rules: Rules, side: int) -> list[int]:
    """Compute the scores of a game that a side forfeits, by side.

    If low scores win, that side gets all points and the others none; if high scores win, each other side gets all
    points. A session is scored as if all its games were forfeited.
    """
    points = all_points(rules) * max(1, rules.games)
    return [points * ((other == side) == (rules.goal == "low")) for other in range(rules.num_teams)]


def play_shard(shard: Shard) -> Chunk:
    """Play a shard with fresh agents, and return its results as plain JSON values.

    `scores` is (n, K, S) by deal, seating and side. A forfeited game has the scores of `forfeit_scores`. `tie_breaks`,
    (n, K, S), decide between equal scores under rules that break ties; `luck`, (n, K, S), needs a control variate.
    `decisions` and `seconds` are those of the agents, by index.
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
        "first_deal": shard.first_deal,
        "seats": seatings.tolist(),
        "scores": scores.reshape(shape).tolist(),
        "forfeits": forfeits,
        "decisions": played.decisions.sum(axis=0).tolist(),
        "seconds": [round(duration, 9) for duration in played.seconds.tolist()],
        **({"tie_breaks": tie_breaks.reshape(shape).tolist()} if rules.tie_break in ("spades", "finnish") else {}),
        **({"luck": played.luck.reshape(shape).tolist()} if played.luck is not None else {}),
    }


def _agent_seed(shard: Shard, agent: int) -> int:
    return int(np.random.SeedSequence([shard.seed, shard.match, shard.chunk, agent]).generate_state(1)[0])
