"""The file of a score: the points of every deal, from which all figures follow, with a checksum."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from krypenv.agents.programs.llm import Usage
from krypenv.inputs.files import read_json
from krypenv.inputs.schema import Line, sentence_of
from krypenv.inputs.words import shown
from krypenv.kernels.scoring import leads
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, interval
from krypenv.training.evaluation.score.protocol import CHUNK, DEALS, TABLES, VERSION

FORMAT = 1
MOST_POINTS = 1_000_000  # on one side of a deal, over its seatings


Points = Annotated[int, Field(ge=-MOST_POINTS, le=MOST_POINTS)]
Luck = Annotated[float, Field(ge=-MOST_POINTS, le=MOST_POINTS)]
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Identity(BaseModel):
    """The identity of an agent: its name with all options, its weights, its files, and the version of krypenv."""

    model_config = _STRICT

    name: Line
    weights_sha256: list[Line]
    files_sha256: list[Line]
    version: Line

    @property
    def digest(self) -> str:
        """The SHA-256 of the identity, from which the agent's own deals follow."""
        return hashlib.sha256(json.dumps(self.model_dump(), sort_keys=True).encode()).hexdigest()


class TableScore(BaseModel):
    """An agent's results at a table."""

    model_config = _STRICT

    deals: int = Field(ge=1, le=DEALS)
    milliseconds: float = Field(ge=0)  # of processor time a decision of the agent
    forfeits: int = Field(ge=0)  # games that it forfeited
    training_minutes: float | None = Field(ge=0)  # of its models, if their cards have it
    control: Line  # the digest of the control variate
    opponents: dict[Line, list[tuple[Points, Points, Luck]]]  # by deal: own and others' points, own luck in margin
    usage: Usage | None = None  # of a language model
    _rules: Rules = PrivateAttr()

    @cached_property
    def _played(self) -> FloatArray:
        """The entries of `opponents`, (opponents, deals, 3)."""
        return np.array([*self.opponents.values()], np.float64)

    @cached_property
    def raw(self) -> FloatArray:
        """The points a game ahead of the opponent, luck included, (opponents, deals)."""
        sides = self._rules.num_teams
        margins: FloatArray = leads(
            self._rules, self._played[:, :, 0] / sides, self._played[:, :, 1] / (sides * (sides - 1))
        )
        return margins

    @property
    def margins(self) -> FloatArray:
        """The margins with luck taken out, (opponents, deals)."""
        margins: FloatArray = self.raw - self._played[:, :, 2]
        return margins

    @property
    def by_deal(self) -> FloatArray:
        """The mean margin over the panel in each deal, (deals,), with luck taken out."""
        mean: FloatArray = self.margins.mean(axis=0)
        return mean

    @property
    def interval(self) -> Interval:
        """The score, and its 95% interval over the deals."""
        return interval(self.by_deal)

    @property
    def raw_interval(self) -> Interval:
        """The score with luck left in, and its 95% interval."""
        return interval(self.raw.mean(axis=0))


class Score(BaseModel):
    """A score file."""

    model_config = _STRICT

    format: Literal[1]
    protocol: str
    identity: Identity = Field(alias="agent")
    command: str
    machine: dict[str, Any]
    tables: dict[Line, TableScore] = Field(min_length=1)
    checksum: str

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self.identity.name

    def model_post_init(self, context: Any) -> None:
        """Raise ValueError unless every table is complete and has the panel and control variate of this protocol."""
        for name, table in self.tables.items():
            if name not in TABLES:
                raise ValueError(f"tables.{name} is no table; they are {', '.join(TABLES)}")
            if tuple(table.opponents) != TABLES[name].opponents:
                raise ValueError(f"tables.{name}.opponents is not the panel of the protocol")
            if {len(played) for played in table.opponents.values()} != {table.deals} or table.deals % CHUNK:
                raise ValueError(f"tables.{name} is not whole")
            if table.control != (own := TABLES[name].control.digest):
                raise ValueError(
                    f"tables.{name} has luck taken out by {shown(table.control)}, and this version does it by {own!r}"
                )
            table._rules = TABLES[name].rules


def encode(fields: dict[str, Any]) -> bytes:
    """Encode the fields of a score file, with their checksum."""
    whole_file = {**fields, "checksum": _checksum(fields)}
    return (json.dumps(whole_file, separators=(",", ":"), allow_nan=False) + "\n").encode()


def read_score(path: Path) -> Score:
    """Read a score file; raises ValueError with the file's name if it is no score or was changed."""
    fields = read_json(path)
    try:
        if isinstance(fields, dict) and fields.get("protocol", VERSION) != VERSION:
            there = shown(fields["protocol"])
            raise ValueError(f"it is of protocol {there}, and this version of krypenv knows {VERSION}")
        score = Score.model_validate_json(json.dumps(fields))
        if score.checksum != _checksum({key: value for key, value in fields.items() if key != "checksum"}):
            raise ValueError("it was changed, for it does not agree with its checksum")
    except ValueError as error:
        raise ValueError(f"{path} is no score of this protocol: {sentence_of(error)}") from None
    return score


def _checksum(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
