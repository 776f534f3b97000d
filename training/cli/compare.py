"""`krypenv compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from krypenv.training.cli.options import option
from krypenv.training.cli.study import Models, Workers, answer_study
from krypenv.training.common.panels import LENGTH, OUTPUT, RULES


def compare(
    rules: Annotated[
        list[str],
        typer.Argument(
            rich_help_panel=RULES,
            help="two rule sets or more, each a preset with its fields, as in 'kasino-sweden goal=low'",
        ),
    ],
    deals: Annotated[int | None, option(panel=LENGTH, help="deals of each match", default="1000")] = None,
    seed: Annotated[int, option(panel=LENGTH, help="seed of the deals and of the agents' random choices")] = 0,
    workers: Workers = 1,
    models: Models = None,
    out: Annotated[
        Path, option(panel=OUTPUT, metavar="FOLDER", help="folder of the answer; a comparison in it is resumed")
    ] = Path("runs/compare"),
) -> None:
    """Compare rule sets on the same footing: choices, sources of points, skill, the first seat, hidden hands.

    Margins are in standard deviations of a game's margin between equal players, so that games with other points can be
    compared. If the comparison is stopped or killed, the same command resumes it.
    """
    from krypenv.training.lab.rulesets import PLAYER, rule_sets, sets_of

    found = rule_sets("compare", "How do these rules differ?", sets_of(rules))
    assert found.rules
    answer_study(found, found.rules, PLAYER, deals, seed, workers, models, out)
