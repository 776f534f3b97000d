"""The arena: every agent against every other over duplicate deals, with results in a folder that can be resumed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import model_validator

from krypenv.agents import Agent, is_known, parse_spec
from krypenv.agents.neural.model_file import read_card
from krypenv.agents.own import is_own, refuse_import
from krypenv.inputs.words import command_line, shown
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.games import Games
from krypenv.training.evaluation.arena.lineups import Seating, matches
from krypenv.training.evaluation.arena.shards import AgentSource, Shard, check_sendable, make_agent, name_of, play_shard
from krypenv.training.evaluation.arena.stored_games import (
    KIND,
    chunks_of,
    control_in,
    control_of_run,
    games_of,
    num_games,
    plain_control,
    read_results,
)
from krypenv.training.evaluation.matches.deal_lists import deal_seeds, describe_list
from krypenv.training.runs import Header, Progress, Run, Task, open_run
from krypenv.training.settings.base import AnyAgent, File, option, output
from krypenv.training.settings.groups import (
    AGENTS,
    DEALS_FROM,
    LENGTH,
    MOST_DEALS,
    Luck,
    Place,
    RulesOfAgents,
    json_output,
    luck_option,
    seed_option,
)

MOST_AT_ONCE = 1_000_000  # games of a chunk
MOST_SHARDS = 200_000  # chunks of all matches
MANY_ENOUGH = 200  # deals before which `precision` ends no match


class ArenaSettings(RulesOfAgents, Place):
    """All settings of an arena. A new instance checks itself and raises ValueError with the reason.

    Agents are strings for `krypenv.agents.make`, pairs of a name and maker(rules, seed), or agents.

    >>> ArenaSettings(agents=("greedy", "random"), out="runs/arena", deals=50).num_games
    100
    """

    command: ClassVar[str] = "arena"

    agents: tuple[AnyAgent, ...] = option(
        (), "agents and model folders; none to resume the arena in DIR", is_argument=True
    )
    out: File = output(..., "folder of the results; an arena in this folder is resumed", "DIR")
    first: int = option(
        0, "only play matches with one of the first N agents [default: all matches]", AGENTS, ge=0, le=1000
    )
    pairs: bool = option(False, "with more than two sides: one agent against several copies of another", AGENTS)
    cheaters: bool = option(False, "allow agents that see hidden cards", AGENTS, decides=False)
    deals: int = option(  # more deals extend an arena, so that it is the same one
        1000, "deals of each match, each played in all seatings", LENGTH, decides=False, ge=1, le=MOST_DEALS
    )
    deals_from: str | int = option(
        "dev", "list or seed of the deals", LENGTH, metavar=DEALS_FROM, decides=False
    )  # a header has a description of the list
    seed: int = seed_option("seed of the agents' random choices")
    luck: Luck = luck_option()
    chunk: int = option(100, "deals to play and write at a time", LENGTH, ge=1, le=MOST_DEALS)
    precision: float | None = option(
        None,
        "end a match once its 95% intervals are at most ± POINTS [default: play all deals]",
        LENGTH,
        metavar="POINTS",
        decides=False,
        gt=0,
        le=1e6,
    )
    report: bool = output(False, "write a page of all figures, DIR/report.html")
    json_file: File | None = json_output()

    @model_validator(mode="after")
    def _fits(self) -> ArenaSettings:
        if self.first > len(self.agents):
            raise ValueError(f"first is a number of the {len(self.agents)} agents, or 0, not {shown(self.first)}")
        if len(self.agents) < 2:
            raise ValueError(f"an arena needs at least two agents, not {len(self.agents)}")
        if self.out.exists() and not self.out.is_dir():
            raise ValueError(f"{self.out} is a file; --out is a folder for the results")
        deal_seeds(self.deals_from, 1)
        self._check_size()
        return self

    def _check_size(self) -> None:
        """Raise ValueError for chunks that are too large or too many for memory."""
        matches, deals = self.matches, min(self.chunk, self.deals)
        seatings, chunks = max(map(len, matches), default=0), -(-self.deals // self.chunk) * len(matches)
        if deals * seatings > MOST_AT_ONCE:
            raise ValueError(
                f"a chunk is at most {MOST_AT_ONCE:,} games, which fit into memory, not {deals:,} deals in {seatings} "
                "seatings"
            )
        if chunks > MOST_SHARDS:
            raise ValueError(
                f"an arena has at most {MOST_SHARDS:,} chunks over all its matches, not {chunks:,}; "
                "give a chunk more deals"
            )

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return, where no agents are given, the settings of the arena in the folder."""
        return {} if given.get("agents") or not given.get("out") else _stored(given["out"], given)

    @classmethod
    def of_folder(cls, folder: Path | str, **changes: Any) -> ArenaSettings:
        """Return the settings of the arena in a folder, with some changed; raises ValueError if there is no arena."""
        return cls(**{**_stored(folder, changes), **changes, "out": folder})

    def game_rules(self) -> Rules:
        """Return the rules; by default those of the first model among the agents."""
        return self.rules_for(self.agents)

    @property
    def line(self) -> str:
        """The command line that makes these settings; empty where agents are objects, which only Python has."""
        return super().line if all(isinstance(each, str) for each in self.agents) else ""

    @property
    def matches(self) -> list[list[Seating]]:
        """The seatings of each match; see `krypenv.training.evaluation.arena.lineups`."""
        everyone = matches(len(self.agents), self.game_rules().num_teams, self.pairs)
        return [seatings for seatings in everyone if not self.first or min(seatings[0]) < self.first]

    @property
    def num_games(self) -> int:
        """The number of games (deals x seatings of all matches)."""
        return self.deals * sum(map(len, self.matches))


