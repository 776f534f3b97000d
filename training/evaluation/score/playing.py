"""Playing for a score, a task for each chunk against each opponent; and checking one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import model_validator

from krypenv import agents
from krypenv.agents.own import is_own, typed
from krypenv.inputs.words import shown
from krypenv.training.evaluation.arena.shards import AgentSource, Shard, check_sendable, make_agent, name_of, play_shard
from krypenv.training.evaluation.luck.meter import DIGITS
from krypenv.training.evaluation.score.identity import digest_of, identity_of, training_minutes
from krypenv.training.evaluation.score.protocol import (
    CHUNK,
    DEALS,
    QUICK,
    TABLES,
    VERSION,
    OfficialTable,
    deals_of,
    table_of,
)
from krypenv.training.evaluation.score.score_file import FORMAT, Score, read_score, write_score
from krypenv.training.runs import Header, Progress, Task, open_run
from krypenv.training.settings.base import AnyAgent, File, check_number, option, output
from krypenv.training.settings.groups import INPUT, LARGEST_SEED, LENGTH, Place

ROUNDING = 0.01  # points of luck by which machines may differ
Chunk = dict[str, Any]  # what was played against an opponent in a chunk of deals; see `play_chunk`


class ScoreSettings(Place):
    """What to score, to check or to put on a page. Raises ValueError for what can't be scored.

    The agent is a string for `krypenv.agents.make`, a pair of a name and maker(rules, seed), or an agent.
    """

    command: ClassVar[str] = "score"

    agent: AnyAgent = option(
        None,
        "the agent to score: a name, a model's folder, module:Class, process(command='...') or sb3(path='...')",
        is_argument=True,
    )
    out: File | None = output(None, "play, and write the score to this file", "FILE")
    table: tuple[str, ...] = option(
        (), "official table to play; repeatable [default: all tables that the agent can play]", LENGTH
    )
    deals: int = DEALS  # a table; a multiple of CHUNK
    quick: bool = option(False, "play a quarter of the deals: minutes, and wider intervals", LENGTH)
    check: File | None = option(
        None, "verify a score file by replaying a random part of it", INPUT, metavar="FILE", decides=False
    )
    share: float = option(0.05, "fraction that --check replays", INPUT, decides=False, ge=0, le=1)
    seed: int = option(
        0, "seed that chooses the part that --check replays", INPUT, decides=False, ge=0, le=LARGEST_SEED
    )
    board: File | None = output(None, "write FOLDER/board.md from all score files there", "FOLDER")

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the number of deals, which `quick` decides."""
        return {"deals": QUICK if given.get("quick") else DEALS}

    @model_validator(mode="after")
    def _fits(self) -> ScoreSettings:
        if (self.check is not None) + (self.board is not None) + (self.out is not None) != 1:
            raise ValueError("give one of --out FILE to play, --check FILE to verify and --board FOLDER for a page")
        if self.out is not None and self.agent is None:
            raise ValueError("name the agent to score")
        if self.agent is not None and not isinstance(self.agent, str):
            _check_name(self.agent)
        if self.deals % CHUNK or not 0 < self.deals <= DEALS:
            raise ValueError(f"deals is a multiple of {CHUNK} up to {DEALS}, not {self.deals}")
        if len(set(self.table)) < len(self.table):
            raise ValueError(f"a table is named twice in {', '.join(self.table)}")
        return self

    @property
    def line(self) -> str:
        """The command line that makes these settings; empty for what only Python can ask for."""
        is_official = self.deals == (QUICK if self.quick else DEALS)
        return super().line if is_official and isinstance(self.agent, str | None) else ""

    def chosen(self) -> list[OfficialTable]:
        """Return the tables to play; raises ValueError for an agent that can't play one of them."""
        named = [table_of(name) for name in self.table]
        for table in named:
            _check_plays(self.agent, table)
        if named:
            return named
        found = [table for table in TABLES.values() if _plays(self.agent, table)]
        _check_plays(self.agent, (found or list(TABLES.values()))[0])  # raises what is wrong with it
        return found


