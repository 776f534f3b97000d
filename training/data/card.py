"""The card of a data set: its rules, agents, seed, version and command, its columns, and the digests of its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from krypenv import observation
from krypenv.inputs.files import read_json, write_whole
from krypenv.inputs.schema import Line, a_list, a_record, check, matching, sentence_of, whole
from krypenv.inputs.words import shown
from krypenv.rules import Rules
from krypenv.training.data.columns import COLUMNS, Column, columns_of

CARD, KIND, FORMAT = "card.json", "data set", 1
_sha256 = matching("[0-9a-f]{64}", "a SHA-256")
_file_name = matching("games-[0-9]{5,}[.]parquet", "the name of a file")
_SCHEMA = a_record(
    {
        "kind": str,
        "format": whole(1),
        "observation": whole(1),
        "krypenv": Line,
        "command": Line,
        "rules": Line,
        "seed": whole(0, None),
        "games": whole(1),
        "rows": whole(1),
        "agents": a_list(
            a_record({"name": Line, "label": Line, "cheats": bool, "weights_sha256": a_list(_sha256)}, more=False), 1
        ),
        "seatings": a_list(a_list(whole(0)), 1),
        "analysts": a_list(Line),
        "luck": Line | None,
        "columns": a_list(a_record({"name": Line, "type": Line, "text": Line}, more=False), 1),
        "files": a_list(a_record({"name": _file_name, "rows": whole(1), "sha256": _sha256}, more=False), 1),
    },
    more=False,
)


def write_card(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the card of a data set: its facts, with the kind and the versions."""
    card = {"kind": KIND, "format": FORMAT, "observation": observation.VERSION, **facts}
    write_whole(folder / CARD, (json.dumps(card, indent=1) + "\n").encode())


def card_columns(card: Mapping[str, Any]) -> list[Column]:
    """List the columns for the rules and options of a card."""
    names = [column["name"] for column in card["columns"]]
    return columns_of(Rules.parse(card["rules"]), {column.option for column in COLUMNS if column.name in names})


def read_card(folder: Path) -> dict[str, Any]:
    """Read the card of a data set.

    Raises OSError if it can't be read, and ValueError with one sentence if it is missing, changed or of another
    version.
    """
    path = folder / CARD
    if not path.exists():
        raise ValueError(f"{folder} holds no whole data set: it has no {CARD}, which krypenv data writes at the end")
    card = read_json(path)
    try:
        _check_card(card)
    except ValueError as error:
        raise ValueError(f"{path} is no card of a data set: {sentence_of(error)}") from None
    return dict(card)


def _check_card(card: Any) -> None:
    if isinstance(card, dict):
        for key, known in (("kind", KIND), ("format", FORMAT), ("observation", observation.VERSION)):
            if card.get(key) != known:
                raise ValueError(f"its {key} is {shown(card.get(key))}, and this version of krypenv reads {known}")
    check(_SCHEMA, card)
    files = card["files"]
    if card["columns"] != [column.describe() for column in card_columns(card)]:
        raise ValueError("its columns are not those of this version of krypenv")
    if sum(file["rows"] for file in files) != card["rows"] or len({file["name"] for file in files}) != len(files):
        raise ValueError("its files are named twice, or have other rows than it says")
