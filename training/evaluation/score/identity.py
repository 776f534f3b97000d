"""The identity of a scored agent, whose digest decides half of its deals."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from krypenv.adapters import PolicyFunction
from krypenv.agents.programs.player import Program
from krypenv.training.evaluation.arena.arena import cards_of
from krypenv.training.evaluation.arena.shards import AgentSource, make_agent, name_of
from krypenv.training.evaluation.score.protocol import OfficialTable
from krypenv.training.evaluation.score.score_file import Identity


def identity_of(agent: AgentSource, tables: Sequence[OfficialTable]) -> Identity:
    """Determine the identity of an agent at some tables.

    It has the agent's name with all options, the version of krypenv, the SHA-256 of its weights, and that of its files:
    the source of a class from outside the package, the files in a program's command, or the file of a policy.
    """
    made = [make_agent(agent, table.rules, 0) for table in tables]
    cards = [card for table, agent_made in zip(tables, made, strict=True) for card in cards_of(agent, agent_made)]
    return Identity(
        name=name_of(agent, made[0]),
        weights_sha256=sorted({card["weights_sha256"] for card in cards}),
        files_sha256=_files_of(made[0]),
        version=metadata.version("krypenv"),
    )


def training_minutes(source: AgentSource, table: OfficialTable) -> float | None:
    """Sum the training times of an agent's models at a table, in minutes, by their cards; None without a model."""
    seconds = [float(card.get("seconds") or 0) for card in cards_of(source, make_agent(source, table.rules, 0))]
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