def score_agent(settings: ScoreSettings, progress: Progress = lambda done, games: None) -> Score:
    """Play an agent at the official tables, write the file of its score, and return what it says.

    Killed, the same call resumes where it stopped, from the journal beside the file.
    Raises ValueError, and writes nothing, for an agent that can't play a table or be sent to the workers, and where the
    file is there already.
    """
    assert settings.out
    path = settings.out
    journal = journal_of(path)
    if path.exists() and not journal.exists():
        raise _there_already(path)
    tables = settings.chosen()
    executor = settings.executor
    if executor.sends:
        check_sendable(settings.agent)
    agent, about = identity_of(settings.agent, tables), {"command": settings.line}
    identity = {
        "protocol": VERSION, "agent": agent, "deals": settings.deals, "tables": [table.name for table in tables],
    }  # fmt: skip
    if path.exists():
        _check_same(path, identity)  # written just before a kill
    with open_run(journal, Header("score", identity, about), executor) as run:
        if not path.exists():
            tasks = [
                task for table in tables for task in tasks_of(settings.agent, table, settings.deals, digest_of(agent))
            ]
            done = run.do_all(tasks, progress)
            played = {table.name: _table_fields(settings, table, done) for table in tables}
            write_score(path, {"format": FORMAT, "protocol": VERSION, "agent": agent, **run.about, "tables": played})
    shutil.rmtree(journal)
    return read_score(path)


def _check_same(path: Path, identity: dict[str, Any]) -> None:
    """Raise ValueError unless a file is the score that is to be played."""
    score = read_score(path)
    if score.identity != identity["agent"] or list(score.tables) != identity["tables"]:
        raise _there_already(path)


def _there_already(path: Path) -> ValueError:
    return ValueError(f"{path} is there already, and a score is not overwritten; give another --out")


def journal_of(path: Path) -> Path:
    """Return the folder of the run that a score's file is made of, which goes once the file is there."""
    return path.with_name(path.name + ".part")


def check_score(
    path: Path,
    share: float = 0.05,
    seed: int = 0,
    agent: AgentSource | None = None,
    progress: Progress = lambda done, games: None,
) -> tuple[int, int]:
    """Replay a random part of a score file; return how many deals were replayed, and of how many.

    At least one chunk of each table is replayed. An agent of one's own is named again, for nothing that a file names is
    imported or started; one that was made in Python is passed again. Raises ValueError with the first deal that
    differs.
    """
    check_number("share", share, 0.0, 1.0)
    check_number("seed", seed, 0, LARGEST_SEED)
    score = read_score(path)
    player = _player_of(path, score, agent)
    random = np.random.default_rng(seed)
    chosen: list[tuple[str, Shard]] = []
    for name, table in score.tables.items():
        shards = [task.arguments["shard"] for task in tasks_of(player, TABLES[name], table.deals, score.digest)]
        count = max(1, round(share * len(shards)))
        chosen += [(name, shards[at]) for at in sorted(random.choice(len(shards), count, replace=False))]
    games, played = sum(shard.num_games for _, shard in chosen), 0
    forfeits = dict.fromkeys(score.tables, 0)
    progress(played, games)
    for name, shard in chosen:
        forfeits[name] += check_chunk(path, score, name, shard)
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


def check_chunk(path: Path, score: Score, name: str, shard: Shard) -> int:
    """Replay a chunk of a table of a score; return the games that the agent forfeits in it.

    Raises ValueError with the first deal that differs from the file.
    """
    chunk, opponent, number = play_chunk(shard), TABLES[name].opponents[shard.match], shard.chunk
    deals = slice(number * CHUNK, (number + 1) * CHUNK)
    points, luck = score.points[name][opponent][deals].tolist(), score.tables[name].luck[shard.match, deals].tolist()
    for deal, (own, there) in enumerate(zip(chunk["points"], points, strict=True)):
        at = f"{path} differs from a replay: table {name}, against {opponent}, deal {number * CHUNK + deal} has"
        if own != there:
            raise ValueError(f"{at} {there[0]} to {there[1]} points and not {own[0]} to {own[1]}")
        if abs(chunk["luck"][deal] - luck[deal]) > ROUNDING:
            raise ValueError(f"{at} {luck[deal]} points of luck and not {chunk['luck'][deal]}")
    forfeits: int = chunk["forfeits"]
    return forfeits


