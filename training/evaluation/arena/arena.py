"""The arena: every agent against every other over duplicate deals, with results in a folder that can be resumed."""

from __future__ import annotations

from itertools import chain
from typing import ClassVar

from pydantic import model_validator

from krypenv.inputs.words import shown
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.games import KIND, Games, Seating, Shard, games_of, matches, play_shard
from krypenv.training.evaluation.luck.meter import Control, control_for
from krypenv.training.evaluation.matches.deal_lists import deal_seeds, describe_list
from krypenv.training.evaluation.matches.players import facts_of, make_fresh_player
from krypenv.training.runs import Header, Progress, Task, open_run
from krypenv.training.settings import groups
from krypenv.training.settings.base import AnyAgent, File, option, output

MOST_CHUNKS = 200_000  # of all matches
LARGEST_CHUNK = 10_000  # deals whose games fit into memory in all seatings


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
        1000,
        "deals of each match, each played in all seatings",
        groups.LENGTH,
        decides=False,
        ge=1,
        le=groups.MOST_DEALS,
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
    def line(self) -> str:
        """The command line of these settings; empty if agents are Python objects."""
        return super().line if all(isinstance(agent, str) for agent in self.agents) else ""

    @property
    def matches(self) -> list[list[Seating]]:
        """The seatings of each match; see `krypenv.training.evaluation.arena.games`."""
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
    with open_run(settings.out, header, settings.executor) as run:
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


# ---------------------------------------------------------------------- the header


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
