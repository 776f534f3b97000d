"""`krypenv study`, and what it shares with `krypenv compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.agents import label_of, rules_of
from krypenv.agents.own import typed
from krypenv.rules import Rules
from krypenv.training.cli.outputs import check_folder
from krypenv.training.lab import studying
from krypenv.training.lab.chunks import strong_agent
from krypenv.training.lab.rulesets import find_models
from krypenv.training.lab.studying import FIGURE, RESULT, Setup, Study
from krypenv.training.research.studies.registry import study_of
from krypenv.training.runs import Executor, limits
from krypenv.training.runs.options import Command, an_output, part, setting
from krypenv.training.runs.panels import AGENTS, LENGTH, RULES, STUDY
from krypenv.training.runs.parts import GameRules, Place, a_models_folder, a_seed, rules_of_agents
from krypenv.training.runs.tables import print_table


def study_seed() -> Any:
    """Return the field for the seed of a study."""
    return a_seed("seed of the deals and of the agents' random choices", limits.SEED)


def study_luck() -> Any:
    """Return the field that says in which matches of a study luck is taken out; usually off, as in stored answers."""
    return setting(
        "off",
        "take luck out of the margins of matches by a control variate; auto: if an agent takes long to decide",
        panel=LENGTH,
        metavar="auto|on|off",
    )


@dataclass(frozen=True)
class StudySettings(Command):
    """The settings of `krypenv study`."""

    command: ClassVar[str] = "study"
    name: str = setting(
        "",
        "the study: baselines, late, matched, recall, seat or small",
        panel=STUDY,
        is_argument=True,
        is_required=True,
    )
    game: GameRules = rules_of_agents()
    agent: str | None = setting(
        None, "agent to study [default: the package's network, or a small search]", panel=AGENTS
    )
    deals: int | None = setting(None, "number of deals [default: the study's own]", limits.DEALS, LENGTH)
    seed: int = study_seed()
    luck: str = study_luck()
    place: Place = part(Place())
    models: Path | None = a_models_folder()
    out: Path | None = an_output(None, "folder of the answer [default: runs/studies/NAME-players]", "FOLDER")


@dataclass(frozen=True)
class ComparisonSettings(Command):
    """The settings of `krypenv compare`."""

    command: ClassVar[str] = "compare"
    rules: tuple[str, ...] = setting(
        (),
        "two rule sets or more, each a preset with its fields, as in 'kasino-sweden goal=low'",
        panel=RULES,
        is_argument=True,
        is_required=True,
    )
    agent: str = setting(
        "tactician", "agent in every seat for counting moves, points, luck and the first seat's lead", panel=AGENTS
    )
    deals: int = setting(1000, "deals of each match", limits.DEALS, LENGTH)
    seed: int = study_seed()
    luck: str = study_luck()
    place: Place = part(Place())
    models: Path | None = a_models_folder()
    out: Path = an_output(Path("runs/compare"), "folder of the answer; a comparison in it is resumed", "FOLDER")


def run(settings: StudySettings) -> None:
    """Answer a question about good play: a table with intervals, a figure, and a sentence.

    If the study is stopped or killed, the same command resumes it.
    """
    it, game = settings, settings.game
    study = study_of(it.name)
    if study.sets and (game.is_given or it.agent is not None):
        raise ValueError(f"the study {it.name} has its own rules and agents; leave out those options")
    if game.is_given or not (
        it.agent and rules_of(it.agent)
    ):  # else the rules are those that the model was trained for
        players = study.players[0] if game.players is None else game.players
        game = GameRules(game.rules, players, study.teams if game.teams is None else game.teams, game.rule)
    rules = study.rules or game.of_agents([it.agent])
    agent = study.agent or (strong_agent(rules) if it.agent is None else typed(it.agent))
    out = it.out or Path("runs/studies") / f"{it.name}-{rules.players}"
    answer_study(study, setup_of(study, rules, agent, it), it.line, it.place.executor, out)


def setup_of(study: Study, rules: Rules, agent: str, settings: StudySettings | ComparisonSettings) -> Setup:
    """Return what a study is run with."""
    it, deals = settings, study.deals if settings.deals is None else settings.deals
    if it.models and not study.sets:
        raise ValueError(f"the study {study.name} compares no rules, so it has no use for --models")
    models = find_models(it.models, study.sets) if it.models else ()
    return Setup(rules, agent, deals, it.seed, models, it.luck)


def answer_study(study: Study, setup: Setup, command: str, executor: Executor, out: Path) -> None:
    """Check what a study is asked for, run it, and print its answer."""
    study.check(setup)
    check_folder(out)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(study.name)
        answer = studying.run_study(
            study, setup, out, command, executor,
            lambda done, tasks: bar.update(task, completed=done, total=tasks),
        )  # fmt: skip
    about = f"{len(study.sets)} rule sets" if study.sets else f"{setup.rules}, {label_of(setup.agent, setup.rules)}"
    typer.echo(f"{study.question} ({about}, {setup.deals} deals)")
    for which, its in (("taken out", answer), ("left in", answer.raw)):
        if its:
            if answer.raw:
                typer.echo(f"With luck {which}:")
            print_table(its.columns, its.rows)
            typer.echo(its.sentence)
    typer.echo(f"wrote {out / RESULT} and {out / FIGURE}")
