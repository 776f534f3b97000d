"""Playing for a score, a task for each chunk against each opponent; checking one; and the identity of its agent."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import model_validator

from krypenv import agents
from krypenv.adapters import PolicyFunction
from krypenv.agents.own import is_own, typed
from krypenv.agents.programs.llm import Usage
from krypenv.agents.programs.player import Program
from krypenv.inputs.files import write_whole
from krypenv.inputs.words import did_you_mean, shown
from krypenv.training.evaluation.arena.arena import Shard, play_shard
from krypenv.training.evaluation.luck.meter import DIGITS
from krypenv.training.evaluation.matches.players import AgentLike, cards_of, make_fresh_player, name_of
from krypenv.training.evaluation.score import protocol
from krypenv.training.evaluation.score.protocol import Identity, OfficialTable, Score, read_score
from krypenv.training.runs import Header, Progress, Task, open_run
from krypenv.training.settings.base import AnyAgent, File, check_number, option, output
from krypenv.training.settings.groups import INPUT, LENGTH, Place

ROUNDING = 0.01  # points of luck by which machines may differ
_WHAT = {
    "name": "the agent", "weights_sha256": "the weights", "version": "krypenv",
    "files_sha256": "the files of a class or program",
}  # fmt: skip


class ScoreSettings(Place):
    """The settings of a score, its check or its page. Raises ValueError with one sentence for invalid ones.

    The agent is a string for `krypenv.agents.make`, or an agent.
    """

    command: ClassVar[str] = "score"

    agent: AnyAgent = option(
        None, "a name, a model's folder, module:Class, process(...), llm(...) or sb3(...)", is_argument=True
    )
    out: File | None = output(None, "play, and write the score to this file", "FILE")
    table: tuple[str, ...] = option((), "official table to play; repeatable [default: all that it can play]", LENGTH)
    deals: int = protocol.DEALS  # a table; a multiple of `CHUNK`
    quick: bool = option(False, "play a quarter of the deals: minutes, and wider intervals", LENGTH)
    check: File | None = option(
        None, "verify a score file by replaying a random part of it", INPUT, metavar="FILE", decides=False
    )
    share: float = option(0.05, "fraction that --check replays", INPUT, decides=False, ge=0, le=1)
    board: File | None = output(None, "write the leaderboard of all score files in it", "FOLDER")

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Choose the number of deals, which `quick` decides."""
        return {"deals": protocol.QUICK if given.get("quick") else protocol.DEALS}

    @model_validator(mode="after")
    def _fits(self) -> ScoreSettings:
        if (self.check is not None) + (self.board is not None) + (self.out is not None) != 1:
            raise ValueError("give one of --out FILE to play, --check FILE to verify and --board FOLDER for a page")
        if self.out is not None and self.agent is None:
            raise ValueError("name the agent to score")
        name = getattr(self.agent, "name", None)
        if not isinstance(self.agent, str | None) and not _is_new_name(name):
            raise ValueError(f"{shown(name)} is no name, or one of another agent; give the agent a name of its own")
        if self.deals % protocol.CHUNK or not 0 < self.deals <= protocol.DEALS:
            raise ValueError(f"deals is a multiple of {protocol.CHUNK} up to {protocol.DEALS}, not {self.deals}")
        if len(set(self.table)) < len(self.table):
            raise ValueError(f"a table is named twice in {', '.join(self.table)}")
        return self

    @property
    def line(self) -> str:
        """The command line of these settings; empty for settings that only Python can make."""
        is_official = self.deals == (protocol.QUICK if self.quick else protocol.DEALS)
        return super().line if is_official else ""

    def chosen(self) -> list[OfficialTable]:
        """Choose the tables to play; raises ValueError for an agent that can't play one of them."""
        for name in self.table:
            if name not in protocol.TABLES:
                near = did_you_mean(name, protocol.TABLES)
                raise ValueError(f"there is no table {shown(name)}{near}; they are {', '.join(protocol.TABLES)}")
        tables = [protocol.TABLES[name] for name in self.table or protocol.TABLES]
        refusals = [_refusal(self.agent, table) for table in tables]
        playable = [table for table, refusal in zip(tables, refusals, strict=True) if not refusal]
        if not playable or (self.table and len(playable) < len(tables)):
            raise ValueError(next(filter(None, refusals)))
        return playable


