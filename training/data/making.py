"""`krypenv data`: agents play, and every decision becomes a row."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, ClassVar

import krypenv
from krypenv.agents import label_of
from krypenv.agents.own import is_own, typed
from krypenv.rules import Rules
from krypenv.training.data.card import KIND, told, write_card
from krypenv.training.data.columns import arrow, columns_of
from krypenv.training.data.reading import DataSet, load, read_rows
from krypenv.training.data.rows import Games, play_rows
from krypenv.training.evaluation.analysis.analysis import choose_agent
from krypenv.training.evaluation.arena.arena import weights_of
from krypenv.training.evaluation.arena.lineups import MOST_MATCHES, Seating, seatings
from krypenv.training.evaluation.arena.shards import make_agent, name_of
from krypenv.training.evaluation.luck.of_game import control_of_game
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.runs import Header, Progress, Task, limits, open_run, panels
from krypenv.training.runs.options import Command, an_output, part, setting
from krypenv.training.runs.parts import GameRules, Place, a_seed, rules_of_agents

CHUNK = 100  # games in a file


@dataclass(frozen=True)
class DataSettings(Command):
    """The settings of `krypenv data`. Raises ValueError if one is out of bounds."""

    command: ClassVar[str] = "data"
    agent: str = setting(
        "",
        "agent that plays, in every seat unless --against is given, as in champion or a model's folder",
        is_argument=True,
        is_required=True,
    )
    game: GameRules = rules_of_agents()
    out: Path | str = an_output(
        Path(), "folder of the data set; one that was begun in this folder is resumed", "DIR", is_required=True
    )
    against: tuple[str, ...] = setting(
        (), "agent on the other sides; the choices of several take turns, in all seatings", panel=panels.AGENTS
    )
    games: int = setting(1000, "games to play", limits.DEMONSTRATIONS._replace(low=1), panels.LENGTH)
    seed: int = a_seed("seed of the deals and of the agents' random choices", limits.SEED)
    values: bool = setting(
        False, "add the expected margin of every open move, and the regret of the one chosen", panel=panels.MEASURED
    )
    analyst: str | None = setting(
        None, "agent that values the moves; implies --values [default: the one in the seat]", panel=panels.MEASURED
    )
    luck: bool = setting(False, "add what the cards of each deal brought the seat's side", panel=panels.MEASURED)
    place: Place = part(Place())

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "agent", typed(self.agent))
        object.__setattr__(self, "against", tuple(map(typed, self.against)))

    @property
    def agents(self) -> tuple[str, ...]:
        """All agents, of which the seatings have numbers."""
        return self.agent, *self.against

    @cached_property
    def rules(self) -> Rules:
        """The rules; by default those of the first model among the agents."""
        return self.game.of_agents(self.agents)

    @cached_property
    def seatings(self) -> tuple[Seating, ...]:
        """The seatings that the games go through in turn: the agent on one side, any of the others on each other one.

        Each agent of a table sits in every place, and after every other one, equally often. Raises ValueError for more
        tables than an arena has matches.
        """
        sides, others = self.rules.num_teams, len(self.against)
        if not others:
            return ((0,) * sides,)
        if math.comb(others + sides - 2, sides - 1) > MOST_MATCHES:
            raise ValueError(f"{others} agents on {sides - 1} sides make more than {MOST_MATCHES:,} tables; name fewer")
        tables = combinations_with_replacement(range(1, others + 1), sides - 1)
        return tuple(seating for table in tables for seating in seatings((0, *table)))


def make_data(settings: DataSettings, progress: Progress = lambda done, games: None) -> DataSet:
    """Play the games that a folder lacks, write its card, and return the data set.

    The rows depend only on `agent`, `against`, `rules`, `games`, `seed`, `values`, `analyst` and `luck`. If the process
    is killed, each worker loses the games of one file at most. Raises ValueError with one sentence, and writes nothing,
    for agents that can't be made or value no moves, without pyarrow, and for a folder that holds another data set.
    """
    arrow()
    folder, rules = Path(settings.out), settings.rules
    header = _header(settings)
    with open_run(folder, header, settings.place.executor) as run:
        tasks = list(_tasks(settings, header.identity))
        digests = run.do_all(tasks, progress)
        columns, files = columns_of(rules, bool(header.identity["analysts"]), settings.luck), []
        for task in tasks:
            digest = digests[task.key]
            rows = read_rows(folder / task.file, columns, digest, ["game"]).num_rows
            files.append({"name": task.file, "rows": rows, "sha256": digest})
        write_card(
            folder,
            {
                "krypenv": krypenv.__version__,
                "command": dataclasses.replace(settings, place=Place()).line,
                **{name: header.identity[name] for name in ("rules", "seed", "games")},
                "rows": sum(file["rows"] for file in files),
                **{name: header.identity[name] for name in ("agents", "seatings", "analysts")},
                "luck": header.identity["control"],
                "columns": told(columns),
                "files": files,
            },
        )
    return load(folder)


def _header(settings: DataSettings) -> Header:
    """Return the header of the journal; raises ValueError for agents that can't play or value moves."""
    rules = settings.rules
    made = [make_agent(source, rules, settings.seed) for source in settings.agents]
    agents = []
    for source, agent in zip(settings.agents, made, strict=True):
        name, cheats = name_of(source) if is_own(source) else agent.name, bool(getattr(agent, "cheats", False))
        label = label_of(name, rules, cheats)
        agents.append({"name": name, "label": label, "cheats": cheats, "weights_sha256": weights_of(source, agent)})
    analysts: list[str] = []
    if settings.values or settings.analyst:
        asked = [settings.analyst or source for source in settings.agents]
        analysts = [str(choose_agent(each, rules, None, False)[0]) for each in asked]
    identity: dict[str, Any] = settings.identity() | {
        "against": [*settings.against], "rules": str(rules), "agents": agents,
        "seatings": [list(each) for each in settings.seatings], "analysts": analysts,
        "control": str(control_of_game(rules)) if settings.luck else None, "chunk": CHUNK,
    }  # fmt: skip
    return Header(KIND, identity, {"command": settings.line})


def _tasks(settings: DataSettings, identity: dict[str, Any]) -> Iterator[Task]:
    """Yield the tasks: a file of games each."""
    seeds, names = deal_seeds(settings.seed, settings.games), tuple(each["name"] for each in identity["agents"])
    for number, first in enumerate(range(0, settings.games, CHUNK)):
        games = Games(
            settings.rules, first, seeds[first : first + CHUNK], settings.agents, names, settings.seatings,
            settings.seed, tuple(identity["analysts"]), settings.luck,
        )  # fmt: skip
        count = len(games.seeds)
        name = f"games-{number:05d}.parquet"
        yield Task(f"{count} games from {first}", play_rows, {"games": games}, count, name)
