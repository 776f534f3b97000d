"""The arena: every agent against every other over duplicate deals, with results in a folder that can be resumed.

Its seatings are balanced over places and neighbours. It is played shard by shard, a match over a chunk of deals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import chain, combinations, combinations_with_replacement, permutations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import model_validator

from krypenv.agents import label_of
from krypenv.agents.programs.llm import Usage
from krypenv.inputs.words import one_line, shown
from krypenv.rewards import all_points
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.meter import Control, control_for
from krypenv.training.evaluation.matches.deal_lists import deal_seeds, describe_list
from krypenv.training.evaluation.matches.margins import FloatArray, IntArray
from krypenv.training.evaluation.matches.mixed_table import milliseconds, play_table
from krypenv.training.evaluation.matches.players import AgentLike, facts_of, make_fresh_player, seed_of
from krypenv.training.runs import Header, Progress, Task, open_run
from krypenv.training.runs.journal import read_journal
from krypenv.training.settings import groups
from krypenv.training.settings.base import AnyAgent, File, option, output

MOST_CHUNKS = 200_000  # of all matches
LARGEST_CHUNK = 10_000  # deals whose games fit into memory in all seatings
KIND = "arena"
MOST_MATCHES = 10_000
LONGEST = 300  # characters of the reason for a forfeit
MOST_FORFEITS = 10  # most forfeits listed in `Games`

Seating = tuple[int, ...]  # the index of the agent on each side
Chunk = dict[str, Any]  # the results of a shard, as plain JSON values; see docs/arena.md


class ArenaSettings(groups.RulesOfAgents, groups.Place):
    """All settings of an arena. Raises ValueError with one sentence for an arena that can't be played.

    Agents are strings for `krypenv.agents.make`, or agents.

    >>> ArenaSettings(agents=("greedy", "random"), out="runs/arena").matches
    [[(0, 1), (1, 0)]]
    """

    command: ClassVar[str] = "arena"

    agents: tuple[AnyAgent, ...] = option((), "agents and model folders", is_argument=True)
    out: File = output(..., "folder of the results; an arena in this folder is resumed", "DIR")
    first: int = option(
        0, "only play matches with one of the first N agents [default: all matches]", groups.AGENTS, ge=0, le=1000
    )
    cheaters: bool = option(False, "allow agents that see hidden cards", groups.AGENTS, decides=False)
    deals: int = option(  # an arena with more deals is the same arena
        1000, "deals of a match, each played in all seatings", groups.LENGTH, decides=False, ge=1, le=groups.MOST_DEALS
    )
    deals_from: str | int = option(
        "dev", "list or seed of the deals", groups.LENGTH, metavar=groups.DEALS_FROM, decides=False
    )  # a header has a description of the list
    seed: int = groups.seed_option("seed of the agents' random choices")
    luck: groups.Luck = groups.luck_option()
    chunk: int = option(100, "deals to play and write at a time", groups.LENGTH, ge=1, le=LARGEST_CHUNK)
    json_file: File | None = groups.json_output()

    @model_validator(mode="after")
    def _fits(self) -> ArenaSettings:
        if self.first > len(self.agents):
            raise ValueError(f"first is a number of the {len(self.agents)} agents, or 0, not {shown(self.first)}")
        if len(self.agents) < 2:
            raise ValueError(f"an arena needs at least two agents, not {len(self.agents)}")
        deal_seeds(self.deals_from, 1)
        chunks = -(-self.deals // self.chunk) * len(self.matches)
        if chunks > MOST_CHUNKS:
            raise ValueError(
                f"an arena has at most {MOST_CHUNKS:,} chunks over all its matches, not {chunks:,}; "
                "give a chunk more deals"
            )
        return self

    def game_rules(self) -> Rules:
        """Choose the rules: by default those of the first model among the agents."""
        return self.rules_for(self.agents)

    @property
    def matches(self) -> list[list[Seating]]:
        """The seatings of each match; see `krypenv.training.evaluation.arena.arena`."""
        all_matches = matches(len(self.agents), self.game_rules().num_teams)
        return [seatings for seatings in all_matches if not self.first or min(seatings[0]) < self.first]


def run_arena(settings: ArenaSettings, progress: Progress = lambda done, games: None) -> Games:
    """Play an arena, or resume the one in the same folder, and return all its games.

    No finished chunk is lost if the process is killed. The games, apart from their times, depend only on `agents`,
    `rules`, `deals`, `deals_from`, `seed`, `luck`, `chunk` and `first`. More deals extend an arena; with fewer
    deals, all existing games are kept and counted.

    Raises ValueError, and writes nothing, for agents that can't be made, play other rules, are named twice or cheat
    without `cheaters`, and for a folder that holds another arena or that another run is writing to.
    """
    header, control = _header(settings)
    with open_run(settings.out, header, settings.workers, settings.ray) as run:
        run.do_all(_tasks(settings, control), progress)
        return games_of(header, run.results)


def _tasks(settings: ArenaSettings, control: Control | None) -> list[Task]:
    """Make a task for each match in each chunk of deals; the last chunk may be smaller."""
    seeds, rules, matches = deal_seeds(settings.deals_from, settings.deals), settings.game_rules(), settings.matches
    tasks = []
    for chunk, first in enumerate(range(0, settings.deals, settings.chunk)):
        chunk_seeds = seeds[first : first + settings.chunk]
        for match, seatings in enumerate(matches):
            members = {index: settings.agents[index] for index in sorted(set(chain(*seatings)))}
            shard = Shard(match, chunk, first, chunk_seeds, tuple(seatings), members, rules, settings.seed, control)
            key = f"match {match}, {len(chunk_seeds)} deals from {first}"
            tasks.append(Task(key, play_shard, {"shard": shard}, shard.num_games))
    return tasks


def _header(settings: ArenaSettings) -> tuple[Header, Control | None]:
    """Make the header of the results and the control variate.

    Raises ValueError for agents that can't play in this arena.
    """
    rules = settings.game_rules()
    made = [make_fresh_player(source, rules, settings.seed) for source in settings.agents]
    agents = list(map(facts_of, settings.agents, made))
    names = [agent["name"] for agent in agents]
    for agent in agents:
        if names.count(agent["name"]) > 1:
            raise ValueError(f"{agent['name']} is named twice; an agent plays once in an arena")
        if agent["cheats"] and not settings.cheaters:
            raise ValueError(f"{agent['name']} sees what is hidden; --cheaters lets it play")
    control = control_for(settings.luck, made, rules)
    identity = settings.identity() | {
        "rules": str(rules),
        "agents": agents,
        "deals_list": describe_list(settings.deals_from),
        "luck": str(control) if control else None,
    }
    return Header(KIND, identity, {"deals": settings.deals, "command": settings.line}), control


# ---------------------------------------------------------------------- matches and their seatings


def matches(agents: int, sides: int) -> list[list[Seating]]:
    """List the seatings of each match among some agents; each deal of a match is played in all its seatings.

    Each choice of S different agents is a match; with fewer agents than sides, each choice of S with repetition that
    has at least two different agents. Raises ValueError for more than `MOST_MATCHES` matches.

    >>> matches(agents=3, sides=2)
    [[(0, 1), (1, 0)], [(0, 2), (2, 0)], [(1, 2), (2, 1)]]
    """
    if math.comb(agents if agents >= sides else agents + sides - 1, sides) > MOST_MATCHES:
        raise ValueError(f"{agents} agents on {sides} sides make more than {MOST_MATCHES:,} matches; enter fewer")
    choose = combinations if agents >= sides else combinations_with_replacement
    return [seatings(members) for members in choose(range(agents), sides) if len(set(members)) > 1]


def seatings(members: Seating) -> list[Seating]:
    """List seatings of S agents in which each agent sits in every place, and after every other agent, equally often.

    These are all rotations of `circular_orders` or, if there are fewer, all distinct arrangements. Neighbours matter,
    as a sweep costs the previous seat points (R9).
    """
    sides = len(members)
    design = [
        tuple(members[order[(place + turn) % sides]] for place in range(sides))
        for order in circular_orders(sides)
        for turn in range(sides)
    ]
    return min(sorted(set(permutations(members))), design, key=len)


def circular_orders(sides: int) -> list[Seating]:
    """List orders of 2 to 6 sides around a table in which each side follows each other side equally often.

    Up to 4 sides these are all orders. With 3 and 5, primes, order k steps around the table by k, and each side follows
    each other once. With 4 and 6 no set of orders does that (Bermond and Faber, 1976), and each side follows each other
    twice: Walecki's zigzag 0, 1, S-2, 2, S-3, ... modulo S-1, closed by one more side, in all shifts and directions.
    """
    if sides % 2:
        return [tuple(step * place % sides for place in range(sides)) for step in range(1, sides)]
    ring = sides - 1
    zigzag = [place // 2 + 1 if place % 2 else -(place // 2) for place in range(ring)]
    shifts = [(ring, *((turn + place) % ring for place in zigzag)) for turn in range(ring)]
    return sorted({order for shift in shifts for order in (shift, (shift[0], *shift[:0:-1]))})


# ---------------------------------------------------------------------- a shard


@dataclass(frozen=True)
class Shard:
    """All that determines the results of a match over a chunk of n deals."""

    match: int
    chunk: int
    first_deal: int
    deal_seeds: npt.NDArray[np.uint64]  # (n,)
    seatings: tuple[Seating, ...]
    agents: dict[int, AgentLike]  # by index, in order
    rules: Rules
    seed: int
    control: Control | None = None  # by which luck is measured

    @property
    def num_games(self) -> int:
        """The number of games in it."""
        return len(self.deal_seeds) * len(self.seatings)


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
    `decisions` and `seconds` are those of the agents, by index; `usage` too, where one is a language model.
    """
    rules, sides = shard.rules, shard.rules.num_teams
    deals, seatings = len(shard.deal_seeds), np.array(shard.seatings)
    indices = np.array([*shard.agents])
    made = [
        make_fresh_player(source, rules, seed_of(shard.seed, shard.match, shard.chunk, index))
        for index, source in shard.agents.items()
    ]
    lineup = np.tile(np.searchsorted(indices, seatings), (deals, 1))
    seeds = np.repeat(shard.deal_seeds, len(seatings))
    played = play_table(made, rules, seeds, lineup, forfeits=True, control=shard.control)

    scores, tie_breaks, forfeits = played.scores, played.tie_breaks, []
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
        "decisions": played.decisions.tolist(),
        "seconds": [round(duration, 9) for duration in played.seconds.tolist()],
        **({"tie_breaks": tie_breaks.reshape(shape).tolist()} if rules.tie_break in ("spades", "finnish") else {}),
        **({"luck": played.luck.reshape(shape).tolist()} if played.luck is not None else {}),
        **({"usage": list(map(asdict, played.usage))} if any(played.usage) else {}),
    }


