"""The tables of the pages that show arenas, and presets of training, made from the stored results: `make pages`.

In a page, `<!-- arena: NAME -->` stands above the tables of `docs/results/NAME.json` and the sentence that ends them;
`<!-- presets -->` above what `krypenv ablate --preset` told in `docs/results/presets.json`, and
`<!-- generated: ablation -->` above the command and the gains in `docs/results/ablation.json`. On the page of the
evaluation, `<!-- generated: adjusted -->` stands above what the study `adjusted` found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from krypenv.training.evaluation.matches.margins import format_margin
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds

RESULTS = Path(__file__).parent.parent / "docs" / "results"
PAGES = ("agents.md", "relatives.md", "training.md", "../evaluation.md")
PRESETS = re.compile(
    r"<!-- presets -->\n(?:\n(?:<!-- not run -->\n)?```bash\n.*\n```\n|\n\|.*\n(?:\|.*\n)+|\nMore training .*\n)*"
)
GENERATED = re.compile(
    r"<!-- generated: (\w+) -->\n"
    r"(?:\n(?:<!-- not run -->\n)?```bash\n.*\n```\n|\n\|.*\n(?:\|.*\n)+|\nWith luck taken out, a deal .*\n)*"
)
ARENA = re.compile(r"<!-- arena: (\S+) -->\n(?:\n(?:\|.*\n)+|\nAll figures .*\n)*")
HEAD = ("agent", "margin, luck taken out", "as played", "games won", "OpenSkill mu", "Nash", "ms a decision")


def with_tables(page: str) -> str:
    """Return a page with the tables of its stored results made anew."""
    page = ARENA.sub(lambda place: f"<!-- arena: {place[1]} -->\n{tables_of(place[1])}", page)
    made = {"ablation": ablation, "adjusted": adjusted}
    page = GENERATED.sub(lambda place: f"<!-- generated: {place[1]} -->\n{made[place[1]]()}", page)
    return PRESETS.sub(lambda _: f"<!-- presets -->\n{presets()}", page)


def tables_of(name: str) -> str:
    """Return the agents of an arena, best first, their margins over each other, and where all figures are."""
    standings = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["standings"]
    told = (
        f"All figures are in [{name}.json]({name}.json). With luck taken out, a deal is worth {standings['worth']:.1f} "
        "deals as they were played (median over the pairs).\n"
    )
    return f"\n{_table(HEAD, map(_agent, standings['agents']))}\n{_over_each_other(standings)}\n{told}"


def presets() -> str:
    """Return the command that compared the presets, what it answered, and its margins."""
    found = json.loads((RESULTS / "presets.json").read_text(encoding="utf-8"))
    rows = [
        (
            f"`{row['training']}`",
            row["against"] if " " in row["against"] else f"`{row['against']}`",
            *(format_margin(*(each[key] for key in ("mean", "low", "high")), 1) for each in (row, row["raw"])),
        )
        for row in found["matches"]
    ]
    table = _table(("training", "over", "margin, luck taken out", "as played"), rows)
    return f"\n{_command(found['command'])}\n{found['answer']}\n\n{table}"


def ablation() -> str:
    """Return the command of the ablation, and the gain of each variant on the whole training."""
    found = json.loads((RESULTS / "ablation.json").read_text(encoding="utf-8"))
    rows = [
        (name, format_margin(each["gain"], each["low"], each["high"], 1))
        for name, each in found["variants"].items()
        if each["gain"] is not None
    ]
    return f"\n{_command(found['command'])}\n{_table(('training', 'gain on all of it, 95% interval'), rows)}"


def adjusted() -> str:
    """Return the command and the answer of the study `adjusted`, and its matches."""
    found = json.loads((RESULTS / "studies" / "adjusted-2" / "result.json").read_text(encoding="utf-8"))
    rows = []
    for label, each in zip((row[0] for row in found["rows"]), found["figures"].values(), strict=True):
        margins = [format_margin(*each[name].values()) for name in ("raw", "adjusted", "luck")]
        rows.append((label, *margins, f"{each['worth']:.2f}", f"{each['more time']:.1%}"))
    head = ("match", "margin as played", "luck taken out", "mean luck", "a deal is worth", "more time")
    return f"\n{_command(found['command'])}\n{found['answer']}\n\n{_table(head, rows)}"


def _command(line: str) -> str:
    return f"<!-- not run -->\n```bash\n{line}\n```\n"


def _agent(standing: dict[str, Any]) -> tuple[str, ...]:
    raw = [standing[key] for key in ("margin", "low", "high")]
    adjusted = [standing[f"adjusted_{key}"] for key in ("margin", "low", "high")]
    return (
        _quoted(standing["agent"]),
        format_margin(*adjusted),
        format_margin(*raw),
        f"{standing['win_rate']:.1%}",
        f"{standing['mu']:.1f}",
        f"{standing['nash_weight']:.0%}",
        format_milliseconds(standing["milliseconds"]),
    )


def _over_each_other(standings: dict[str, Any]) -> str:
    """Return the margins with luck taken out, and half of their intervals, of the better agents over the others."""
    found, names = standings["adjusted"], [each["agent"] for each in standings["agents"]]
    at = [found["names"].index(name) for name in names]
    rows = []
    for place, row in enumerate(at[1:], 1):
        cells = [
            f"{found['margin'][one][row]:+.1f} ± {(found['high'][one][row] - found['low'][one][row]) / 2:.1f}"
            for one in at[:place]
        ]
        rows.append((_quoted(names[place]), *cells, *[""] * (len(at) - 1 - place)))
    return _table(("margin of the column over the row, luck taken out", *map(_quoted, names[:-1])), rows)


def _quoted(name: str) -> str:
    plain = name.removesuffix(" (cheats)")
    return f"`{plain}`{name[len(plain) :]}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |\n" for cells in (head, *rows)]
    return "".join([lines[0], f"|{'---|' * len(head)}\n", *lines[1:]])
