"""`krypenv evaluate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import typer

from krypenv.training.cli.outputs import check_files
from krypenv.training.evaluation.matches import duplicate
from krypenv.training.evaluation.matches.duplicate import print_matches
from krypenv.training.runs import limits
from krypenv.training.runs.options import Command, a_json_file, setting
from krypenv.training.runs.panels import AGENTS, LENGTH
from krypenv.training.runs.parts import DEALS_FROM, GameRules, a_seed, luck_setting, rules_of_agents
from krypenv.training.runs.progress import bar_of
from krypenv.training.runs.tables import write_json


@dataclass(frozen=True)
class EvaluationSettings(Command):
    """The settings of `krypenv evaluate`."""

    command: ClassVar[str] = "evaluate"
    agent: str = setting(
        "", "an agent, as in greedy or 'tactician(shed=True)', or a model folder", is_argument=True, is_required=True
    )
    against: tuple[str, ...] = setting((), "an opponent", panel=AGENTS, metavar="AGENT", is_required=True)
    game: GameRules = rules_of_agents()
    deals: int = setting(1000, "deals, each played from every side of the table", limits.MATCH_DEALS, LENGTH)
    deals_from: str | None = setting(
        None, "list or seed of the deals [default: that of --seed]", panel=LENGTH, metavar=DEALS_FROM
    )
    seed: int = a_seed("seed; the same seed gives the same figures", limits.SEED)
    threads: int = setting(
        1, "threads of the engine; 0 for one per processor", limits.THREADS_OR_ALL, LENGTH, decides=False
    )
    luck: str = luck_setting()
    json: Path | None = a_json_file()


def run(settings: EvaluationSettings) -> None:
    """Play duplicate matches of an agent against others and print the margins in points a game."""
    check_files(settings.json)
    agent, game = settings.agent, settings.game.of_agents([settings.agent])
    with bar_of(agent) as show:
        results = duplicate.evaluate(
            agent, settings.against, game, settings.deals, settings.seed, settings.threads,
            show, settings.deals_from, settings.luck,
        )  # fmt: skip
    if settings.json:
        write_json(settings.json, {"command": settings.line, "matches": [result.to_json() for result in results]})
    first = results[0]
    typer.echo(f"{game}: {first.deals} deals of {first.deals_from}, {first.games} games, seed {first.seed}")
    print_matches(results)