# ---------------------------------------------------------------------- all games of an arena


@dataclass(frozen=True)
class Games:
    """G games of S sides each, played by A agents. Under rules with sessions (R15), games are sessions."""

    names: tuple[str, ...]  #: the agents' strings, A of them
    rules: Rules
    deal: IntArray  #: (G,) number of the deal
    agents: IntArray  #: (G, S) index of the agent on each side; two agents at least
    scores: FloatArray  #: (G, S) final score of each side, the sum over its seats; `Rules.goal` says which end wins
    forfeit: IntArray  #: (G,) index of the agent that forfeited the game, or -1
    milliseconds: FloatArray  #: (A,) mean processor time per decision; nan if not measured
    forfeits: tuple[str, ...]  #: a sentence for each of the first few forfeits
    tie_breaks: IntArray | None = None  #: (G, S) compared between equal scores, as `Engine.final_tie_breaks`
    luck: FloatArray | None = None  #: (G, S) luck of each side, in points of margin over the others, if measured
    usage: tuple[Usage, ...] = ()  #: of each agent, with tokens, seconds and legality; zero unless a language model


def load_games(folder: Path | str) -> Games:
    """Read the games in the folder of an arena, even of one that is running or was interrupted.

    Raises ValueError if there are none.
    """
    journal = read_journal(Path(folder), KIND)
    return games_of(journal.header, journal.results)


