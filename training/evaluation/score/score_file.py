"""The file of a score: what was played, from which every figure follows, under a checksum."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.inputs.files import read_json, write_whole
from krypenv.inputs.schema import a_list, a_record, a_table, line, number, sentence_of, text, whole
from krypenv.inputs.words import shown
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, interval, margins_of_totals
from krypenv.training.evaluation.score.protocol import CHUNK, DEALS, TABLES, VERSION

FORMAT = 1
MOST_POINTS = 1_000_000  # on one side of a deal, over its seatings
_check_header = a_record(
    {
        "format": whole(FORMAT, FORMAT), "protocol": line,
        "agent": a_record({"name": line, "weights_sha256": a_list(line)}),
        "command": text, "machine": a_table(lambda value, place: None), "checksum": line,
        "tables": a_table(
            a_record(
                {
                    "deals": whole(1, DEALS), "milliseconds": number(0), "forfeits": whole(0),
                    "opponents": a_table(a_list(a_list(whole(-MOST_POINTS, MOST_POINTS), 2, 2), 1, DEALS)),
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
    margins: FloatArray  # (opponents, deals): points a game ahead of the opponent
    milliseconds: float  # a decision of the agent
    forfeits: int  # games that it forfeited

    @property
    def by_deal(self) -> FloatArray:
        """The mean margin over the panel in each deal, (deals,)."""
        mean: FloatArray = self.margins.mean(axis=0)
        return mean

    @property
    def interval(self) -> Interval:
        """The score, and its 95% interval over the deals."""
        return interval(self.by_deal)

    def against(self, opponent: int) -> Interval:
        """Return the margin against an opponent of the panel, and its 95% interval."""
        return interval(self.margins[opponent])


@dataclass(frozen=True)
class Score:
    """A score file."""

    agent: str
    weights: tuple[str, ...]  # SHA-256 of the weights that the agent plays with
    command: str
    machine: dict[str, Any]
    tables: dict[str, TableScore]
    points: dict[str, dict[str, npt.NDArray[np.int64]]]  # by table and opponent, (deals, 2): own and others' points


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
    for name, table in fields["tables"].items():
        if name not in TABLES:
            raise ValueError(f"tables.{name} is no table; they are {', '.join(TABLES)}")
        if tuple(table["opponents"]) != TABLES[name].opponents:
            raise ValueError(f"tables.{name}.opponents is not the panel of the protocol")
        if any(len(played) != table["deals"] for played in table["opponents"].values()) or table["deals"] % CHUNK:
            raise ValueError(f"tables.{name} is not whole")
        points[name] = {opponent: np.array(played, np.int64) for opponent, played in table["opponents"].items()}
    return Score(
        fields["agent"]["name"],
        tuple(fields["agent"]["weights_sha256"]),
        fields["command"],
        fields["machine"],
        {
            name: TableScore(
                name, table["deals"], np.array([margins_of(name, played) for played in points[name].values()]),
                table["milliseconds"], table["forfeits"],
            )
            for name, table in fields["tables"].items()
        },
        points,
    )  # fmt: skip


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