def score_agent(settings: ScoreSettings, progress: Progress = lambda done, games: None) -> Score:
    """Play an agent at the official tables, write the file of its score, and return the score.

    After a kill the same call resumes from the journal beside the file. Raises ValueError, and writes nothing, for an
    agent that can't play a table, and if the file exists.
    """
    assert settings.out
    path, tables = settings.out, settings.chosen()
    journal, agent = path.with_name(path.name + ".part"), identity_of(settings.agent, tables)
    if path.exists() and not (journal.exists() and read_score(path).identity == agent):  # of a run killed at its end
        raise ValueError(f"{path} is there already, and a score is not overwritten; give another --out")
    whose = {"protocol": protocol.VERSION, "agent": agent.model_dump()}
    identity = {**whose, "deals": settings.deals, "tables": [table.name for table in tables]}
    header = Header("score", identity, {"command": settings.line})
    with open_run(journal, header, settings.workers, settings.ray) as run:
        if not path.exists():  # written just before a kill
            tasks = {table: list(tasks_of(settings.agent, table, settings.deals, agent.digest)) for table in tables}
            done = run.do_all(list(chain(*tasks.values())), progress)
            played = {
                table.name: _table_fields(settings, table, [done[task.key] for task in table_tasks])
                for table, table_tasks in tasks.items()
            }
            fields = {"format": protocol.FORMAT, **whose, **run.about, "tables": played}
            write_whole(path, protocol.encode(fields))
    shutil.rmtree(journal)
    return read_score(path)


def check_score(
    path: Path,
    share: float = 0.05,
    agent: AgentLike | None = None,
    progress: Progress = lambda done, games: None,
) -> tuple[int, int]:
    """Replay a random part of a score file; return the number of deals replayed and of all deals.

    At least one chunk of each table is replayed. Pass an agent from outside the package, as a string or an object,
    since nothing that a file names is imported or started. Raises ValueError with the first deal that differs.
    """
    check_number("share", share, 0.0, 1.0)
    score = read_score(path)
    player = _player_of(path, score, typed(agent) if isinstance(agent, str) else agent)
    random = np.random.default_rng()  # nobody knows the part beforehand
    chosen: list[tuple[str, Task]] = []
    for name, table in score.tables.items():
        tasks = list(tasks_of(player, protocol.TABLES[name], table.deals, score.identity.digest))
        count = max(1, round(share * len(tasks)))
        chosen += [(name, tasks[at]) for at in sorted(random.choice(len(tasks), count, replace=False))]
    games, played, forfeits = sum(task.size for _, task in chosen), 0, dict.fromkeys(score.tables, 0)
    for name, task in chosen:
        forfeits[name] += check_chunk(path, score, name, task.arguments["shard"])
        if (replayed := forfeits[name]) > (recorded := score.tables[name].forfeits):
            raise ValueError(
                f"{path} differs from a replay: table {name} has {recorded} forfeited games, and the replay {replayed}"
            )
        played += task.size
        progress(played, games)
    return protocol.CHUNK * len(chosen), sum(table.deals * len(table.opponents) for table in score.tables.values())


def check_chunk(path: Path, score: Score, name: str, shard: Shard) -> int:
    """Replay a chunk of a table of a score; return the number of games that the agent forfeits in it.

    Raises ValueError with the first deal that differs from the file.
    """
    opponent, first = protocol.TABLES[name].opponents[shard.match], shard.first_deal
    chunk, entries = play_chunk(shard), score.tables[name].opponents[opponent][first : first + protocol.CHUNK]
    for deal, (played, recorded) in enumerate(zip(chunk["deals"], entries, strict=True), first):
        if played[:2] != [*recorded[:2]] or abs(played[2] - recorded[2]) > ROUNDING:
            found, wanted = (
                f"{own} to {others} points with {luck} of luck" for own, others, luck in (recorded, played)
            )
            where = f"table {name}, against {opponent}, deal {deal}"
            raise ValueError(f"{path} differs from a replay: {where} has {found} and not {wanted}")
    forfeits: int = chunk["forfeits"]
    return forfeits


def _player_of(path: Path, score: Score, agent: AgentLike | None) -> AgentLike:
    """Choose the agent to replay a score with; raises ValueError if it is not the score's, or may not be made."""
    player = agent or score.agent  # the latter is not trusted
    tables = [protocol.TABLES[name] for name in score.tables]
    if refusals := [*filter(None, (_refusal(player, table) for table in tables))]:
        raise ValueError(refusals[0])
    own = identity_of(player, tables).model_dump()
    for key, stored in score.identity.model_dump().items():
        if stored != own[key] and not (key == "name" and score.identity.weights_sha256):  # a model may have moved
            raise ValueError(f"{path} was made with {_WHAT[key]} {shown(stored)}, and here it is {shown(own[key])}")
    return player


