"""Playing for a score: chunk by chunk into a journal, so that a run that was stopped is resumed; and checking one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from krypenv import agents
from krypenv.agents.own import is_own, typed
from krypenv.inputs.words import shown
from krypenv.training.arena.arena import weights_of
from krypenv.training.arena.shards import AgentSource, Line, Shard, check_sendable, make_agent, name_of, play_shard
from krypenv.training.common import bounds
from krypenv.training.common.folders import writing_to
from krypenv.training.common.machine import machine
from krypenv.training.common.processes import pool_of
from krypenv.training.score.journal import Chunk, Key, append, journal_of, opened, read_journal
from krypenv.training.score.protocol import CHUNK, DEALS, TABLES, VERSION, Table, deals_of, table_of
from krypenv.training.score.results import FORMAT, Score, read_score, write_score

Progress = Callable[[int, int], None]  # games played, of how many


@dataclass(frozen=True)
class ScoreSettings:
    """Everything that determines a score. Raises ValueError for what can't be scored."""

    agent: AgentSource  # a string for `krypenv.agents.make`, a pair of a name and maker(rules, seed), or an agent
    out: Path
    tables: tuple[str, ...] = ()  # names of tables; none stands for all that the agent can play
    deals: int = DEALS  # a table; a multiple of CHUNK
    workers: int = 1  # processes; the score does not depend on them

    def __post_init__(self) -> None:
        if isinstance(self.agent, str):
            object.__setattr__(self, "agent", typed(self.agent))
        else:
            _check_name(self.agent)
        bounds.check("workers", self.workers, bounds.WORKERS)
        if self.deals % CHUNK or not 0 < self.deals <= DEALS:
            raise ValueError(f"deals is a multiple of {CHUNK} up to {DEALS}, not {self.deals}")
        if len(set(self.tables)) < len(self.tables):
            raise ValueError(f"a table is named twice in {', '.join(self.tables)}")

    def chosen(self) -> list[Table]:
        """Return the tables to play; raises ValueError for an agent that can't play one of them."""
        named = [table_of(name) for name in self.tables]
        for table in named:
            _check_plays(self.agent, table)
        if named:
            return named
        found = [table for table in TABLES.values() if _plays(self.agent, table)]
        _check_plays(self.agent, (found or list(TABLES.values()))[0])  # raises what is wrong with it
        return found


def play_score(settings: ScoreSettings, command: str = "", progress: Progress = lambda done, games: None) -> Score:
    """Play an agent at the official tables, write the file of its score, and return what it says.

    `command` is kept in the file. Killed, the same call resumes where it stopped, from the journal beside the file.
    Raises ValueError, and writes nothing, for an agent that can't play a table or be sent to the workers, and where the
    file is there already.
    """
    path = Path(settings.out)
    if path.exists():
        raise ValueError(f"{path} is there already, and a score is not overwritten; give another --out")
    tables = settings.chosen()
    if settings.workers > 1:
        check_sendable(settings.agent, pickle.dumps)
    header = {
        "protocol": VERSION, "agent": _described(settings.agent, tables), "deals": settings.deals,
        "tables": [table.name for table in tables],
    }  # fmt: skip
    shards = [shard for table in tables for shard in shards_of(settings.agent, table, settings.deals)]
    journal = journal_of(path)
    with writing_to(path.parent, path.name):
        done = read_journal(journal, header)
        left = {_key(shard): shard for shard in shards if _key(shard) not in done}
        games = sum(shard.num_games for shard in shards)
        played = games - sum(shard.num_games for shard in left.values())
        progress(played, games)
        with opened(journal, header, bool(done)) as file, pool_of(_play, settings.workers) as play:
            for key, chunk in play(left.values()):
                done[key] = chunk
                append(file, key, chunk)
                played += left[key].num_games
                progress(played, games)
        fields = {
            "format": FORMAT, "protocol": VERSION, "agent": header["agent"], "command": command, "machine": machine(),
            "tables": {table.name: _table_fields(table, done, settings.deals) for table in tables},
        }  # fmt: skip
        write_score(path, fields)
        journal.unlink()
    return read_score(path)


def check_score(
    path: Path,
    share: float = 0.05,
    seed: int = 0,
    agent: AgentSource = "",
    progress: Progress = lambda done, games: None,
) -> tuple[int, int]:
    """Replay a random part of a score file; return how many deals were replayed, and of how many.

    At least one chunk of each table is replayed. An agent of one's own is named again, for nothing that a file names is
    imported; one that was made in Python is passed again. Raises ValueError with the first deal that differs.
    """
    bounds.check("share", share, bounds.SHARE)
    bounds.check("seed", seed, bounds.SEED)
    score = read_score(path)
    player = _player_of(path, score, agent)
    random = np.random.default_rng(seed)
    chosen: list[Shard] = []
    for name, table in score.tables.items():
        shards = list(shards_of(player, TABLES[name], table.deals))
        count = max(1, round(share * len(shards)))
        chosen += [shards[at] for at in sorted(random.choice(len(shards), count, replace=False))]
    games, played = sum(shard.num_games for shard in chosen), 0
    forfeits = dict.fromkeys(score.tables, 0)
    progress(played, games)
    for shard in chosen:
        (name, opponent, number), chunk = _play(shard)
        points = score.points[name][TABLES[name].opponents[opponent]][number * CHUNK : (number + 1) * CHUNK]
        for deal, (own, there) in enumerate(zip(chunk.points, points.tolist(), strict=True)):
            if own != there:
                raise ValueError(
                    f"{path} differs from a replay: table {name}, against {TABLES[name].opponents[opponent]}, "
                    f"deal {number * CHUNK + deal} has {there[0]} to {there[1]} points and not {own[0]} to {own[1]}"
                )
        forfeits[name] += chunk.forfeits
        played += shard.num_games
        progress(played, games)
    total = sum(table.deals * len(TABLES[name].opponents) for name, table in score.tables.items())
    for name, found in forfeits.items():
        told = score.tables[name].forfeits
        if found > told or (found < told and CHUNK * len(chosen) == total):
            raise ValueError(
                f"{path} differs from a replay: table {name} has {told} forfeited games, and the replay {found}"
            )
    return CHUNK * len(chosen), total


