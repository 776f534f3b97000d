"""`krypenv study`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.training.cli.options import OnRay, Players, Preset, RayAddress, RuleFields, Teams, Workers, option
from krypenv.training.runs.panels import AGENTS, LENGTH, OUTPUT, STUDY

if TYPE_CHECKING:
    from krypenv.rules import Rules
    from krypenv.training.research.lab.studying import Study
    from krypenv.training.runs import Executor

Models = Annotated[
    Path | None,
    option(
        panel=AGENTS,
        metavar="FOLDER",
        help="runs of krypenv train, for a comparison of rules: each model plays the rules that it was trained for",
        default="none",
    ),
]


def study(
    name: Annotated[
        str,
        typer.Argument(
            rich_help_panel=STUDY,
            help="the study: advice, creep, example, last, luck, memory, misere, partners, seat, setups, shed, "
            "small or variants",
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
    workers: Workers = 1,
    ray: OnRay = False,
    ray_address: RayAddress = None,
    models: Models = None,
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
    from krypenv.training.research.lab.chunks import strong_agent
    from krypenv.training.research.studies.registry import study_of
    from krypenv.training.runs import executor_of
    from krypenv.training.runs.parts import GameRules

    found = study_of(name)
    is_named = bool(rule) or any(each is not None for each in (rules, players, teams))
    if found.sets and (is_named or agent):
        raise ValueError(f"the study {name} has its own rules and agents; leave out those options")
    if is_named or not (agent and rules_of(agent)):  # else the rules are those that the model was trained for
        players = found.players[0] if players is None else players
        teams = found.teams if teams is None else teams
    game = found.rules or GameRules(rules or "", players, teams, tuple(rule or ())).of_agents([agent] if agent else [])
    player = found.agent or (strong_agent(game) if agent is None else typed(agent))
    where = executor_of(workers, ray, ray_address)
    answer_study(
        found, game, player, deals, seed, where, models, out or Path("runs/studies") / f"{name}-{game.players}"
    )


def answer_study(
    found: Study,
    rules: Rules,
    agent: str,
    deals: int | None,
    seed: int,
    where: Executor,
    models: Path | None,
    out: Path,
) -> None:
    """Check what a study is asked for, run it, and print its answer."""
    from krypenv.training.cli.outputs import check_folder
    from krypenv.training.research.lab.rulesets import find_models
    from krypenv.training.research.lab.studying import FIGURE, RESULT, Setup, run_study
    from krypenv.training.runs import limits
    from krypenv.training.runs.tables import print_table

    deals = found.deals if deals is None else deals
    limits.check("deals", deals, limits.DEALS)
    limits.check("seed", seed, limits.SEED)
    if models and not found.sets:
        raise ValueError(f"the study {found.name} compares no rules, so it has no use for --models")
    setup = Setup(rules, agent, deals, seed, find_models(models, found.sets) if models else ())
    found.check(setup)
    check_folder(out)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(found.name)
        answer = run_study(
            found, setup, out, shlex.join(["krypenv", *sys.argv[1:]]), where,
            lambda done, tasks: bar.update(task, completed=done, total=tasks),
        )  # fmt: skip
    about = f"{len(found.sets)} rule sets" if found.sets else f"{setup.rules}, {setup.agent}"
    typer.echo(f"{found.question} ({about}, {setup.deals} deals)")
    print_table(answer.columns, answer.rows)
    typer.echo(answer.sentence)
    typer.echo(f"wrote {out / RESULT} and {out / FIGURE}")
