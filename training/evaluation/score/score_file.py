"""The file of a score: what was played, from which every figure follows, under a checksum."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import ttest_ind

from krypenv.inputs.files import read_json, write_whole
from krypenv.inputs.schema import a_list, a_record, a_table, line, number, optional, sentence_of, text, whole
from krypenv.inputs.words import shown
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, interval, margins_of_totals
from krypenv.training.evaluation.score.identity import check_identity, digest_of
from krypenv.training.evaluation.score.protocol import CHUNK, DEALS, TABLES, VERSION, are_common

FORMAT = 1
MOST_POINTS = 1_000_000  # on one side of a deal, over its seatings
ODD = 0.001  # a difference between common deals and own ones that is less likely than this is told
_check_header = a_record(
    {
        "format": whole(FORMAT, FORMAT), "protocol": line,
        "agent": check_identity,
        "command": text, "machine": a_table(lambda value, place: None), "checksum": line,
        "tables": a_table(
            a_record(
                {
                    "deals": whole(1, DEALS), "milliseconds": number(0), "forfeits": whole(0),
                    "training_minutes": optional(number(0)), "control": line,
                    "opponents": a_table(a_list(a_list(number(-MOST_POINTS, MOST_POINTS), 3, 3), 1, DEALS)),
                }
            )
        ),
    }
)  # fmt: skip


@dataclass(frozen=True)
class TableScore:
    """What an agent reached at a table."""

    table: str
    deals: int
    raw: FloatArray  # (opponents, deals): points a game ahead of the opponent, luck included
    luck: FloatArray  # (opponents, deals): how many of these points the cards brought
    milliseconds: float  # of processor time a decision of the agent
    forfeits: int  # games that it forfeited
    training_minutes: float | None = None  # of its models, where their cards tell it

    @property
    def margins(self) -> FloatArray:
        """The margins with luck taken out, (opponents, deals)."""
        return self.raw - self.luck

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
        """The same with luck left in."""
        return interval(self.raw.mean(axis=0))

    def against(self, opponent: int) -> Interval:
        """Return the margin against an opponent of the panel, and its 95% interval."""
        return interval(self.margins[opponent])

    @property
    def halves(self) -> tuple[FloatArray, FloatArray]:
        """The margins of the deals that are common to all agents, and those of the agent's own deals."""
        common = are_common(self.deals)
        return self.by_deal[common], self.by_deal[~common]

    @property
    def is_suspect(self) -> bool:
        """Whether the common deals went better or worse than the agent's own, by more than chance allows (`ODD`)."""
        common, own = self.halves
        if min(len(common), len(own)) < 2:
            return False
        return bool(ttest_ind(common, own, equal_var=False).pvalue < ODD)


@dataclass(frozen=True)
class Score:
    """A score file."""

    identity: dict[str, Any]  # what makes the agent what it is (`identity_of`)
    command: str
    machine: dict[str, Any]
    tables: dict[str, TableScore]
    points: dict[str, dict[str, npt.NDArray[np.int64]]]  # by table and opponent, (deals, 2): own and others' points

    @property
    def agent(self) -> str:
        """The agent's name."""
        name: str = self.identity["name"]
        return name

    @property
    def weights(self) -> tuple[str, ...]:
        """The SHA-256 of the weights that it plays with."""
        return tuple(self.identity["weights_sha256"])

    @property
    def digest(self) -> str:
        """The digest of the agent, from which its own deals follow."""
        return digest_of(self.identity)


def margins_of(table: str, points: npt.NDArray[np.int64]) -> FloatArray:
    """Return margins, (deals,), from points over all seatings of each deal, (deals, 2): the own ones, the others'."""
    return margins_of_totals(TABLES[table].rules, points[:, 0], points[:, 1])


def encode(fields: dict[str, Any]) -> bytes:
    """Return the bytes of a score file, with its checksum."""
    whole_file = {**fields, "checksum": _digest(fields)}
    return (json.dumps(whole_file, separators=(",", ":"), allow_nan=False) + "\n").encode()


def write_score(path: Path, fields: dict[str, Any]) -> None:
    """Write a score file, whole or not at all."""
    write_whole(path, encode(fields))


def read_score(path: Path) -> Score:
    """Return the score in a file; raises ValueError with the file's name where it is none, or was changed."""
    fields = read_json(path)
    try:
        return _parse(fields)
    except ValueError as error:
        raise ValueError(f"{path} is no score of this protocol: {sentence_of(error)}") from None


def _parse(fields: Any) -> Score:
    if isinstance(fields, dict) and fields.get("protocol", VERSION) != VERSION:
        raise ValueError(f"it is of protocol {shown(fields['protocol'])}, and this version of krypenv knows {VERSION}")
    _check_header(fields, "")
    if _digest({key: value for key, value in fields.items() if key != "checksum"}) != fields["checksum"]:
        raise ValueError("it was changed, for it does not agree with its checksum")
    if not fields["tables"]:
        raise ValueError("it has no table")
    points: dict[str, dict[str, npt.NDArray[np.int64]]] = {}
    luck: dict[str, FloatArray] = {}
    for name, table in fields["tables"].items():
        if name not in TABLES:
            raise ValueError(f"tables.{name} is no table; they are {', '.join(TABLES)}")
        if tuple(table["opponents"]) != TABLES[name].opponents:
            raise ValueError(f"tables.{name}.opponents is not the panel of the protocol")
        if any(len(played) != table["deals"] for played in table["opponents"].values()) or table["deals"] % CHUNK:
            raise ValueError(f"tables.{name} is not whole")
        if table["control"] != TABLES[name].control.digest:
            raise ValueError(
                f"tables.{name} has luck taken out by {shown(table['control'])}, and this version does it by "
                f"{shown(TABLES[name].control.digest)}"
            )
        played = {opponent: np.array(deals) for opponent, deals in table["opponents"].items()}
        if any((deals[:, :2] % 1).any() for deals in played.values()):
            raise ValueError(f"tables.{name}.opponents has points that are not whole")
        points[name] = {opponent: deals[:, :2].astype(np.int64) for opponent, deals in played.items()}
        luck[name] = np.array([deals[:, 2] for deals in played.values()], np.float64)
    return Score(
        fields["agent"],
        fields["command"],
        fields["machine"],
        {
            name: TableScore(
                name, table["deals"], np.array([margins_of(name, played) for played in points[name].values()]),
                luck[name], table["milliseconds"], table["forfeits"], table["training_minutes"],
            )
            for name, table in fields["tables"].items()
        },
        points,
    )  # fmt: skip


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
