"""Model cards: a model's training, results, exploitability and limits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from krypenv.agents.base import knows_krypkasino
from krypenv.agents.neural.model_file import CARD, WEIGHTS, load_model, rules_in
from krypenv.inputs.files import read_json, write_whole
from krypenv.inputs.schema import a_list, a_record, line, number, optional, sentence_of, whole
from krypenv.inputs.words import as_code, in_markdown, one_line
from krypenv.training.evaluation.arena.payoffs import Payoffs, payoffs
from krypenv.training.evaluation.arena.stored_games import games_of, labels, read_results
from krypenv.training.evaluation.matches.margins import format_margin, margin_cells
from krypenv.training.evaluation.matches.mixed_table import format_milliseconds

LONGEST = 2000  # characters of a command, and of the text of rules
_FIGURES = {"margin": number(), "low": optional(number()), "high": optional(number())}
_EXPLOITER = a_record({"kind": line, "name": line, "budget": line, **_FIGURES})
_ADJUSTED = {"adjusted": optional(a_record(_FIGURES))}  # not in files of older versions
_check_exploit = a_record(
    {"exploit": a_record({
        "agent": line, "exploiters": a_list(_EXPLOITER, 1), "best": whole(0), "measured": line, **_FIGURES
    }, _ADJUSTED)}
)  # fmt: skip
LIMITS = """\
- It plays the rules above and no others; `agents.make` refuses other rules.
- The network acts on one observation and remembers nothing. Apart from the ranks that forced sweeps exclude (R10), it \
learns nothing from what the others have played. `champion` makes up for part of this.
- It plays one fixed policy, so an opponent that knows it can exploit it. Where that was measured, the lower bound is \
above; how much more there is to gain, nobody knows.
- It plays for points, not for the place: it takes no extra risk when behind and plays no safer when ahead.
- It was trained and measured against programs. How it does against people was not measured."""
OTHER_LIMITS = """\
- It plays the rules above and no others; `agents.make` refuses other rules.
- The network acts on one observation and remembers nothing. It learns nothing from what the others have played.
- It plays one fixed policy, so an opponent that knows it can exploit it. Where that was measured, the lower bound is \
above; how much more there is to gain, nobody knows.
- It plays for points, not for the place, and not for the end of a session: it takes no extra risk when behind and \
plays no safer when ahead.
- It was trained and measured against programs. How it does against people was not measured."""


def model_card(model: Path, arena: Path, exploits: list[Path], title: str) -> str:
    """Return the card of a model as Markdown.

    Args:
        model: the model's folder.
        arena: the folder of an arena in which it played.
        exploits: files of `krypenv exploit --json` for it, if any.
        title: the heading.

    Raises ValueError if the model did not play in the arena, or if a file is invalid.
    """
    _, card = load_model(model)
    journal = read_results(arena)
    identity = journal.header.identity
    agents = identity["agents"]
    mine = [place for place, agent in enumerate(agents) if card["weights_sha256"] in agent["weights_sha256"]]
    if not mine:
        raise ValueError(f"the model in {model} did not play in the arena in {arena}")
    games = games_of(*journal)
    table, adjusted = payoffs(games), payoffs(games, adjusted=True) if games.luck is not None else None
    names, deals = labels(journal.header), in_markdown(identity["deals_list"])
    sections = [
        f"# {title}",
        _made(model, card),
        f"## Results\n\nMargins in points a game over duplicate deals of the list {deals}; above zero is good.",
        _block(journal.header.about["command"]),
        *(_margins(table, adjusted, place, names, games.milliseconds) for place in mine),
        "## Exploitability\n\n" + ("\n".join(map(_exploit, exploits)) or "Not measured."),
        f"## Limits\n\n{limits_of(card)}",
    ]
    return "\n\n".join(sections) + "\n"


def _block(command: str) -> str:
    """Return a command of a file as a block of code; one that could end the block is shown without one."""
    command = one_line(command, LONGEST)
    return f"```bash\n{command}\n```" if "```" not in command else as_code(command, LONGEST)


def limits_of(card: dict[str, Any]) -> str:
    """Return what a model cannot do, by its rules."""
    return LIMITS if knows_krypkasino(rules_in(card)) else OTHER_LIMITS


def _made(model: Path, card: dict[str, Any]) -> str:
    rows = {
        "rules": ", ".join(as_code(rules, LONGEST) for rules in (card["rules"], *(card.get("also") or ()))),
        "command": as_code(str(card.get("command")), LONGEST),
        "seed": card.get("seed"),
        "self-play": f"{card['frames']:,} decisions" if card.get("frames") is not None else None,
        "time": _time(card),
        "commit": in_markdown(card["commit"]) if card.get("commit") is not None else None,
        "network": ", ".join(f"{name} {size}" for name, size in card["network"].items()),
        "size": f"{(model / WEIGHTS).stat().st_size / 1e6:.1f} MB",
        "SHA-256 of the weights": f"`{card['weights_sha256']}`",
    }
    lines = [f"| {key} | {value} |" for key, value in rows.items() if value is not None]
    notes = [f"All settings are in its `{CARD}`."]
    return "\n".join(["## Training", "", "| | |", "|---|---|", *lines, "", " ".join(notes)])


def _time(card: dict[str, Any]) -> str | None:
    settings = card.get("settings") or {}
    if card.get("seconds") is None:
        return None
    begun = settings.get("init_from")
    return f"{card['seconds'] / 60:.0f} minutes" + (f", from the weights in {as_code(begun, LONGEST)}" if begun else "")


def _margins(
    table: Payoffs, adjusted: Payoffs | None, place: int, names: Sequence[str], milliseconds: np.ndarray
) -> str:
    met = [other for other in np.argsort(table.margin[place]) if table.deals[place, other] > 0]
    lines = []
    shown = [table, adjusted] if adjusted else [table]
    for other in met:
        cells = [
            cell
            for its in shown
            for cell in margin_cells(its.margin[place, other], its.low[place, other], its.high[place, other], 1)
        ]
        lines.append(f"| {' | '.join([as_code(names[other]), *cells, f'{table.deals[place, other]:,}'])} |")
    took = format_milliseconds(float(milliseconds[place]))
    head = f"{as_code(names[place])}, {took} ms a decision:"
    columns = ["against", "margin", "95% interval", *(["luck taken out", "95% interval"] if adjusted else []), "deals"]
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines]
    return "\n".join([head, "", *rows])


def _exploit(path: Path) -> str:
    try:
        kept = read_json(path)
        _check_exploit(kept, "")
        found = kept["exploit"]
        whole(0, len(found["exploiters"]) - 1)(found["best"], "exploit.best")
    except ValueError as error:
        raise ValueError(f"{path} is not what krypenv exploit --json writes: {sentence_of(error)}") from None
    best = found["exploiters"][found["best"]]
    exploiter = in_markdown(f"{best['kind']} {best['name']}, {best['budget']}")
    measured = in_markdown(found["measured"])
    raw, adjusted = found, found.get("adjusted")
    told = adjusted or raw
    margin = format_margin(told["margin"], told["low"], told["high"], 1, " points a game", f", {measured}")
    if adjusted:
        margin += f" with luck taken out, {format_margin(raw['margin'], raw['low'], raw['high'], 1)} with it left in,"
    return (
        f"The best of {len(found['exploiters'])} exploiters has a margin of {margin} over {as_code(found['agent'])}: "
        f"{exploiter}. This is a lower bound on what it can lose."
    )


def write_card(path: Path, text: str) -> None:
    """Write a card atomically."""
    write_whole(path, text.encode())
