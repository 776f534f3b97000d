"""`krypenv study`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.training.cli.options import Players, Preset, RuleFields, Teams, option
from krypenv.training.common.panels import AGENTS, LENGTH, OUTPUT, STUDY


def study(
    name: Annotated[
        str,
        typer.Argument(
            rich_help_panel=STUDY,
            help="the study: advice, creep, example, last, luck, memory, partners, seat, setups, shed or variants",
        ),
    ],
    rules: Preset = None,
    players: Players = None,
    teams: Teams = None,
    rule: RuleFields = None,
    agent: Annotated[
        str | None,
        option(panel=AGENTS, help="whose play is studied", default="the package's network, or a small search"),
    ] = None,
    deals: Annotated[int | None, option(panel=LENGTH, help="number of deals", default="the study's own")] = None,
    seed: Annotated[int, option(panel=LENGTH, help="seed of the deals and of the agents' random choices")] = 0,
    workers: Annotated[int, option(panel=LENGTH, help="processes; the answer does not depend on them")] = 1,
    out: Annotated[
        Path | None,
        option(panel=OUTPUT, metavar="FOLDER", help="folder of the answer", default="runs/studies/NAME-players"),
    ] = None,
) -> None:
    """Answer a question about good play: a table with intervals, a figure, and a sentence.

    If the study is stopped or killed, the same command resumes it.
    """
    from krypenv.agents import rules_of
    from krypenv.agents.own import typed
    from krypenv.training.cli.outputs import check_folder
    from krypenv.training.common import bounds
    from krypenv.training.common.folders import writing_to
    from krypenv.training.common.parts import GameRules
    from krypenv.training.common.report import print_table
    from krypenv.training.lab.play import strong_agent
    from krypenv.training.lab.study import FIGURE, RESULT, Setup, run_study
    from krypenv.training.studies.registry import study_of

    found = study_of(name)
    is_named = bool(rule) or any(each is not None for each in (rules, players, teams))
    if is_named or not (agent and rules_of(agent)):  # else the rules are those that the model was trained for
        players = found.players[0] if players is None else players
        teams = found.teams if teams is None else teams
    game = GameRules(rules or "", players, teams, tuple(rule or ())).of_agents([agent] if agent else [])
    deals = found.deals if deals is None else deals
    bounds.check("deals", deals, bounds.DEALS)
    bounds.check("seed", seed, bounds.SEED)
    bounds.check("workers", workers, bounds.WORKERS)
    setup = Setup(game, strong_agent(game) if agent is None else typed(agent), deals, seed)
    found.check(setup)
    folder = out or Path("runs/studies") / f"{name}-{game.players}"
    check_folder(folder)
    console = Console(stderr=True)
    with writing_to(folder), Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(name)
        answer = run_study(
            found, setup, folder, shlex.join(["krypenv", *sys.argv[1:]]), workers,
            lambda done, tasks: bar.update(task, completed=done, total=tasks),
        )  # fmt: skip
    typer.echo(f"{found.question} ({setup.rules}, {setup.agent}, {setup.deals} deals)")
    print_table(answer.columns, answer.rows)
    typer.echo(answer.sentence)
    typer.echo(f"wrote {folder / RESULT} and {folder / FIGURE}")