def run_arena(settings: ArenaSettings, progress: Progress = lambda done, games: None) -> Games:
    """Play an arena, or resume the one in the same folder, and return all its games.

    No finished chunk is lost if the process is killed. The games, apart from their times, depend only on `agents`,
    `rules`, `deals`, `deals_from`, `seed`, `luck`, `chunk`, `pairs`, `first` and `precision`. More deals than before
    extend an arena; with fewer deals, existing games stay and count.

    Raises ValueError, and writes nothing, for agents that can't be made, play other rules, are named twice or cheat
    without `cheaters`, and for a folder that holds another arena or that another run is writing to.
    """
    header, executor = make_header(settings), settings.executor
    if executor.sends:
        for source in settings.agents:
            check_sendable(source)
    with open_run(settings.out, header, executor) as run:
        played = num_games(run.results)
        progress(played, settings.num_games)
        for tasks in _rounds(settings, header, run):
            for done in run.do(tasks):
                played += done.size
                progress(played, settings.num_games)
        return games_of(header, run.results)


def _missing(settings: ArenaSettings, header: Header, run: Run) -> list[Task]:
    """Return the tasks of all chunks and matches that are not played yet; the last chunk may be smaller."""
    seeds, matches, size = deal_seeds(settings.deals_from, settings.deals), settings.matches, settings.chunk
    played, control, rules = chunks_of(run.results), control_in(header), settings.game_rules()
    found = []
    for chunk, first in enumerate(range(0, settings.deals, size)):
        its_seeds = seeds[first : first + size]
        for match, seatings in enumerate(matches):
            if (match, chunk) in played and len(played[match, chunk]["scores"]) >= len(its_seeds):
                continue
            members = {index: settings.agents[index] for index in sorted(set(chain(*seatings)))}
            shard = Shard(match, chunk, first, its_seeds, tuple(seatings), members, rules, settings.seed, control)
            key = f"match {match}, {len(its_seeds)} deals from {first}"
            found.append(Task(key, play_shard, {"shard": shard}, shard.num_games))
    return found


