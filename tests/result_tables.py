"""Tables of stored matches: arenas, presets and parts of training, trained networks, luck taken out: `make pages`.

`generated.py` says where they stand. Margins have luck taken out, and beside them stands what was played.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from krypenv.training.evaluation.matches.margins import format_margin
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds

RESULTS = Path(__file__).parent.parent / "docs" / "results"
ADJUSTED, AS_PLAYED = "margin, luck taken out", "as played"
BOUNDS = ("margin", "low", "high")


def read(name: str) -> dict[str, Any]:
    """Return a stored result of `docs/results`, by its path without ".json"."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def table_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    made = [f"| {' | '.join(cells)} |\n" for cells in (head, *rows)]
    return "".join([made[0], f"|{'---|' * len(head)}\n", *made[1:]])


def command_of(*lines: str) -> str:
    """Return commands as a block of a page that is not run as a test."""
    return "<!-- not run -->\n```bash\n" + "".join(f"{line}\n" for line in lines) + "```\n"


def arena(names: Sequence[str], folder: str) -> str:
    """Return how large an arena was, its command, and its tables."""
    found = read(names[0])
    run, standings = found["arena"], found["standings"]
    size = (
        f"{standings['deals']} duplicate deals of the list `test`, {standings['games']:,} games in all. Each margin "
        f"between two agents is known to {standings['widest']:.1f} points, with luck taken out."
    )
    command = run["command"] if "command" in run else run["about"]["command"]
    return f"{size}\n\n{command_of(command)}\n{standings_of(names, folder)}"


def standings_of(names: Sequence[str], folder: str) -> str:
    """Return the agents of an arena, best first, their margins over each other, and where all figures are."""
    name = names[0]
    standings = read(name)["standings"]
    head = ("agent", ADJUSTED, AS_PLAYED, "games won", "OpenSkill mu", "Nash", "ms a decision")
    told = (
        f"All figures are in [{name}.json]({name}.json). With luck taken out, a deal is worth {standings['worth']:.1f} "
        "deals as they were played (median over the pairs).\n"
    )
    return f"{table_of(head, map(_standing, standings['agents']))}\n{_over_each_other(standings)}\n{told}"


def _standing(standing: dict[str, Any]) -> tuple[str, ...]:
    return (
        _quoted(standing["agent"]),
        format_margin(*(standing[f"adjusted_{key}"] for key in BOUNDS)),
        format_margin(*(standing[key] for key in BOUNDS)),
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
    return table_of(("margin of the column over the row, luck taken out", *map(_quoted, names[:-1])), rows)


def _quoted(name: str) -> str:
    plain = name.removesuffix(" (cheats)")
    return f"`{plain}`{name[len(plain) :]}"


def presets(names: Sequence[str], folder: str) -> str:
    """Return the command that compared the presets of training, what it answered, and its margins."""
    found = read("presets")
    rows = [
        (
            f"`{row['training']}`",
            row["against"] if " " in row["against"] else f"`{row['against']}`",
            *(format_margin(*(each[key] for key in ("mean", "low", "high")), 1) for each in (row, row["raw"])),
        )
        for row in found["matches"]
    ]
    table = table_of(("training", "over", ADJUSTED, AS_PLAYED), rows)
    return f"{command_of(found['command'])}\n{found['answer']}\n\n{table}"


def ablation(names: Sequence[str], folder: str) -> str:
    """Return the command of an ablation, and the gain of each variant on the whole training."""
    found = read(names[0])
    rows = [
        (name, *(format_margin(gain["gain"], gain["low"], gain["high"], 1) for gain in (each, each["raw"])))
        for name, each in found["variants"].items()
        if each["gain"] is not None
    ]
    table = table_of(("training", "gain on all of it, luck taken out", AS_PLAYED), rows)
    return f"{command_of(found['command'])}\n{table}"


def adjusted(names: Sequence[str], folder: str) -> str:
    """Return the command and the answer of the study `adjusted`, and its matches."""
    found = read("studies/adjusted-2/result")
    rows = []
    for label, each in zip((row[0] for row in found["rows"]), found["figures"].values(), strict=True):
        margins = [format_margin(*each[name].values()) for name in ("raw", "adjusted", "luck")]
        rows.append((label, *margins, f"{each['worth']:.2f}", f"{each['more time']:.1%}"))
    head = ("match", "margin as played", "luck taken out", "mean luck", "a deal is worth", "more time")
    return f"{command_of(found['command'])}\n{found['answer']}\n\n{table_of(head, rows)}"


def trained(names: Sequence[str], folder: str) -> str:
    """Return the commands of some evaluations of trained networks, by `krypenv evaluate --json`, and their matches."""
    found = [read(f"trained/{name}") for name in names]
    rows = []
    for match in (match for each in found for match in each["matches"]):
        margins = [format_margin(*(of[key] for key in BOUNDS), 1) for of in (match["adjusted"], match)]
        sides = (f"`{match[which]}`" for which in ("rules", "agent", "opponent"))
        rows.append((*sides, *margins, f"{match['win_rate']:.1%}"))
    head = ("rules", "agent", "over", ADJUSTED, AS_PLAYED, "games won")
    tell = [at for at in range(len(head)) if at > 1 or len({row[at] for row in rows}) > 1]  # the columns that do
    table = table_of([head[at] for at in tell], ([row[at] for at in tell] for row in rows))
    return f"{command_of(*(each['command'] for each in found))}\n{table}"


KINDS: dict[str, Callable[[Sequence[str], str], str]] = {
    "ablation": ablation,
    "adjusted": adjusted,
    "arena": arena,
    "presets": presets,
    "standings": standings_of,
    "trained": trained,
}