def _player_of(path: Path, score: Score, agent: AgentSource) -> AgentSource:
    """Return the agent to replay a score with, where one may be named; raises ValueError if it is not the score's."""
    if is_own(score.agent) and agent != score.agent:
        raise ValueError(
            f"{path} is of the agent {score.agent}; to have it imported, name it: "
            f"krypenv score {score.agent!r} --check {path}"
        )
    if not agent and not agents.is_known(score.agent):
        raise ValueError(
            f"{path} is of the agent {shown(score.agent)}, which is neither in the package nor a folder here; "
            "pass it as check_score's agent"
        )
    player = (typed(agent) if isinstance(agent, str) else agent) if agent else score.agent
    tables = [TABLES[name] for name in score.tables]
    for table in tables:
        _check_plays(player, table)
    described = _described(player, tables)
    if list(score.weights) != described["weights_sha256"]:
        raise ValueError(f"{path} was made with other weights than {name_of(player)} has here")
    if not score.weights and described["name"] != score.agent:
        raise ValueError(f"{path} is of the agent {score.agent}, not of {described['name']}")
    return player


def shards_of(agent: AgentSource, table: Table, deals: int) -> Iterator[Shard]:
    """Yield what an agent plays at a table: for each opponent, chunk by chunk."""
    seeds = deals_of(deals)
    number = list(TABLES).index(table.name)
    for first in range(0, deals, CHUNK):
        for at, opponent in enumerate(table.opponents):
            yield Shard(
                at, first // CHUNK, first, seeds[first : first + CHUNK], table.seatings, {0: agent, 1: opponent},
                table.rules, number,
            )  # fmt: skip


def _key(shard: Shard) -> Key:
    return list(TABLES)[shard.seed], shard.match, shard.chunk


def _play(shard: Shard) -> tuple[Key, Chunk]:
    lines = play_shard(shard)
    return _key(shard), Chunk(
        points=[_points(line) for line in lines],
        forfeits=sum(agent == 0 for line in lines for _, agent, _ in line["forfeits"]),
        decisions=sum(line["decisions"][0] for line in lines),
        seconds=round(sum(line["seconds"][0] for line in lines), 9),
    )


def _points(line: Line) -> list[int]:
    """Return the points of a deal over its seatings: the agent's, and those of all others."""
    own = sum(scores[seats.index(0)] for scores, seats in zip(line["scores"], line["seats"], strict=True))
    return [own, sum(map(sum, line["scores"])) - own]


def _table_fields(table: Table, done: dict[Key, Chunk], deals: int) -> dict[str, Any]:
    chunks = {
        opponent: [done[table.name, at, number] for number in range(deals // CHUNK)]
        for at, opponent in enumerate(table.opponents)
    }
    every = [chunk for played in chunks.values() for chunk in played]
    seconds, decisions = sum(chunk.seconds for chunk in every), sum(chunk.decisions for chunk in every)
    return {
        "deals": deals,
        "milliseconds": round(1000 * seconds / max(1, decisions), 6),
        "forfeits": sum(chunk.forfeits for chunk in every),
        "opponents": {name: [points for chunk in played for points in chunk.points] for name, played in chunks.items()},
    }


def _described(agent: AgentSource, tables: Sequence[Table]) -> dict[str, Any]:
    made = make_agent(agent, tables[0].rules, 0)
    name = made.name if isinstance(agent, str) and not is_own(agent) else name_of(agent)
    weights = {each for table in tables for each in weights_of(agent, make_agent(agent, table.rules, 0))}
    return {"name": name, "weights_sha256": sorted(weights)}


def _check_name(agent: AgentSource) -> None:
    """Raise ValueError for an agent made in Python that has no name of its own."""
    name = agent[0] if isinstance(agent, (tuple, list)) and agent else getattr(agent, "name", None)
    if not isinstance(name, str) or not name or not name.isprintable():
        raise ValueError(
            "an agent is a string, a pair of a name and maker(rules, seed), or an object with act, name and rules, "
            f"not {shown(agent)}"
        )
    if agents.is_known(name) or is_own(name):
        raise ValueError(f"{shown(name)} names another agent, or a folder here; give the agent a name of its own")


def _plays(agent: AgentSource, table: Table) -> bool:
    try:
        make_agent(agent, table.rules, 0)
    except ValueError:
        return False
    return True


def _check_plays(agent: AgentSource, table: Table) -> None:
    try:
        made = make_agent(agent, table.rules, 0)
    except ValueError as error:
        raise ValueError(f"{name_of(agent)} can't play table {table.name}: {error}") from None
    if getattr(made, "cheats", False):
        raise ValueError(f"{name_of(agent)} sees what is hidden; a score is for agents that don't")
