"""The columns of a data set, and rows as the bytes of a Parquet file."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from krypenv.inputs.words import to_install
from krypenv.rules import Rules

COMPRESSION, PARQUET = "zstd", "2.6"


class Column(NamedTuple):
    """A column: its name, type and meaning. N is the size of an observation, and A that of a mask."""

    name: str
    type: str
    text: str
    option: str = ""  # the option that adds it


COLUMNS = (
    Column("game", "int64", "number of the game, from 0; where the rules have sessions, of the session"),
    Column("seed", "uint64", "seed of its deals: `Game(rules, seed=seed)`"),
    Column("ply", "int32", "number of the decision in the game, from 0"),
    Column("deal", "int16", "number of the deal, from 1"),
    Column("seat", "int8", "seat to act"),
    Column("agent", "string", "name of the agent in the seat"),
    Column("observation", "int8[N]", "what the seat sees, as the environments show it"),
    Column("mask", "int8[A]", "1 for each legal action"),
    Column("action", "int16", "action that the agent chose"),
    Column("move", "string", "whole move that the action belongs to, as records write it"),
    Column("score", "int32", "final score of the seat's side"),
    Column("margin", "double", "the return: final lead of the seat's side over the mean of the others, in points"),
    Column("text", "string", "what the seat sees, in words, with its legal moves; null within a move", "text"),
    Column("moves", "list string", "open moves, best first; null within a move", "values"),
    Column("margins", "list double", "expected margin of each of them, as `krypenv analyze` has it", "values"),
    Column("regret", "double", "expected margin of the best move less that of the one chosen", "values"),
    Column("luck", "double", "points of the deal's margin that the cards brought the seat's side", "luck"),
)


def arrow() -> ModuleType:
    """Import pyarrow; raises ValueError if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ValueError(f"data sets need pyarrow, which is not installed; {to_install('data')}") from None
    return pyarrow


def columns_of(rules: Rules, options: Collection[str] = ()) -> list[Column]:
    """List the columns of a data set with some options, with the sizes of its rules."""
    sizes = {"int8[N]": f"int8[{rules.observation_size}]", "int8[A]": f"int8[{rules.num_actions}]"}
    chosen = [column for column in COLUMNS if not column.option or column.option in options]
    return [column._replace(type=sizes.get(column.type, column.type)) for column in chosen]


def schema_of(columns: Sequence[Column]) -> Any:
    """Make the schema of the files. Only columns of an option may be null."""
    pa = arrow()
    return pa.schema([pa.field(column.name, _type_of(pa, column.type), bool(column.option)) for column in columns])


def _type_of(pa: ModuleType, name: str) -> Any:
    plain, _, size = name.rstrip("]").partition("[")
    if size:
        return pa.list_(pa.field("item", pa.type_for_alias(plain), False), int(size))
    if plain.startswith("list "):
        return pa.list_(pa.type_for_alias(plain.removeprefix("list ")))
    return pa.type_for_alias(plain)


def encode_rows(rows: Mapping[str, Sequence[Any]], columns: Sequence[Column]) -> bytes:
    """Encode rows, by column, as a Parquet file: the same bytes for the same rows."""
    pa, schema = arrow(), schema_of(columns)
    arrays = [
        pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(rows[field.name])), type=field.type)
        if pa.types.is_fixed_size_list(field.type)
        else pa.array(rows[field.name], field.type)
        for field in schema
    ]
    file = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), file, compression=COMPRESSION, version=PARQUET)
    return file.getvalue()


def as_arrays(table: Any) -> dict[str, np.ndarray]:
    """Convert a table to arrays by column: lists of fixed length as (rows, length), others and texts as objects."""
    arrays = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        size = getattr(column.type, "list_size", 0)
        arrays[name] = column.combine_chunks().flatten().to_numpy().reshape(-1, size) if size else column.to_numpy()
    return arrays
