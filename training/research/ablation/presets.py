"""What comes of presets: the margin of each over every opponent, head to head with each other, and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from krypenv.training.evaluation.matches.margins import format_margin, holm
from krypenv.training.research.ablation.drawing import Line, draw_lines
from krypenv.training.research.ablation.interquartile import Crossed, interquartile_margin, p_value
from krypenv.training.research.ablation.settings import PICTURE, RESULT, AblationSettings
from krypenv.training.runs.tables import print_table, write_json

TOGETHER = "all of them"  # the mean margin of a run over all opponents
HEAD_TO_HEAD = "head to head"
LEVEL = 0.05  # of the tests head to head, all of them together
Pair = tuple[str, str]
Margins = dict[Pair, list[list[float]]]  # of each pair of trainings or agents: (runs of the first, runs of the second)


@dataclass(frozen=True)
class Row:
    """A row of the table: a training, or an agent that was trained longer, over another or over an opponent."""

    training: str
    against: str
    found: Crossed  # with luck taken out, where it was measured
    raw: Crossed | None  # with luck left in, where it was taken out
    p: float | None = None  # head to head: of a margin other than zero, adjusted for the number of tests (Holm)

    @property
    def label(self) -> str:
        """The pair in words."""
        return f"{self.training} over {self.against}"

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        figures = {"training": self.training, "against": self.against, **self.found._asdict(), "p": self.p}
        return figures | ({"raw": self.raw._asdict()} if self.raw else {})


def head_to_head(settings: AblationSettings) -> list[Pair]:
    """Return the pairs that play head to head, the longer training first; agents count as longer than all presets."""
    if not settings.preset:
        return []
    shorter_first = combinations(settings.trainings, 2)
    agents = [(agent, training) for agent in settings.beside for training in settings.trainings]
    return [(longer, shorter) for shorter, longer in shorter_first] + agents


def tell_presets(settings: AblationSettings, margins: Margins, raw: Margins | None) -> dict[str, Any]:
    """Print, write and return the results of all presets; `raw` are the margins with luck left in."""
    rows = rows_of(settings, margins, raw)
    answer = sentence(rows)
    result: dict[str, Any] = {
        "command": settings.line,
        "settings": settings.flat(),
        "answer": answer,
        "matches": [row.to_json() for row in rows],
    }
    out = Path(settings.out)
    write_json(out / RESULT, result)
    draw_presets(out / PICTURE, result["matches"])
    print_presets(rows)
    Console().print(answer, markup=False, highlight=False, soft_wrap=True)
    return result


def rows_of(settings: AblationSettings, margins: Margins, raw: Margins | None) -> list[Row]:
    """Return a row for each preset over each opponent and over all of them together, and then those head to head.

    Together, the margin of a run is its mean over the opponents.
    """
    duels, against = head_to_head(settings), settings.evaluation.against

    def levels(of: Margins) -> Margins:
        found: Margins = {}
        for training in settings.trainings:
            its = {name: of[training, name] for name in against}
            found |= {(training, name): each for name, each in its.items()}
            found[training, TOGETHER] = np.mean(list(its.values()), axis=0).tolist()
        return found | {pair: of[pair] for pair in duels}

    p_values = dict(zip(duels, holm([p_value(margins[pair]) for pair in duels]).tolist(), strict=True))
    left_in = {pair: interquartile_margin(each) for pair, each in levels(raw).items()} if raw else {}
    return [
        Row(*pair, interquartile_margin(each), left_in.get(pair), p_values.get(pair))
        for pair, each in levels(margins).items()
    ]


def sentence(rows: Sequence[Row]) -> str:
    """Return whether more training brings a gain, from the rows head to head; empty if there are none.

    What can't be told apart from zero is what has a p value of 0.05 or more among all tests (Holm).
    """
    duels = [row for row in rows if row.p is not None]
    if not duels:
        return ""
    notes = ["" if row.p is not None and row.p < LEVEL else "; not told apart from zero" for row in duels]
    is_gained = any(row.found.mean > 0 and not note for row, note in zip(duels, notes, strict=True))
    gain = "a gain" if is_gained else "no gain"
    each = [
        f"{row.label} {format_margin(*row.found[1:], 1, ' points a game', note)}"
        for row, note in zip(duels, notes, strict=True)
    ]
    return f"More training brings {gain} that can be told apart, head to head: {', '.join(each)}."


def print_presets(rows: Sequence[Row]) -> None:
    """Print the rows; where luck was taken out, the margins with luck left in come last."""
    has_luck = any(row.raw for row in rows)
    print_table(
        ("training", "against", "margin, 95% interval", *(("with luck left in",) if has_luck else ())),
        [
            (row.training, row.against, _cell(row.found), *((_cell(row.raw),) if row.raw else ("",) * has_luck))
            for row in rows
        ],
    )


def _cell(found: Crossed) -> str:
    return format_margin(*found[1:], 1)


def draw_presets(path: Path, matches: Sequence[dict[str, Any]]) -> None:
    """Draw the rows of a result: a panel for each opponent, and one head to head, with a dot for each run or pair."""
    panels: dict[str, list[Line]] = {}
    for row in matches:
        is_level = row["p"] is None
        title = f"over {row['against']}" if is_level else HEAD_TO_HEAD
        label = row["training"] if is_level else f"{row['training']} over {row['against']}"
        line = Line(label, np.ravel(row["margins"]), row["mean"], row["low"], row["high"])
        panels.setdefault(title, []).append(line)
    draw_lines(path, panels, "points a game", "; ".join(panels))
