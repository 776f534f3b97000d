"""The card of a trained model, beside its weights: how it was made, and its margins at the end of the training."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from krypenv.agents.neural.model_file import CARD, read_card
from krypenv.inputs.files import write_whole
from krypenv.inputs.words import as_code, in_markdown
from krypenv.training.evaluation.matches.duplicate import MatchResult, match_table

README = "README.md"
LONGEST = 2000  # characters of a command, and of the text of rules
LIMITS = (
    "It plays these rules and no others, for points and not for the place. "
    "It was trained and measured against programs, not against people."
)


def write_model_card(folder: Path, results: Sequence[MatchResult]) -> None:
    """Write the card of the model in a folder, with its matches at the end of the training."""
    write_whole(folder / README, model_card(read_card(folder), results).encode())


def model_card(facts: Mapping[str, Any], results: Sequence[MatchResult]) -> str:
    """Return the card as Markdown, from the contents of model.json and the matches at the end of the training."""
    about = {
        "rules": ", ".join(as_code(rules, LONGEST) for rules in (facts["rules"], *facts["also"])),
        "command": as_code(facts["command"], LONGEST),
        "seed": facts["seed"],
        "self-play": f"{facts['frames']:,} decisions in {facts['seconds'] / 60:.1f} minutes",
        "krypenv": facts["version"],
        "commit": in_markdown(facts["commit"] or "no checkout"),
        "SHA-256 of the weights": as_code(facts["weights_sha256"]),
    }
    columns, *matches = match_table(results)
    margins = [(as_code(opponent), *cells) for _, opponent, *cells in matches]
    parts = (
        "# Model card",
        _table(("", ""), about.items()),
        f"Margins in points a game over {results[0].deals:,} duplicate deals; above zero is good:",
        _table(columns[1:], margins),
        f"{LIMITS} All settings are in `{CARD}`.",
    )
    return "\n\n".join(parts) + "\n"


def _table(columns: Sequence[str], rows: Any) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (columns, ["---"] * len(columns), *rows))


def commit() -> str | None:
    """Return the commit of the checkout that the package runs from, if it runs from one; "-dirty" if it was changed."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return found.stdout.strip() or None
