"""A data set as arrays. Files are checked by their digests before they are parsed, and nothing in them is executed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from krypenv.inputs.files import read_file
from krypenv.inputs.words import did_you_mean, one_line, shown
from krypenv.rules import Rules
from krypenv.training.data.card import card_columns, read_card
from krypenv.training.data.columns import Column, arrow, as_arrays, schema_of

Arrays = dict[str, np.ndarray]  # by column


class DataSet:
    """The rows of a data set, read file by file; made by `load`.

    Attributes:
        card: the contents of `card.json`.
        rules: the rules of its games.
    """

    def __init__(self, folder: Path, card: dict[str, Any]) -> None:
        self.folder, self.card, self.rules = folder, card, Rules.parse(card["rules"])
        self._columns = card_columns(card)

    def __len__(self) -> int:
        """Count the rows."""
        return int(self.card["rows"])

    def arrays(self, *columns: str) -> Arrays:
        """Read all rows of some columns, by default of all.

        Observations and masks are (rows, size) int8. Texts and lists are objects, and a null number is nan. Raises
        ValueError for an unknown column, and for a file that is torn or was changed.
        """
        parts = list(self.batches(len(self), *columns))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def batches(self, size: int, *columns: str, seed: int | None = None) -> Iterator[Arrays]:
        """Yield the rows of some columns, by default of all, `size` at a time; the last batch of a file may be smaller.

        A seed shuffles the files, and the rows within each file. Errors are those of `arrays`.
        """
        if size < 1:
            raise ValueError(f"a batch has at least 1 row, not {shown(size)}")
        names, count = self._names(columns), len(self.card["files"])
        rng = None if seed is None else np.random.default_rng(seed)
        for number in range(count) if rng is None else rng.permutation(count).tolist():
            rows, length = as_arrays(self.read_file(number, names)), self.card["files"][number]["rows"]
            order = np.arange(length) if rng is None else rng.permutation(length)
            for begin in range(0, len(order), size):
                yield {name: array[order[begin : begin + size]] for name, array in rows.items()}

    def read_file(self, number: int, names: list[str]) -> Any:
        """Read some columns of a file as a table of pyarrow; raises ValueError as `arrays` does."""
        file = self.card["files"][number]
        table = read_rows(self.folder / file["name"], self._columns, file["sha256"], names)
        if table.num_rows != file["rows"]:
            raise ValueError(
                f"{self.folder / file['name']} has {table.num_rows} rows, and the card says {file['rows']}"
            )
        return table

    def _names(self, columns: tuple[str, ...]) -> list[str]:
        """Check the names of columns; by default, list all names."""
        names = [column.name for column in self._columns]
        for name in columns:
            if name not in names:
                known = one_line(", ".join(names), 400)
                raise ValueError(
                    f"there is no column {shown(name)}{did_you_mean(name, names)}; the columns are {known}"
                )
        return list(columns) or names


def load(folder: Path | str) -> DataSet:
    """Open the data set in a folder, and check all its files against its card.

    Raises ValueError with one sentence if there is no data set, a file is missing, torn, changed or not named by the
    card, or pyarrow is not installed; OSError for a file that can't be read.
    """
    arrow()
    data = DataSet(Path(folder), read_card(Path(folder)))
    stored, named = {path.name for path in data.folder.glob("*.parquet")}, {row["name"] for row in data.card["files"]}
    for name in sorted(stored ^ named):
        fault = "is not there; the command on the card makes it anew" if name in named else "is not named by the card"
        raise ValueError(f"{data.folder / name} {fault}")
    for number in range(len(named)):
        data.read_file(number, ["game"])
    return data


def read_rows(path: Path, columns: list[Column], sha256: str, names: list[str]) -> Any:
    """Read some columns of a file as a table of pyarrow.

    Raises ValueError with its name if it does not agree with its digest, or has other columns.
    """
    pa, data = arrow(), read_file(path)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError(f"{path} is torn or was changed; remove it, and the command on the card makes it anew")
    try:
        parquet = pa.parquet.ParquetFile(pa.BufferReader(data))
        if parquet.schema_arrow.equals(schema_of(columns)):
            return parquet.read(names, use_threads=False)
    except (pa.ArrowException, OSError, ValueError):
        pass
    raise ValueError(f"{path} is no file of this data set: it is not Parquet, or has other columns")