def tasks_of(agent: AgentLike, table: OfficialTable, deals: int, digest: str) -> Iterator[Task]:
    """Yield the tasks of an agent with a digest at a table, one for each chunk and opponent."""
    seeds = protocol.deals_of(deals, digest)
    number = list(protocol.TABLES).index(table.name)
    for chunk, first in enumerate(range(0, deals, protocol.CHUNK)):
        chunk_seeds = seeds[first : first + protocol.CHUNK]
        for at, opponent in enumerate(table.opponents):
            players = {0: agent, 1: opponent}
            shard = Shard(at, chunk, first, chunk_seeds, table.seatings, players, table.rules, number, table.control)
            key = f"{table.name}, opponent {at}, deals from {first}"
            yield Task(key, play_chunk, {"shard": shard}, shard.num_games)


def play_chunk(shard: Shard) -> dict[str, Any]:
    """Play an agent, 0, against an opponent, 1, in a chunk of deals; return plain JSON values.

    `deals` holds for each deal, over its seatings, the agent's points, those of all others, and the agent's mean luck
    in points of margin.
    """
    played = play_shard(shard)
    own = np.array(played["seats"]) == 0  # (K, S)
    scores = np.array(played["scores"])  # (n, K, S)
    luck = (np.array(played["luck"]) * own).sum(axis=(1, 2)) / own.sum()
    points = (scores * own).sum(axis=(1, 2)), (scores * ~own).sum(axis=(1, 2))
    return {
        "deals": [list(deal) for deal in zip(*(part.tolist() for part in (*points, luck.round(DIGITS))), strict=True)],
        "forfeits": sum(agent == 0 for _, _, agent, _ in played["forfeits"]),
        "decisions": played["decisions"][0],
        "seconds": played["seconds"][0],
        **({"usage": played["usage"][0]} if "usage" in played else {}),
    }


def _table_fields(settings: ScoreSettings, table: OfficialTable, chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Make the fields of a table in the score file from the results of `tasks_of`."""
    seconds, decisions, forfeits = (
        sum(chunk[name] for chunk in chunks) for name in ("seconds", "decisions", "forfeits")
    )
    usage = sum((Usage(**chunk["usage"]) for chunk in chunks if "usage" in chunk), Usage())
    return {
        "deals": settings.deals,
        "milliseconds": round(1000 * seconds / max(1, decisions), 6),
        "forfeits": forfeits,
        "training_minutes": training_minutes(settings.agent, table),
        "control": table.control.digest,
        "opponents": {
            opponent: [deal for chunk in chunks[at :: len(table.opponents)] for deal in chunk["deals"]]
            for at, opponent in enumerate(table.opponents)
        },
        **({"usage": asdict(usage)} if usage else {}),
    }


def _is_new_name(name: Any) -> bool:
    return isinstance(name, str) and name.isprintable() and not (name == "" or agents.is_known(name) or is_own(name))


def _refusal(agent: AgentLike, table: OfficialTable) -> str:
    """Explain why an agent can't be scored at a table; an empty text if it can."""
    name = agent if isinstance(agent, str) else getattr(agent, "name", shown(agent))
    try:
        made = make_fresh_player(agent, table.rules, 0)
    except ValueError as error:
        return f"{name} can't play table {table.name}: {error}"
    return f"{name} sees what is hidden; a score is for agents that don't" if getattr(made, "cheats", False) else ""


# ---------------------------------------------------------------------- the identity of an agent


def identity_of(agent: AgentLike, tables: Sequence[OfficialTable]) -> Identity:
    """Determine the identity of an agent at some tables.

    It has the agent's name with all options, the version of krypenv, the SHA-256 of its weights, and that of its files:
    the source of a class from outside the package, the files in a program's command, or the file of a policy.
    """
    made = [make_fresh_player(agent, table.rules, 0) for table in tables]
    cards = [card for table, agent_made in zip(tables, made, strict=True) for card in cards_of(agent, agent_made)]
    return Identity(
        name=name_of(agent, made[0]),
        weights_sha256=sorted({card["weights_sha256"] for card in cards}),
        files_sha256=_files_of(made[0]),
        version=metadata.version("krypenv"),
    )


def training_minutes(source: AgentLike, table: OfficialTable) -> float | None:
    """Sum the training times of an agent's models at a table, in minutes, by their cards; None without a model."""
    seconds = [float(card.get("seconds") or 0) for card in cards_of(source, make_fresh_player(source, table.rules, 0))]
    return round(sum(seconds) / 60, 1) if all(seconds) and seconds else None


def _files_of(made: Any) -> list[str]:
    """List the SHA-256 of an agent's files: the source of its class, unless it is the package's.

    For a program they are the files in its command, for a saved policy its file.
    """
    if isinstance(made, (Program, PolicyFunction)) and made.files:
        return [hashlib.sha256(path.read_bytes()).hexdigest() for path in made.files]
    with contextlib.suppress(TypeError, OSError):
        path = inspect.getsourcefile(type(made))
        if path and not type(made).__module__.startswith("krypenv."):
            return [hashlib.sha256(Path(path).read_bytes()).hexdigest()]
    return []
