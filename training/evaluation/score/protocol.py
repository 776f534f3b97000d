"""The protocol of the score: its tables, the panel of opponents at each, the deals, and the file of the results.

Half of the deals are common to all agents, so that two agents can be compared deal by deal. The other half follow from
the digest of the agent (`Identity`): an agent that trains on them gets others. So does an agent with a new comment in
its file, so drawing again can't be prevented.

A change of the protocol, or of code that changes the panel's play, makes scores incomparable and needs a new version.
`tests/training/test_score.py` holds the panel's play bit by bit.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from krypenv.agents.programs.llm import Usage
from krypenv.engine import row_seeds
from krypenv.inputs.files import read_json
from krypenv.inputs.schema import Line, sentence_of
from krypenv.inputs.words import shown
from krypenv.kernels.scoring import leads
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.meter import Control, control_of
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, interval

VERSION = "krypenv-score-1"
DEALS, QUICK = 400, 100  # deals a table, and with --quick
# Deals in a task: a killed run loses no more, and a check replays whole chunks. Common and own chunks alternate.
CHUNK = 50
FORMAT = 1  # of the file
MOST_POINTS = 1_000_000  # on one side of a deal, over its seatings
_LIST = 0x6B72_7970_7363_6F31  # the seed of the list of common deals

_TWO_SIDES = (
    "greedy",
    "tactician(shed=False)",
    "tactician(shed=True)",
    "rollout(worlds=10, deals=1, value='sweep')",
    "ismcts(worlds=50, explore=8.0, guided=True, value='sweep')",
    "search(worlds=20, plies=0, method='max_n', value='sweep')",
)
_RELATIVES = (*_TWO_SIDES[:2], *_TWO_SIDES[3:])
_MORE_SIDES = (*_TWO_SIDES[:5], "search(worlds=10, plies=2, method='max_n', value='sweep')")


@dataclass(frozen=True)
class OfficialTable:
    """An official table: rules, and a panel of opponents, each of which plays all other sides in turn."""

    name: str
    rules: Rules
    opponents: tuple[str, ...]

    @property
    def seatings(self) -> tuple[tuple[int, ...], ...]:
        """The seatings of each deal: the agent, 0, on each side in turn, and the opponent, 1, on all others."""
        sides = self.rules.num_teams
        return tuple(tuple(int(side != own) for side in range(sides)) for own in range(sides))

    @cached_property
    def control(self) -> Control:
        """The control variate that takes luck out of the margins."""
        return control_of(self.rules)


TABLES = {
    name: OfficialTable(name, Rules.parse(rules), panel)
    for name, rules, panel in (
        ("two", "krypkasino players=2", _TWO_SIDES),
        ("three", "krypkasino players=3", _MORE_SIDES),
        ("four", "krypkasino players=4", _MORE_SIDES),
        ("five", "krypkasino players=5", _MORE_SIDES),
        ("six", "krypkasino players=6", _MORE_SIDES),
        ("two-pairs", "krypkasino players=4 teams=2", _TWO_SIDES),
        ("two-trios", "krypkasino players=6 teams=2", _TWO_SIDES),
        ("three-pairs", "krypkasino players=6 teams=3", _MORE_SIDES),
        ("howto", "howto players=2", _TWO_SIDES),
        ("sweden", "kasino-sweden players=2", _RELATIVES),
        ("overspader", "overspader players=2", _RELATIVES),
        ("finland", "kasino-finland players=2", _RELATIVES),
        ("mulle", "mulle players=2", _RELATIVES),
        ("glimne", "mulle-glimne players=2", _RELATIVES),
        ("glimne-pairs", "mulle-glimne players=4 teams=2", _RELATIVES),
        # New tables come last, so that the random numbers of the others stay the same.
        ("laistokasino", "laistokasino players=2", _TWO_SIDES),
    )
}


def deals_of(count: int, digest: str) -> npt.NDArray[np.uint64]:
    """List the seeds of the first deals of an agent with a digest in hex, (count,) uint64; all tables share them.

    A longer list begins with the shorter one.
    """
    own = row_seeds(int(digest[:16], 16), count)
    seeds: npt.NDArray[np.uint64] = np.empty(count, np.uint64)
    common = are_common(count)
    seeds[common], seeds[~common] = row_seeds(_LIST, count)[: common.sum()], own[: (~common).sum()]
    return seeds


def are_common(count: int) -> npt.NDArray[np.bool_]:
    """Mark the deals that are common to all agents, (count,) bool; the others are an agent's own."""
    common: npt.NDArray[np.bool_] = np.arange(count) // CHUNK % 2 == 0
    return common


# ---------------------------------------------------------------------- the file

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
    def raw(self) -> FloatArray:
        """The points a game ahead of the opponent, luck included, (opponents, deals)."""
        (own, others, _), sides = self._played(), self._rules.num_teams
        margins: FloatArray = leads(self._rules, own / sides, others / (sides * (sides - 1)))
        return margins

    @cached_property
    def margins(self) -> FloatArray:
        """The margins with luck taken out, (opponents, deals)."""
        margins: FloatArray = self.raw - self._played()[2]
        return margins

    def _played(self) -> FloatArray:
        """Stack own points, those of all others, and luck, (3, opponents, deals)."""
        return np.array([*self.opponents.values()], np.float64).transpose(2, 0, 1)

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
