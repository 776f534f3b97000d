"""`krypenv data`: agents play, and every decision becomes a row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import krypenv
from krypenv.agents import label_of
from krypenv.rules import Rules
from krypenv.training.data.card import KIND, write_card
from krypenv.training.data.columns import Column, arrow, columns_of
from krypenv.training.data.croissant import write_croissant
from krypenv.training.data.reading import DataSet, load, read_rows
from krypenv.training.data.rows import Games, play_rows
from krypenv.training.evaluation.analysis.analysis import Judge
from krypenv.training.evaluation.arena.arena import MOST_MATCHES, Seating, seatings
from krypenv.training.evaluation.luck.game_luck import REDEALS
from krypenv.training.evaluation.luck.meter import control_of
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.players import facts_of, make_fresh_player
from krypenv.training.runs import Header, Progress, Task, open_run
from krypenv.training.settings.base import AgentName, File, option, output
from krypenv.training.settings.groups import AGENTS, LENGTH, MEASURED, Place, RulesOfAgents, seed_option

CHUNK = 100  # games in a file


class DataSettings(RulesOfAgents, Place):
    """The settings of `krypenv data`. Raises ValueError if one is out of bounds."""

    command: ClassVar[str] = "data"

    agent: AgentName = option(
        ...,
        "agent that plays, in every seat unless --against is given, as in champion or a model's folder",
        is_argument=True,
    )
    out: File = output(..., "folder of the data set; one that was begun in this folder is resumed", "DIR")
    against: tuple[AgentName, ...] = option(
        (), "agent on the other sides; the choices of several take turns, in all seatings", AGENTS
    )
    games: int = option(1000, "games to play", LENGTH, ge=1, le=10_000_000)
    seed: int = seed_option("seed of the deals and of the agents' random choices")
    values: bool = option(
        False, "add the expected margin of every open move, and the regret of the one chosen", MEASURED
    )
    analyst: AgentName | None = option(
        None, "agent that values the moves; implies --values [default: the one in the seat]", MEASURED
    )
    luck: bool = option(False, "add what the cards of each deal brought the seat's side", MEASURED)
    text: bool = option(False, "add what the seat sees in words, as language models read it", MEASURED)
    croissant: bool = output(False, "also write croissant.json, the metadata that data loaders read")

    @property
    def agents(self) -> tuple[str, ...]:
        """All agents, to whose numbers the seatings refer."""
        return self.agent, *self.against

    def game_rules(self) -> Rules:
        """Choose the rules: by default those of the first model among the agents."""
        return self.rules_for(self.agents)

    @property
    def columns(self) -> list[Column]:
        """The columns of the rows, by the options."""
        chosen = {"values": self.values or self.analyst, "luck": self.luck, "text": self.text}
        return columns_of(self.game_rules(), [name for name, is_chosen in chosen.items() if is_chosen])

    @property
    def seatings(self) -> tuple[Seating, ...]:
        """The seatings that the games cycle through: the agent on one side, an agent of `against` on each other side.

        Each agent of a table sits in every place, and after every other one, equally often. Raises ValueError for more
        than `MOST_MATCHES` tables.
        """
        sides, others = self.game_rules().num_teams, len(self.against)
        if not others:
            return ((0,) * sides,)
        if math.comb(others + sides - 2, sides - 1) > MOST_MATCHES:
            raise ValueError(f"{others} agents on {sides - 1} sides make more than {MOST_MATCHES:,} tables; name fewer")
        tables = combinations_with_replacement(range(1, others + 1), sides - 1)
        return tuple(seating for table in tables for seating in seatings((0, *table)))


def make_data(settings: DataSettings, progress: Progress = lambda done, games: None) -> DataSet:
    """Play the games that a folder lacks, write its card, and return the data set.

    The rows depend only on `agent`, `against`, `rules`, `games`, `seed`, `values`, `analyst`, `luck` and `text`. If the
    process is killed, each worker loses the games of at most one file. Raises ValueError with one sentence, and writes
    nothing, for agents that can't be made or value no moves, without pyarrow, and for a folder that holds another data
    set.
    """
    arrow()
    folder, header = settings.out, _header(settings)
    with open_run(folder, header, settings.executor) as run:
        columns = settings.columns
        tasks = list(_tasks(settings, header.identity, columns))
        digests = run.do_all(tasks, progress)
        files = []
        for task in tasks:
            digest = digests[task.key]
            rows = read_rows(folder / task.file, columns, digest, ["game"]).num_rows
            files.append({"name": task.file, "rows": rows, "sha256": digest})
        shared = ("rules", "seed", "games", "agents", "seatings", "analysts")
        card = {name: header.identity[name] for name in shared} | {
            "krypenv": krypenv.__version__,
            "command": settings.changed(workers=1, ray=False, ray_address=None, croissant=False).line,
            "rows": sum(file["rows"] for file in files),
            "luck": header.identity["control"],
            "columns": [column.describe() for column in columns],
            "files": files,
        }
        write_card(folder, card)
    data = load(folder)
    if settings.croissant:
        write_croissant(folder, data.card)
    return data


def _header(settings: DataSettings) -> Header:
    """Make the header of the journal; raises ValueError for agents that can't play or value moves."""
    rules, sources = settings.game_rules(), settings.agents
    agents = [facts_of(source, make_fresh_player(source, rules, settings.seed)) for source in sources]
    for agent in agents:
        agent["label"] = label_of(agent["name"], rules, agent["cheats"])
    has_values = settings.values or settings.analyst
    analysts = [str(Judge.of(rules, settings.analyst or source).agent) for source in sources] if has_values else []
    identity: dict[str, Any] = settings.identity() | {
        "against": [*settings.against], "rules": str(rules), "agents": agents,
        "seatings": [list(seating) for seating in settings.seatings], "analysts": analysts,
        "control": str(control_of(rules, REDEALS)) if settings.luck else None, "chunk": CHUNK,
    }  # fmt: skip
    return Header(KIND, identity, {"command": settings.line})


def _tasks(settings: DataSettings, identity: dict[str, Any], columns: Sequence[Column]) -> Iterator[Task]:
    """Yield the tasks, each of which writes a file of games."""
    seeds, names = deal_seeds(settings.seed, settings.games), tuple(agent["name"] for agent in identity["agents"])
    rules, seated = settings.game_rules(), settings.seatings
    for number, first in enumerate(range(0, settings.games, CHUNK)):
        games = Games(
            rules, first, seeds[first : first + CHUNK], settings.agents, names, seated,
            settings.seed, tuple(columns), tuple(identity["analysts"]),
        )  # fmt: skip
        count = len(games.seeds)
        name = f"games-{number:05d}.parquet"
        yield Task(f"{count} games from {first}", play_rows, {"games": games}, count, name)
