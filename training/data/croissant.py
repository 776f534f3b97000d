"""Croissant metadata of a data set: a description that search engines of data sets and data loaders read."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from krypenv.inputs.files import write_whole
from krypenv.training.data.columns import Column

CROISSANT = "croissant.json"
CONFORMS_TO = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
_TYPES = {
    "int8": "cr:Int8", "int16": "cr:Int16", "int32": "cr:Int32", "int64": "cr:Int64", "uint64": "cr:UInt64",
    "double": "cr:Float64", "string": "sc:Text",
}  # fmt: skip
_PLAIN = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: f"cr:{term}" for term in _PLAIN},
}


def write_croissant(folder: Path, card: Mapping[str, Any], columns: Iterable[Column]) -> None:
    """Write `croissant.json` beside the card of a data set.

    Its fields of responsible AI say how the rows came about.
    """
    agents = ", ".join(agent["name"] for agent in card["agents"])
    analysts = ", ".join(sorted(set(card["analysts"]))) or "none"
    data = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": folder.resolve().name,
        "description": f"Decisions of {agents} in {card['games']:,} games of {card['rules']}, a row each.",
        "version": "1.0.0",
        "datePublished": datetime.date.today().isoformat(),
        "license": "https://spdx.org/licenses/MIT",
        "url": "https://pypi.org/project/krypenv",
        "creator": {"@type": "sc:Organization", "name": "the user of krypenv who ran its command"},
        "citeAs": f"krypenv {card['krypenv']}: {card['command']}",
        "rai:dataCollection": f"Games that programs played against each other, by the command: {card['command']}",
        "rai:dataCollectionType": ["Software Collection"],
        "rai:dataPreprocessingProtocol": ["None: each decision is a row as it was played."],
        "rai:dataAnnotationProtocol": [f"Margins and regrets: {analysts}; luck: {card['luck'] or 'none'}."],
        "rai:dataUseCases": ["Offline reinforcement learning", "Behavioural cloning", "Fine-tuning of language models"],
        "rai:dataLimitations": [
            f"The choices are those of {agents}: positions that these players avoid are rare.",
            "Returns are those of one deal each, so they hold the luck of the cards.",
        ],
        "rai:dataBiases": ["No people played; the play of people may differ."],
        "rai:personalSensitiveInformation": ["None."],
        "rai:dataSocialImpact": "None is known beyond that of game-playing programs.",
        "distribution": [
            {
                "@type": "cr:FileSet", "@id": "games", "name": "games", "encodingFormat": "application/x-parquet",
                "includes": "games-*.parquet",
            },
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet", "@id": "decisions", "name": "decisions",
                "field": list(map(_field, columns)),
            }
        ],
    }  # fmt: skip
    write_whole(folder / CROISSANT, (json.dumps(data, indent=1) + "\n").encode())


def _field(column: Column) -> dict[str, Any]:
    plain, _, size = column.type.rstrip("]").partition("[")
    listed = plain.startswith("list ")
    shape = size or ("-1" if listed else "")
    return {
        "@type": "cr:Field",
        "@id": f"decisions/{column.name}",
        "name": f"decisions/{column.name}",
        "description": column.text,
        "dataType": _TYPES[plain.removeprefix("list ")],
        **({"cr:isArray": True, "cr:arrayShape": shape} if shape else {}),
        "source": {"fileSet": {"@id": "games"}, "extract": {"column": column.name}},
    }
