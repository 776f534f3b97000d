"""Scores in the terminal and on a page: agents ranked with intervals, and tied where no difference is significant."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import norm, ttest_ind

from krypenv.agents import label_of
from krypenv.inputs.files import write_whole
from krypenv.inputs.words import one_line
from krypenv.training.evaluation.matches.margins import FloatArray, holm, interval, margin_cells
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds
from krypenv.training.evaluation.score.protocol import TABLES, VERSION, are_common
from krypenv.training.evaluation.score.score_file import Score, TableScore, read_score
from krypenv.training.runs.tables import as_code, print_table

PAGE = "board.md"
COLUMNS = ("table", "against", "margin", "95% interval", "with luck", "95% interval")  # of a score
BOARD = (
    "rank", "agent", "score", "95% interval", "to the strongest", "deals", "common, own", "with luck", "95% interval",
    "ms", "minutes",
)  # fmt: skip
LEVEL = 0.05  # significance level for all comparisons at a table together
ODD = 0.001  # p value below which a difference between common and own deals is reported
_RULE = (
    "Points a game ahead of the panel's opponents with luck taken out, with 95% intervals, and the distance to "
    "the strongest agent of the table on the deals of both; the last columns have the points with luck left in, and "
    "the milliseconds of a decision and minutes of training of the agent. Rank is 1 plus the number of agents that are "
    "better. One agent is better than another where the difference of their scores is "
    f"above zero with a risk of {LEVEL:.0%} for all pairs at a table together (Holm). Deals that both have played are "
    "compared one by one, the agents' own ones by their means. Agents whose difference isn't significant are "
    "tied, and share a rank unless a third one separates them. A `!` says that the common deals, whose seeds are "
    f"public, went better or worse than the agent's own (p < {ODD:g})."
)


def make_board(folder: Path) -> Path:
    """Write a page of all score files in a folder, `board.md`, and return its path.

    Raises ValueError if a file is no score, an agent has two scores at a table, or there are no files.
    """
    scores, seen = [], dict[tuple[str, ...], Path]()
    for path in sorted(folder.glob("*.json")):
        score = read_score(path)
        scores.append(score)
        for name in score.tables:
            other = seen.setdefault((name, score.agent, *score.identity.weights_sha256), path)
            if other != path:
                agent = one_line(score.agent)
                raise ValueError(f"{agent} has two scores at table {name}, in {other} and in {path}; keep one of them")
    if not scores:
        raise ValueError(f"{folder} has no score files; krypenv score writes them")
    parts = [f"# Scores\n\nProtocol {VERSION}. {_RULE}"]
    for name, table in TABLES.items():
        rows = [(label_of(score.agent, table.rules), score.tables[name]) for score in scores if name in score.tables]
        if rows:
            parts.append(f"## {name}\n\n`{table.rules}`\n\n{_table(rows)}")
    write_whole(folder / PAGE, ("\n\n".join(parts) + "\n").encode())
    return folder / PAGE


def ranks(scores: Sequence[FloatArray]) -> list[int]:
    """Rank agents at one table, (n,), from their margins by deal, (deals,) each."""
    pairs = list(itertools.combinations(range(len(scores)), 2))
    leads = [compare(scores[first], scores[second]) for first, second in pairs]
    better = [0] * len(scores)
    for (first, second), (lead, _, _), p in zip(pairs, leads, holm([p for *_, p in leads]), strict=True):
        if p < LEVEL:
            better[second if lead > 0 else first] += 1
    return [1 + count for count in better]


def compare(first: FloatArray, second: FloatArray) -> tuple[float, float, float]:
    """Estimate one agent's lead over another from their margins by deal, its standard error, and the p value of none.

    The lead is the inverse-variance weighted mean of the paired difference over the common deals that both have played
    and of the difference of means over their own deals.
    """
    (common, own), (second_common, second_own) = halves(first), halves(second)
    deals = min(len(common), len(second_common))
    paired = common[:deals] - second_common[:deals]
    estimates = [(paired.mean(), paired.var(ddof=1) / deals)]
    if min(len(own), len(second_own)) > 1:
        variance = own.var(ddof=1) / len(own) + second_own.var(ddof=1) / len(second_own)
        estimates.append((own.mean() - second_own.mean(), variance))
    leads, variances = np.array(estimates).T
    if not variances.all():  # alike in every deal, or by the same points in each
        return float(leads[0]), 0.0, float(not leads[0])
    weights = 1 / variances
    lead, error = (leads * weights).sum() / weights.sum(), weights.sum() ** -0.5
    return float(lead), float(error), float(2 * norm.sf(abs(lead) / error))


def halves(by_deal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split margins by deal into those of the deals common to all agents and those of the agent's own deals."""
    common = are_common(len(by_deal))
    return by_deal[common], by_deal[~common]


def is_suspect(by_deal: FloatArray) -> bool:
    """Tell whether the margins of common and own deals differ by more than chance allows (`ODD`)."""
    common, own = halves(by_deal)
    return min(len(common), len(own)) > 1 and bool(ttest_ind(common, own, equal_var=False).pvalue < ODD)


def _table(rows: list[tuple[str, TableScore]]) -> str:
    placed = ranks([score.by_deal for _, score in rows])
    order = sorted(range(len(rows)), key=lambda at: (placed[at], -rows[at][1].interval[0], rows[at][0]))
    lines = [f"| {' | '.join(BOARD)} |", "|---" * len(BOARD) + "|"]
    strongest = rows[order[0]][1].by_deal
    for at in order:
        agent, score = as_code(rows[at][0]), rows[at][1]
        minutes = "" if score.training_minutes is None else f"{score.training_minutes:.0f}"
        lead = "" if at == order[0] else _lead_text(score.by_deal, strongest)
        cells = (
            str(placed[at]), agent, *margin_cells(*score.interval), lead, str(score.deals), _halves_text(score),
            *margin_cells(*score.raw_interval), format_milliseconds(score.milliseconds), minutes,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _lead_text(by_deal: FloatArray, strongest: FloatArray) -> str:
    """Format the distance to the strongest agent with half of its 95% interval."""
    lead, error, _ = compare(by_deal, strongest)
    return f"{lead:+.2f} ± {norm.ppf(0.975) * error:.2f}"


def _halves_text(score: TableScore) -> str:
    """Format the means over common and own deals, with a mark where they differ too much."""
    means = ", ".join(f"{half.mean():+.1f}" for half in halves(score.by_deal) if len(half))
    return f"{means} !" if is_suspect(score.by_deal) else means


def print_score(score: Score) -> None:
    """Print the scores of an agent, and below each table's the margins against every opponent of the panel."""
    rows: list[tuple[str, ...]] = []
    for name, table in score.tables.items():
        rows.append((name, "the panel", *margin_cells(*table.interval), *margin_cells(*table.raw_interval)))
        for at, opponent in enumerate(TABLES[name].opponents):
            short = opponent.partition("(")[0] if "shed" not in opponent else opponent
            rows.append(
                ("", short, *margin_cells(*interval(table.margins[at])), *margin_cells(*interval(table.raw[at])))
            )
    print_table(COLUMNS, rows)
    for name, table in score.tables.items():
        label = label_of(score.agent, TABLES[name].rules)
        if label != score.agent:
            print(f"{name}: {label}")
        if table.forfeits:
            print(f"{name}: {table.forfeits} games forfeited")
        if is_suspect(table.by_deal):
            print(f"{name}: common deals and the agent's own differ by more than chance allows: {_halves_text(table)}")
    print("margin: points a game ahead of the opponent, with luck taken out")