def games_of(header: Header, results: Mapping[str, Chunk]) -> Games:
    """Join all games, in the order of matches and deals; raises ValueError without games.

    Of a chunk that was played twice, the one with more deals counts.
    """
    by_length = sorted(results.values(), key=lambda chunk: len(chunk["scores"]))
    by_place = {(chunk["match"], chunk["first_deal"]): chunk for chunk in by_length}
    chunks = [by_place[place] for place in sorted(by_place)]
    if not chunks:
        raise ValueError("the arena has played no games yet")
    rules = Rules.parse(header.identity["rules"])
    names = tuple(label_of(agent["name"], rules, agent["cheats"]) for agent in header.identity["agents"])
    seconds, decisions = np.zeros(len(names)), np.zeros(len(names), np.int64)
    usage = [Usage() for _ in names]
    deals, agents, forfeit, sentences = [], [], [], []
    for chunk in chunks:
        seats, count, first = np.array(chunk["seats"]), len(chunk["scores"]), chunk["first_deal"]  # (K, S)
        deals.append(np.repeat(first + np.arange(count), len(seats)))
        agents.append(np.tile(seats, (count, 1)))
        at_fault = np.full((count, len(seats)), -1)
        for deal, seating, agent, reason in chunk["forfeits"]:
            at_fault[deal - first, seating] = agent
            table = ", ".join(names[member] for member in seats[seating])
            sentences.append(f"{names[agent]} {reason} (deal {deal}: {table})")
        forfeit.append(at_fault.ravel())
        playing = np.unique(seats)
        seconds[playing] += chunk["seconds"]
        decisions[playing] += chunk["decisions"]
        for agent, took in zip(playing, chunk.get("usage", ()), strict=False):
            usage[agent] += Usage(**took)

    def by_side(name: str, kind: type) -> Any:
        if name not in chunks[0]:
            return None
        return np.concatenate([np.array(chunk[name], kind).reshape(-1, rules.num_teams) for chunk in chunks])

    return Games(
        names, rules, np.concatenate(deals), np.concatenate(agents), by_side("scores", np.float64),
        np.concatenate(forfeit), milliseconds(seconds, decisions), tuple(sentences[:MOST_FORFEITS]),
        by_side("tie_breaks", np.int64), by_side("luck", np.float64), tuple(usage),
    )  # fmt: skip
