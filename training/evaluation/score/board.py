"""One page of many scores: for each table the agents in order, with intervals, and ties told by paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from krypenv.inputs.files import write_whole
from krypenv.inputs.words import as_code, one_line
from krypenv.training.evaluation.matches.margins import interval, margin_cells
from krypenv.training.evaluation.score.protocol import TABLES, VERSION
from krypenv.training.evaluation.score.score_file import Score, TableScore, read_score

PAGE = "board.md"
_RULE = (
    "An agent's rank at a table is 1 plus the number of agents that are better. One agent is better than another where "
    "the 95% interval of the difference of their scores, deal by deal over the deals that both have played, lies above "
    "zero; else they are tied, and share a rank unless a third one tells them apart."
)


def make_board(folder: Path) -> Path:
    """Write a page of all score files in a folder, `board.md`, and return its path.

    Raises ValueError where a file is no score, or two are of one agent at one table, or there are none.
    """
    found = {path: read_score(path) for path in sorted(folder.glob("*.json"))}
    if not found:
        raise ValueError(f"{folder} has no score files; krypenv score writes them")
    _check_once(found)
    scores = list(found.values())
    parts = [
        f"# Scores\n\nProtocol {VERSION}. Points a game ahead of the panel's opponents, with 95% intervals. {_RULE}"
    ]
    for name, table in TABLES.items():
        rows = [(score.agent, score.tables[name]) for score in scores if name in score.tables]
        if rows:
            parts.append(f"## {name}\n\n`{table.rules}`\n\n{_table(rows)}")
    write_whole(folder / PAGE, ("\n\n".join(parts) + "\n").encode())
    return folder / PAGE


def ranks(tables: Sequence[TableScore]) -> list[int]:
    """Return the rank of each of some scores at one table, (n,), by the rule of the page."""
    return [1 + sum(is_better(other, each) for other in tables) for each in tables]


def is_better(one: TableScore, other: TableScore) -> bool:
    """Return whether one score is better than another, by the paired difference over the deals that both have."""
    if one is other:
        return False
    deals = min(one.deals, other.deals)
    _, low, _ = interval(one.by_deal[:deals] - other.by_deal[:deals])
    return low > 0


def _table(rows: list[tuple[str, TableScore]]) -> str:
    placed = ranks([score for _, score in rows])
    order = sorted(range(len(rows)), key=lambda at: (placed[at], -rows[at][1].interval[0], rows[at][0]))
    lines = ["| rank | agent | score | 95% interval | deals |", "|---|---|---|---|---|"]
    for at in order:
        agent, score = as_code(rows[at][0]), rows[at][1]
        margin, bounds = margin_cells(*score.interval)
        lines.append(f"| {placed[at]} | {agent} | {margin} | {bounds} | {score.deals} |")
    return "\n".join(lines)


def _check_once(scores: Mapping[Path, Score]) -> None:
    seen: dict[tuple[str, tuple[str, ...], str], Path] = {}
    for path, score in scores.items():
        for name in score.tables:
            other = seen.setdefault((score.agent, score.weights, name), path)
            if other != path:
                raise ValueError(
                    f"{one_line(score.agent)} has two scores at table {name}, in {other} and in {path}; "
                    "keep one of the files"
                )
