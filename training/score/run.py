"""Playing for a score: chunk by chunk into a journal, so that a run that was stopped is resumed; and checking one."""

from __future__ import annotations

import contextlib
import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from krypenv import agents
from krypenv.agents.own import is_own, typed
from krypenv.inputs.files import append_whole, naming, parse_json
from krypenv.inputs.words import shown
from krypenv.training.arena.arena import weights_of
from krypenv.training.arena.shards import AgentSource, Line, Shard, check_sendable, make_agent, name_of, play_shard
from krypenv.training.common import bounds
from krypenv.training.common.folders import writing_to
from krypenv.training.common.machine import machine
from krypenv.training.common.processes import pool_of
from krypenv.training.score.protocol import CHUNK, DEALS, TABLES, VERSION, Table, deals_of, table_of
from krypenv.training.score.results import FORMAT, Score, read_score, write_score

JOURNAL = ".part"  # after the name of the file: the chunks that were played so far
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
        if not found:
            _check_plays(self.agent, next(iter(TABLES.values())))  # raises what is wrong with it
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
    journal = path.with_name(path.name + JOURNAL)
    with writing_to(path.parent):
        done = _read_journal(journal, header)
        left = [shard for shard in shards if _key(shard) not in done]
        games, played = sum(shard.num_games for shard in shards), sum(shard.num_games for shard in shards)
        played -= sum(shard.num_games for shard in left)
        progress(played, games)
        with _opened(journal, header, bool(done)) as file, pool_of(_play, settings.workers) as play:
            for key, lines in play(left):
                done[key] = lines
                append_whole(file, (json.dumps([list(key), lines], separators=(",", ":")) + "\n").encode())
                played += sum(len(line["scores"]) for line in lines)
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
    score = read_score(path)
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
    described = _described(player, [TABLES[name] for name in score.tables])
    if list(score.weights) != described["weights_sha256"]:
        raise ValueError(f"{path} was made with other weights than {score.agent} has here")
    random = np.random.default_rng(seed)
    chosen: list[Shard] = []
    for name, table in score.tables.items():
        shards = list(shards_of(player, TABLES[name], table.deals))
        count = max(1, round(share * len(shards)))
        chosen += [shards[at] for at in sorted(random.choice(len(shards), count, replace=False))]
    games, played = sum(shard.num_games for shard in chosen), 0
    progress(played, games)
    for shard in chosen:
        (name, opponent, chunk), lines = _play(shard)
        points = score.points[name][TABLES[name].opponents[opponent]][chunk * CHUNK : (chunk + 1) * CHUNK]
        for deal, (line, there) in enumerate(zip(lines, points.tolist(), strict=True)):
            if _points(line) != there:
                raise ValueError(
                    f"{path} differs from a replay: table {name}, against {TABLES[name].opponents[opponent]}, "
                    f"deal {chunk * CHUNK + deal} has {there[0]} to {there[1]} points and not "
                    f"{_points(line)[0]} to {_points(line)[1]}"
                )
        played += shard.num_games
        progress(played, games)
    total = sum(table.deals * len(TABLES[name].opponents) for name, table in score.tables.items())
    return CHUNK * len(chosen), total


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


Key = tuple[str, int, int]  # table, opponent, chunk


def _key(shard: Shard) -> Key:
    return list(TABLES)[shard.seed], shard.match, shard.chunk


def _play(shard: Shard) -> tuple[Key, list[Line]]:
    kept = ("scores", "forfeits", "decisions", "seconds", "seats")
    return _key(shard), [{name: line[name] for name in kept} for line in play_shard(shard)]


def _points(line: Line) -> list[int]:
    """Return the points of a deal over its seatings: the agent's, and those of all others."""
    own = sum(scores[seats.index(0)] for scores, seats in zip(line["scores"], line["seats"], strict=True))
    return [own, sum(map(sum, line["scores"])) - own]


def _table_fields(table: Table, done: dict[Key, list[Line]], deals: int) -> dict[str, Any]:
    chunks = range(deals // CHUNK)
    lines = {
        opponent: [line for chunk in chunks for line in done[table.name, at, chunk]]
        for at, opponent in enumerate(table.opponents)
    }
    every = [line for played in lines.values() for line in played]
    seconds, decisions = sum(line["seconds"][0] for line in every), sum(line["decisions"][0] for line in every)
    return {
        "deals": deals,
        "milliseconds": round(1000 * seconds / max(1, decisions), 6),
        "forfeits": sum(agent == 0 for line in every for _, agent, _ in line["forfeits"]),
        "opponents": {opponent: [_points(line) for line in played] for opponent, played in lines.items()},
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


# ---------------------------------------------------------------------- the journal


def _read_journal(path: Path, header: dict[str, Any]) -> dict[Key, list[Line]]:
    """Return the chunks of a journal by their keys, without a last line that was cut off."""
    if not path.exists():
        return {}
    with naming(path):
        lines = path.read_bytes().split(b"\n")[:-1]
    try:
        there, *rest = [parse_json(line) for line in lines]
        same = there == header
        done = {(name, int(opponent), int(chunk)): played for (name, opponent, chunk), played in rest}
    except (ValueError, TypeError):
        raise ValueError(f"{path} is torn or of another version; remove it to begin anew") from None
    if not same:
        raise ValueError(f"{path} is of another run; remove it to begin anew, or give another --out")
    return done


@contextlib.contextmanager
def _opened(path: Path, header: dict[str, Any], resumed: bool) -> Iterator[Any]:
    with naming(path), path.open("ab" if resumed else "wb", buffering=0) as file:
        if resumed:
            size = path.read_bytes().rfind(b"\n") + 1
            file.truncate(size)
        else:
            append_whole(file, (json.dumps(header, separators=(",", ":")) + "\n").encode())
        yield file
