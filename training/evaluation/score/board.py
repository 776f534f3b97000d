"""Scores in the terminal and on a leaderboard, where agents that can't be told apart share a group."""

from __future__ import annotations

import csv
import io
import itertools
import string
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import norm, ttest_ind

from krypenv.agents import label_of
from krypenv.inputs.files import write_whole
from krypenv.inputs.words import one_line
from krypenv.training.evaluation.matches.margins import FloatArray, holm, interval, margin_cells
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds, print_usage
from krypenv.training.evaluation.score.protocol import TABLES, VERSION, Score, TableScore, are_common, read_score
from krypenv.training.runs.tables import as_code, print_table

PAGE, DATA = "leaderboard.md", "leaderboard.csv"
COLUMNS = ("table", "against", "margin", "95% interval", "with luck", "95% interval")  # of a score
BOARD = ("group", "agent", "score", "points behind", "ms a decision", "minutes of training")
FIELDS = (
    "table", "group", "agent", "score", "low", "high", "over_strongest", "deals", "common", "own", "with_luck",
    "with_luck_low", "with_luck_high", "milliseconds", "training_minutes",
)  # fmt: skip
LEVEL = 0.05  # significance level for all comparisons at a table together
ODD = 0.001  # p value below which a difference between common and own deals is reported
_RULE = (
    "A score is in points a game ahead of the panel's opponents, with luck taken out, ± half its 95% interval. "
    "Points behind are those from the strongest agent, over the deals that both have played and over the others. "
    "Agents that share a letter can't be told apart: no difference between them is significant at "
    f"{LEVEL:.0%} for all pairs of a table together (Holm). A `!` marks a score whose common deals, with public "
    f"seeds, went better or worse than the agent's own (p < {ODD:g})."
)


def make_board(folder: Path) -> Path:
    """Write the leaderboard of all score files in a folder, and return the path of `leaderboard.md`.

    `leaderboard.csv` beside it has more columns. Raises ValueError if a file is no score, an agent has two scores at a
    table, or there are no files.
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
    page = [f"# Leaderboard\n\nProtocol {VERSION}. {_RULE} [All figures]({DATA}).\n"]
    data = io.StringIO()
    lines = csv.writer(data, lineterminator="\n")
    lines.writerow(FIELDS)
    for name, table in TABLES.items():
        rows = [(label_of(score.agent, table.rules), score.tables[name]) for score in scores if name in score.tables]
        if rows:
            rows.sort(key=lambda row: (-row[1].interval[0], row[0]))
            letters = groups([score.by_deal for _, score in rows])
            page += [f"\n## {name}\n\n`{table.rules}`\n\n", _row(BOARD), "|---" * len(BOARD) + "|\n"]
            for group, (agent, played) in zip(letters, rows, strict=True):
                cells, figures = _cells(group, agent, played, rows[0][1])
                page.append(_row(cells))
                lines.writerow((name, *figures))
    write_whole(folder / DATA, data.getvalue().encode())
    write_whole(folder / PAGE, "".join(page).encode())
    return folder / PAGE


def groups(scores: Sequence[FloatArray]) -> list[str]:
    """Group agents at one table, best first, by their margins by deal, (deals,) each: a compact letter display.

    Two agents share a letter if and only if their difference is not significant (insert and absorb; Piepho 2004,
    https://doi.org/10.1198/1061860043515).
    """
    pairs = list(itertools.combinations(range(len(scores)), 2))
    p_values = holm([compare(scores[first], scores[second])[2] for first, second in pairs])
    found = {frozenset(range(len(scores)))}
    for pair, p in zip(pairs, p_values, strict=True):
        if p < LEVEL:
            found = {each - {at} if each.issuperset(pair) else each for each in found for at in pair}
            found = {each for each in found if not any(each < other for other in found)}
    letters = [
        (f"{string.ascii_uppercase[at % 26]}{at // 26 or ''}", each)
        for at, each in enumerate(sorted(found, key=sorted))
    ]
    return ["".join(letter for letter, members in letters if at in members) for at in range(len(scores))]


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


def _row(cells: Iterable[str]) -> str:
    """Format a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |\n"


def _cells(group: str, agent: str, score: TableScore, strongest: TableScore) -> tuple[list[str], list[str]]:
    """Format an agent's row of the leaderboard, and that of the CSV, with the lead over the strongest agent."""
    (mean, low, high), minutes = score.interval, score.training_minutes
    common, own = (half.mean() if len(half) else None for half in halves(score.by_deal))
    lead = compare(score.by_deal, strongest.by_deal)[0]
    points = (mean, low, high, lead, common, own, *score.raw_interval)
    figures = ["" if value is None else f"{value:.3f}" for value in points]
    figures.insert(FIELDS.index("deals") - 3, str(score.deals))
    spread = f"{mean:+.2f} ± {(high - low) / 2:.2f}{' !' if is_suspect(score.by_deal) else ''}"
    times = format_milliseconds(score.milliseconds), "" if minutes is None else f"{minutes:.0f}"
    exact_times = f"{score.milliseconds:.4g}", "" if minutes is None else f"{minutes:.1f}"
    behind = f"{-lead:.2f}" if score is not strongest else ""
    return [group, as_code(agent), spread, behind, *times], [group, one_line(agent), *figures, *exact_times]


def print_score(score: Score) -> None:
    """Print the scores of an agent, and below each table's the margins against every opponent of the panel."""
    rows: list[tuple[str, ...]] = []
    for name, table in score.tables.items():
        rows.append((name, "the panel", *margin_cells(*table.interval), *margin_cells(*table.raw_interval)))
        for opponent, margins, raw in zip(TABLES[name].opponents, table.margins, table.raw, strict=True):
            short = opponent.partition("(")[0] if "shed" not in opponent else opponent
            rows.append(("", short, *margin_cells(*interval(margins)), *margin_cells(*interval(raw))))
    print_table(COLUMNS, rows)
    for name, table in score.tables.items():
        label = label_of(score.agent, TABLES[name].rules)
        if label != score.agent:
            print(f"{name}: {label}")
        if table.forfeits:
            print(f"{name}: {table.forfeits} games forfeited")
        if is_suspect(table.by_deal):
            common, own = (f"{half.mean():+.1f}" for half in halves(table.by_deal))
            print(f"{name}: common deals and the agent's own differ by more than chance allows: {common}, {own}")
    print_usage((name, table.usage) for name, table in score.tables.items())
    print("margin: points a game ahead of the opponent, with luck taken out")
