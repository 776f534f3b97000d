"""Who was scored: what makes an agent what it is, and a digest of that, from which half of its deals follow."""

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
    """Return what makes an agent what it is at some tables.

    That is its name with all options, the SHA-256 of the weights that it plays with, that of the file of its class
    where it is not the package's, or of the files that a program's command names or a policy is loaded from, and
    the version of krypenv.
    """
    made = [make_agent(agent, table.rules, 0) for table in tables]
    cards = [card for table, its in zip(tables, made, strict=True) for card in cards_of(agent, its)]
    return Identity(
        name=name_of(agent, made[0]),
        weights_sha256=sorted({card["weights_sha256"] for card in cards}),
        files_sha256=_files_of(made[0]),
        version=metadata.version("krypenv"),
    )


def training_minutes(source: AgentSource, table: OfficialTable) -> float | None:
    """Return for how long the models of an agent at a table were trained, by their cards; None without a model."""
    seconds = [float(card.get("seconds") or 0) for card in cards_of(source, make_agent(source, table.rules, 0))]
    return round(sum(seconds) / 60, 1) if all(seconds) and seconds else None


def _files_of(made: Any) -> list[str]:
    """Return the SHA-256 of the file that an agent's class is written in, unless it is the package's.

    Of a program they are those of the files that its command names, of a saved policy its file.
    """
    if isinstance(made, (Program, PolicyFunction)) and made.files:
        return [hashlib.sha256(path.read_bytes()).hexdigest() for path in made.files]
    with contextlib.suppress(TypeError, OSError):
        path = inspect.getsourcefile(type(made))
        if path and not type(made).__module__.startswith("krypenv."):
            return [hashlib.sha256(Path(path).read_bytes()).hexdigest()]
    return []
