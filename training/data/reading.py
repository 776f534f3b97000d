"""A data set: its card, and its rows as arrays.

Files are checked by their digests before they are parsed, and nothing in them is executed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from krypenv import observation
from krypenv.inputs.files import read_file, read_json
from krypenv.inputs.schema import Line, a_list, a_map, a_record, check, matching, sentence_of, whole
from krypenv.inputs.words import did_you_mean, one_line, shown
from krypenv.rules import Rules
from krypenv.training.data.columns import arrow, as_arrays, columns_of, schema_of

Arrays = dict[str, np.ndarray]  # by column
CARD, KIND, FORMAT = "card.json", "data set", 1
_sha256 = matching("[0-9a-f]{64}", "a SHA-256")
_file_name = matching("games-[0-9]{5,}[.]parquet", "the name of a file")
_SCHEMA = a_record(
    {
        "kind": Literal["data set"],
        "format": Literal[1],
        "observation": Literal[observation.VERSION],
        "krypenv": Line,
        "command": Line,
        "rules": Line,
        "seed": whole(0, None),
        "games": whole(1),
        "agents": a_list(a_record({"name": Line, "cheats": bool, "weights_sha256": a_list(_sha256)}, more=False), 1),
        "analysts": a_list(Line),
        "luck": Line | None,
        "options": a_list(Literal["values", "luck", "text"]),
        "files": a_map(_file_name, _sha256, 1),
    },
    more=False,
)


class DataSet:
    """The rows of a data set, read file by file; made by `load`.

    Attributes:
        card: the contents of `card.json`.
        rules: the rules of its games.
        columns: its columns, with their types and meanings.
    """

    def __init__(self, folder: Path, card: dict[str, Any]) -> None:
        self.folder, self.card, self.rules = folder, card, Rules.parse(card["rules"])
        self.columns = columns_of(self.rules, card["options"])
        self._rows = sum(self._read(name, ["game"]).num_rows for name in card["files"])

    def __len__(self) -> int:
        """Count the rows."""
        return self._rows

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
        names = [column.name for column in self.columns]
        for name in columns:
            if name not in names:
                known = one_line(", ".join(names), 400)
                raise ValueError(
                    f"there is no column {shown(name)}{did_you_mean(name, names)}; the columns are {known}"
                )
        files = list(self.card["files"])
        rng = None if seed is None else np.random.default_rng(seed)
        for name in files if rng is None else rng.permutation(files).tolist():
            table = self._read(name, list(columns) or names)
            rows, length = as_arrays(table), table.num_rows
            order = np.arange(length) if rng is None else rng.permutation(length)
            for begin in range(0, length, size):
                yield {name: array[order[begin : begin + size]] for name, array in rows.items()}

    def _read(self, name: str, columns: list[str]) -> Any:
        """Read some columns of a file as a table of pyarrow.

        Raises ValueError with its name if it does not agree with its digest, or has other columns.
        """
        pa, path = arrow(), self.folder / name
        data = read_file(path)
        if hashlib.sha256(data).hexdigest() != self.card["files"][name]:
            raise ValueError(f"{path} is torn or was changed; remove it, and the command on the card makes it anew")
        try:
            parquet = pa.parquet.ParquetFile(pa.BufferReader(data))
            if parquet.schema_arrow.equals(schema_of(self.columns)):
                return parquet.read(columns, use_threads=False)
        except (pa.ArrowException, OSError, ValueError):
            pass
        raise ValueError(f"{path} is no file of this data set: it is not Parquet, or has other columns")


def load(folder: Path | str) -> DataSet:
    """Open the data set in a folder, and check all its files against its card.

    Raises ValueError with one sentence if there is no data set, its card is changed or of another version, a file is
    missing, torn, changed or not named by the card, or pyarrow is not installed; OSError for a file that can't be read.
    """
    folder = Path(folder)
    path = folder / CARD
    if not path.exists():
        raise ValueError(f"{folder} holds no whole data set: it has no {CARD}, which krypenv data writes at the end")
    card = read_json(path)
    try:
        check(_SCHEMA, card)
        Rules.parse(card["rules"])
    except ValueError as error:
        raise ValueError(f"{path} is no card of a data set: {sentence_of(error)}") from None
    stored, named = {path.name for path in folder.glob("*.parquet")}, set(card["files"])
    for name in sorted(stored ^ named):
        fault = "is not there; the command on the card makes it anew" if name in named else "is not named by the card"
        raise ValueError(f"{folder / name} {fault}")
    return DataSet(folder, dict(card))
