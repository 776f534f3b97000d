"""`krypenv compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from krypenv.training.cli.options import OnRay, RayAddress, Workers, option
from krypenv.training.cli.study import Models, answer_study
from krypenv.training.runs.panels import AGENTS, LENGTH, OUTPUT, RULES


def compare(
    rules: Annotated[
        list[str],
        typer.Argument(
            rich_help_panel=RULES,
            help="two rule sets or more, each a preset with its fields, as in 'kasino-sweden goal=low'",
        ),
    ],
    agent: Annotated[
        str, option(panel=AGENTS, help="who plays every seat where moves, points, luck and the lead are counted")
    ] = "tactician",
    deals: Annotated[int | None, option(panel=LENGTH, help="deals of each match", default="1000")] = None,
    seed: Annotated[int, option(panel=LENGTH, help="seed of the deals and of the agents' random choices")] = 0,
    workers: Workers = 1,
    ray: OnRay = False,
    ray_address: RayAddress = None,
    models: Models = None,
    out: Annotated[
        Path, option(panel=OUTPUT, metavar="FOLDER", help="folder of the answer; a comparison in it is resumed")
    ] = Path("runs/compare"),
) -> None:
    """Compare rule sets on the same footing: choices, sources of points, skill, the first seat, hidden hands.

    Margins are in standard deviations of a game's margin between equal players, so that games with other points can be
    compared. If the comparison is stopped or killed, the same command resumes it.
    """
    from krypenv.agents.own import typed
    from krypenv.training.research.lab.rulesets import rule_sets, sets_of
    from krypenv.training.runs import executor_of

    player = typed(agent)
    found = rule_sets("compare", "How do these rules differ?", sets_of(rules), agent=player)
    assert found.rules
    answer_study(found, found.rules, player, deals, seed, executor_of(workers, ray, ray_address), models, out)
