"""What pages show of any stored answer of a study: figure, sentences, commands, rows: `make pages`.

`study_tables.py` has the tables that one study has for itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from result_tables import command_of, read, table_of

from krypenv import Rules
from krypenv.training.lab.studying import Study
from krypenv.training.research.studies.registry import STUDIES

PLAYERS = {2: "Two players", 3: "Three players", 4: "Four players", 5: "Five players", 6: "Six players"}
INTERVAL = "95% interval"
CODE = re.compile(r"`(.+?)`")
LONG = 16  # lines of a table that is folded if it has more


def stored(name: str) -> dict[str, Any]:
    """Return the stored result of a study."""
    return read(f"studies/{name}/result")


def setup_of(result: dict[str, Any]) -> str:
    """Return who played by which rules."""
    rules = Rules.parse(result["rules"])
    teams = " in two pairs" if rules.teams else ""
    family = "" if result["rules"].startswith("krypkasino ") else f", `{result['rules'].split()[0]}`"
    seed = f", seed {result['seed']}" if result["seed"] else ""
    return f"{PLAYERS[rules.players]}{teams}{family}, `{result['agent']}`{seed}"


def figure(names: Sequence[str], folder: str) -> str:
    """Return the figure of an answer."""
    return f"![{stored(names[0])['question']}]({folder}studies/{names[0]}/figure.png)\n"


def sentences(names: Sequence[str], folder: str) -> str:
    """Return the sentences of some answers to a question, and their commands."""
    results = [stored(name) for name in names]
    told = "\n".join(f"- **{setup_of(each)}.** {each['answer']}" for each in results)
    if len(results) == 1:
        told = results[0]["answer"]
    return f"{told}\n\n{command_of(*(each['command'] for each in results))}"


def answers(names: Sequence[str], folder: str) -> str:
    """Return some answers to a question: the figure of the first, the sentences, the commands, and the rows."""
    results = [stored(name) for name in names]
    return "\n".join([figure(names, folder), sentences(names, folder), rows_of(results)])


def studies(names: Sequence[str], folder: str) -> str:
    """Return every study with its question, for how many players it is, and how many deals it plays."""

    def row(name: str, study: Study) -> list[str]:
        question = study.question.replace("Example M:", "Example M of the rulebook:")
        players = study.players if study.rules is None else (study.rules.players,)
        many = f"{players[0]} to {players[-1]}" if len(players) > 2 else ", ".join(map(str, players))
        return [f"`{name}`", question, many + (", two teams" if study.teams else ""), f"{study.deals:,}"]

    return table_of(("study", "question", "players", "deals"), (row(*each) for each in STUDIES.items()))


def rows_of(results: Sequence[dict[str, Any]]) -> str:
    """Return the rows of some answers: side by side if each is a figure with its interval, else a table each.

    Long tables, and those of further answers, are folded.
    """
    if all(each["columns"][-1] == INTERVAL for each in results):
        made = side_by_side(results)
        return folded("All rows", made) if made.count("\n") > LONG else made
    tables = [table_of(each["columns"], with_raw(each)) for each in results]
    if len(results) == 1:
        return tables[0]
    first, *others = zip(map(setup_of, results), tables, strict=True)
    return "\n".join([f"{first[0]}:\n\n{first[1]}", *(folded(*each) for each in others)])


def folded(title: str, text: str) -> str:
    """Return a text that opens at a click; the title is of Markdown, with code in backticks."""
    shown = CODE.sub(r"<code>\1</code>", title)
    return f"<details>\n<summary>{shown}</summary>\n\n{text}\n</details>\n"


def side_by_side(results: Sequence[dict[str, Any]]) -> str:
    """Return one table of some answers, a column each, with the interval under each figure."""
    columns = [
        {what: figure_of(cells, each["columns"], raw_of(each, what)) for what, *cells in each["rows"]}
        for each in results
    ]
    order = list(max(columns, key=len))
    order += [what for column in columns for what in column if what not in order]
    head = (results[0]["columns"][0], *(map(setup_of, results) if len(results) > 1 else [f"figure, {INTERVAL}"]))
    return table_of(head, ([what, *(column.get(what, "-") for column in columns)] for what in order))


def figure_of(cells: Sequence[str], columns: Sequence[str], raw: Sequence[str]) -> str:
    """Return a figure, its interval, the raw ones, and how many positions it rests on if the answer says so."""
    *more, figure, interval = cells
    positions = [f"{each} {name}" for each, name in zip(more, columns[1:], strict=False) if each]
    return "<br>".join([figure, interval, *beside(f"{figure}\n{interval}", "\n".join(raw[-2:])), *positions])


def with_raw(result: dict[str, Any]) -> list[list[str]]:
    """Return the rows of an answer, with the raw margin below each one that luck was taken out of."""
    rows = []
    for what, *cells in result["rows"]:
        both = zip(cells, raw_of(result, what) or cells, strict=True)
        rows.append([what, *("<br>".join([*cell.split("\n"), *beside(cell, raw)]) for cell, raw in both)])
    return rows


def raw_of(result: dict[str, Any], what: str) -> list[str]:
    """Return the cells of a row with luck left in; none where it was taken out of nothing."""
    return next((cells for name, *cells in result.get("raw", {"rows": []})["rows"] if name == what), [])


def beside(cell: str, raw: str) -> list[str]:
    """Return the raw margin and its interval as a line, none where they are those of the cell or it has no interval."""
    figures = raw.split("\n")[:2]
    is_margin = len(figures) == 2 and (" to " in figures[1] or figures[1].startswith("±"))
    return [f"raw {', '.join(figures).replace(', ±', ' ±')}"] if is_margin and raw != cell else []


def belief(names: Sequence[str], folder: str) -> str:
    """Return what the champion's belief gains: the figure, the sentence, the command and the rows."""
    result = read("belief/result")
    shown = f"![{result['question']}]({folder}belief/figure.png)\n\n{result['answer']}\n"
    return f"{shown}\n{command_of(result['command'])}\n{rows_of([result])}"


KINDS: dict[str, Callable[[Sequence[str], str], str]] = {
    "answers": answers,
    "belief": belief,
    "figure": figure,
    "sentences": sentences,
    "studies": studies,
}