def _rounds(settings: ArenaSettings, header: Header, run: Run) -> Iterator[list[Task]]:
    """Yield rounds of tasks, until the intervals are narrow enough; all matches advance together.

    Without `precision` one round holds everything. With it, each chunk is a round, and a match ends for good once the
    intervals of all its pairs are narrow enough. This depends only on earlier chunks, so a resumed arena plays exactly
    what an uninterrupted one does.
    """
    missing = _missing(settings, header, run)
    if settings.precision is None:
        yield missing
        return
    from krypenv.training.evaluation.arena.payoffs import ranking_payoffs

    awake = dict(enumerate(settings.matches))
    for chunk in range(-(-settings.deals // settings.chunk)):
        shards = [(task, task.arguments["shard"]) for task in missing]
        yield [task for task, shard in shards if shard.chunk == chunk and shard.match in awake]
        if (chunk + 1) * settings.chunk >= MANY_ENOUGH:
            found = ranking_payoffs(games_of(header, run.results, chunk))
            wide = found.high - found.low > 2 * settings.precision
            awake = {
                match: seats for match, seats in awake.items() if wide[np.ix_(*2 * [sorted({*chain(*seats)})])].any()
            }
            if not awake:
                return


# ---------------------------------------------------------------------- the header


def make_header(settings: ArenaSettings) -> Header:
    """Return the header of the results; raises ValueError for agents that can't play in this arena."""
    rules = settings.game_rules()
    made = [make_agent(source, rules, settings.seed) for source in settings.agents]
    names = [
        agent.name if isinstance(source, str) and not is_own(source) else name_of(source)
        for agent, source in zip(made, settings.agents, strict=True)
    ]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is named twice; an agent plays once in an arena")
    cheats = [bool(getattr(agent, "cheats", False)) for agent in made]
    if any(cheats) and not settings.cheaters:
        raise ValueError(f"{names[cheats.index(True)]} sees what is hidden; --cheaters lets it play")
    control = control_of_run(settings.out, KIND, settings.luck, made, rules)
    identity = settings.identity() | {
        "rules": str(rules),
        "agents": [
            {"name": name, "cheats": cheat, "weights_sha256": weights_of(source, agent)}
            for name, cheat, source, agent in zip(names, cheats, settings.agents, made, strict=True)
        ],
        "deals_list": describe_list(settings.deals_from),
        "luck": plain_control(control),
    }
    about = {name: getattr(settings, name) for name in ("deals", "deals_from", "precision")}
    return Header(KIND, identity, {**about, "command": settings.line})


def _stored(folder: Path | str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the arena in a folder, apart from those given; raises ValueError if there is no arena."""
    header = read_results(Path(folder)).header
    if not given.get("agents"):
        _check_names(folder, header)
    identity = header.identity
    stored = {name: identity[name] for name in ("seed", "chunk", "pairs", "first")}
    stored |= {name: header.about[name] for name in ("deals", "deals_from", "precision")}
    stored["agents"] = tuple(agent["name"] for agent in identity["agents"])
    stored["cheaters"] = any(agent["cheats"] for agent in identity["agents"])
    if not {"rules", "players", "teams", "rule"} & given.keys():
        stored["rules"] = identity["rules"]
    return stored


def _check_names(folder: Path | str, header: Header) -> None:
    """Raise ValueError if an arena has agents that can't be made from the names in its results."""
    names = [agent["name"] for agent in header.identity["agents"]]
    for name in names:
        if is_own(name):
            again = command_line(["krypenv", "arena", *names, "--out", str(folder)])
            refuse_import(name, f"to resume the arena, name its agents again: {again}, with the options that it had")
        if not is_known(name):
            raise ValueError(
                f"{folder} has the agent {shown(name)}, an object passed from Python and not a known name; resume it "
                "there, with run_arena and the same settings"
            )


def weights_of(source: AgentSource, agent: Agent) -> list[str]:
    """Return the SHA-256 of the weights of the models that an agent uses or its string names."""
    return [card["weights_sha256"] for card in cards_of(source, agent)]


def cards_of(source: AgentSource, agent: Agent) -> list[dict[str, Any]]:
    """Return the contents of model.json of each model that an agent uses or its string names."""
    words = list(getattr(agent, "models", ()))
    if isinstance(source, str):
        words += [source] if os.path.isdir(source) else parse_spec(source)[1].values()
    cards = [Path(word) / "model.json" for word in words if isinstance(word, str)]
    return [read_card(card.parent) for card in cards if os.path.isfile(card)]  # an option may be no file's name
