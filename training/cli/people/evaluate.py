"""`krypenv evaluate`."""

from __future__ import annotations

from typing import ClassVar

import typer

from krypenv.training.evaluation.matches import duplicate
from krypenv.training.evaluation.matches.duplicate import print_matches
from krypenv.training.runs.progress import bar_of
from krypenv.training.runs.tables import write_json
from krypenv.training.settings.base import AgentName, File, option
from krypenv.training.settings.groups import (
    AGENTS,
    DEALS_FROM,
    LENGTH,
    MOST_DEALS,
    Luck,
    RulesOfAgents,
    json_output,
    luck_option,
    seed_option,
)


class EvaluationSettings(RulesOfAgents):
    """The settings of `krypenv evaluate`."""

    command: ClassVar[str] = "evaluate"

    agent: AgentName = option(
        ..., "an agent, as in greedy or 'tactician(shed=True)', or a model folder", is_argument=True
    )
    against: tuple[AgentName, ...] = option(..., "an opponent", AGENTS, metavar="AGENT", min_length=1)
    deals: int = option(1000, "deals, each played from every side of the table", LENGTH, ge=1, le=MOST_DEALS)
    deals_from: str | None = option(
        None, "list or seed of the deals [default: that of --seed]", LENGTH, metavar=DEALS_FROM
    )
    seed: int = seed_option()
    threads: int = option(1, "threads of the engine; 0 for one per processor", LENGTH, decides=False, ge=0, le=1024)
    luck: Luck = luck_option()
    json_file: File | None = json_output()


def run(settings: EvaluationSettings) -> None:
    """Play duplicate matches of an agent against others and print the margins in points a game."""
    agent, game = settings.agent, settings.rules_for([settings.agent])
    with bar_of(agent) as show:
        results = duplicate.evaluate(
            agent, settings.against, game, settings.deals, settings.seed, settings.threads,
            show, settings.deals_from, settings.luck,
        )  # fmt: skip
    if settings.json_file:
        write_json(settings.json_file, {"command": settings.line, "matches": [result.to_json() for result in results]})
    first = results[0]
    typer.echo(f"{game}: {first.deals} deals of {first.deals_from}, {first.games} games, seed {first.seed}")
    print_matches(results)