def _player_of(path: Path, score: Score, agent: AgentSource | None) -> AgentSource:
    """Return the agent to replay a score with, where one may be named; raises ValueError if it is not the score's."""
    if is_own(score.agent) and agent != score.agent:
        raise ValueError(
            f"{path} is of the agent {score.agent}; to have it imported or started, name it: "
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
    identity = identity_of(player, tables)
    if score.identity["weights_sha256"] != identity["weights_sha256"]:
        raise ValueError(f"{path} was made with other weights than {name_of(player)} has here")
    if not score.weights and identity["name"] != score.agent:
        raise ValueError(f"{path} is of the agent {score.agent}, not of {identity['name']}")
    for key, what in (
        ("version", "another version of krypenv"),
        ("files_sha256", "another file of its class or program"),
    ):
        if score.identity[key] != identity[key]:
            raise ValueError(f"{path} was made with {what}: {shown(score.identity[key])}, not {shown(identity[key])}")
    return player


def tasks_of(agent: AgentSource, table: OfficialTable, deals: int, digest: str) -> Iterator[Task]:
    """Yield what an agent with a digest plays at a table: for each opponent, chunk by chunk."""
    seeds = deals_of(deals, digest)
    number = list(TABLES).index(table.name)
    for first in range(0, deals, CHUNK):
        for at, opponent in enumerate(table.opponents):
            shard = Shard(
                at, first // CHUNK, first, seeds[first : first + CHUNK], table.seatings, {0: agent, 1: opponent},
                table.rules, number, table.control,
            )  # fmt: skip
            yield Task(_key(table, at, first), play_chunk, {"shard": shard}, shard.num_games)


def _key(table: OfficialTable, opponent: int, first: int) -> str:
    return f"{table.name}, opponent {opponent}, deals from {first}"


def play_chunk(shard: Shard) -> Chunk:
    """Play an agent, 0, against an opponent, 1, in a chunk of deals; return plain JSON values.

    `points` holds for each deal, over its seatings, the agent's points and those of all others. `luck` is the agent's
    mean luck over them, in points of margin.
    """
    played = play_shard(shard)
    own = np.array(played["seats"]) == 0  # (K, S)
    scores = np.array(played["scores"])  # (n, K, S)
    points = np.stack([(scores * own).sum(axis=(1, 2)), (scores * ~own).sum(axis=(1, 2))], axis=1)
    luck = (np.array(played["luck"]) * own).sum(axis=(1, 2)) / own.sum()
    return {
        "points": points.tolist(),
        "luck": luck.round(DIGITS).tolist(),
        "forfeits": sum(agent == 0 for _, _, agent, _ in played["forfeits"]),
        "decisions": played["decisions"][0],
        "seconds": played["seconds"][0],
    }


def _table_fields(settings: ScoreSettings, table: OfficialTable, done: dict[str, Chunk]) -> dict[str, Any]:
    deals = settings.deals
    chunks = {
        opponent: [done[_key(table, at, first)] for first in range(0, deals, CHUNK)]
        for at, opponent in enumerate(table.opponents)
    }
    every = [chunk for played in chunks.values() for chunk in played]
    total = {name: sum(chunk[name] for chunk in every) for name in ("seconds", "decisions", "forfeits")}
    return {
        "deals": deals,
        "milliseconds": round(1000 * total["seconds"] / max(1, total["decisions"]), 6),
        "forfeits": total["forfeits"],
        "training_minutes": training_minutes(settings.agent, table),
        "control": table.control.digest,
        "opponents": {
            name: [
                [*points, luck] for chunk in played for points, luck in zip(chunk["points"], chunk["luck"], strict=True)
            ]
            for name, played in chunks.items()
        },
    }


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


def _plays(agent: AgentSource, table: OfficialTable) -> bool:
    try:
        make_agent(agent, table.rules, 0)
    except ValueError:
        return False
    return True


def _check_plays(agent: AgentSource, table: OfficialTable) -> None:
    try:
        made = make_agent(agent, table.rules, 0)
    except ValueError as error:
        raise ValueError(f"{name_of(agent)} can't play table {table.name}: {error}") from None
    if getattr(made, "cheats", False):
        raise ValueError(f"{name_of(agent)} sees what is hidden; a score is for agents that don't")
