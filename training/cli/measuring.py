"""The commands that train agents, measure them, and record their play: train, evaluate, arena, score, exploit, data."""

from __future__ import annotations

from typing import Any, ClassVar

import typer
from rich.console import Console

from krypenv import training
from krypenv.agents import label_of
from krypenv.training import ArenaSettings, ExploitResult, ExploitSettings, ScoreSettings, TrainSettings, data, solving
from krypenv.training.cli.outputs import check_folder
from krypenv.training.evaluation.arena.arena import KIND
from krypenv.training.evaluation.matches.deal_lists import describe_list
from krypenv.training.evaluation.matches.duplicate import LUCK_COLUMNS
from krypenv.training.evaluation.matches.margins import luck_cells, margin_cells
from krypenv.training.runs.journal import read_journal
from krypenv.training.runs.progress import bar_of
from krypenv.training.runs.tables import INTERVAL, print_table, write_json
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

EXPLOIT_COLUMNS = ("what", "budget", "seconds", "margin", INTERVAL)


def train_command(settings: TrainSettings) -> None:
    """Train an agent by self-play and evaluate it."""
    check_folder(settings.resume or settings.out or "runs")
    training.train(settings)


class EvaluationSettings(RulesOfAgents):
    """The settings of `krypenv evaluate`."""

    command: ClassVar[str] = "evaluate"

    agent: AgentName = option(..., "an agent, as in 'tactician(shed=True)', or a model's folder", is_argument=True)
    against: tuple[AgentName, ...] = option(..., "an opponent", AGENTS, metavar="AGENT", min_length=1)
    deals: int = option(1000, "deals, each played from every side of the table", LENGTH, ge=1, le=MOST_DEALS)
    deals_from: str | None = option(None, "list or seed of the deals [default: --seed]", LENGTH, metavar=DEALS_FROM)
    seed: int = seed_option()
    luck: Luck = luck_option()
    json_file: File | None = json_output()


def evaluate_command(settings: EvaluationSettings) -> None:
    """Play duplicate matches of an agent against others and print the margins in points a game."""
    agent, game = settings.agent, settings.rules_for([settings.agent])
    with bar_of(agent) as show:
        results = training.evaluate(
            agent, settings.against, game, settings.deals, settings.seed, show,
            settings.deals_from, settings.luck,
        )  # fmt: skip
    if settings.json_file:
        write_json(settings.json_file, {"command": settings.line, "matches": [result.to_json() for result in results]})
    first = results[0]
    typer.echo(f"{game}: {first.deals} deals of {first.deals_from}, {first.games} games, seed {first.seed}")
    training.print_matches(results)


def arena_command(settings: ArenaSettings) -> None:
    """Play a tournament of agents over duplicate deals, and print who beats whom and by how much.

    The results are stored in DIR. If the arena is stopped or killed, the same command resumes it.
    """
    counts = len(settings.agents), len(settings.matches)
    entered = f"{counts[0]} agents, {counts[1]} match{'es' * (counts[1] > 1)}"
    told: list[str] = []

    with bar_of("games") as bar:

        def show(done: int, total: int) -> None:
            if not told:
                told.append(f"{total} games, {done} of them played before")
                listed = f"{settings.deals} deals of {describe_list(settings.deals_from)}"
                typer.echo(f"{settings.game_rules()}: {entered}, {listed}, {told[0]}")
            bar(done, total)

        games = training.run_arena(settings, show)
    table, header = training.standings(games), read_journal(settings.out, KIND).header
    if settings.json_file:
        write_json(settings.json_file, {"arena": header._asdict(), "standings": table.to_json()})
    training.print_standings(table)


def score_command(settings: ScoreSettings) -> None:
    """Score an agent by the official protocol, with a file that anyone can verify."""
    if settings.board:
        typer.echo(f"wrote {training.make_board(settings.board)}")
    elif settings.check:
        with bar_of("games") as show:
            deals, total = training.check_score(settings.check, settings.share, settings.agent, show)
        typer.echo(f"{settings.check}: {deals} of {total} deals replayed, all as in the file")
    else:
        with bar_of("games") as show:
            score = training.score_agent(settings, show)
        training.print_score(score)
        typer.echo(f"wrote {settings.out}")


def data_command(settings: data.DataSettings) -> None:
    """Play games, and write every decision as a row: a data set for learning offline.

    The rows and their card are stored in DIR. If the command is stopped or killed, the same command resumes it.
    """
    with bar_of("games") as show:
        made = data.make_data(settings, show)
    size = sum((made.folder / name).stat().st_size for name in made.card["files"])
    typer.echo(
        f"{made.rules}: {len(made):,} decisions of {settings.games:,} games, {size / 1e6:,.1f} MB in {settings.out}"
    )


def exploit_command(settings: ExploitSettings) -> None:
    """Find lower bounds on an agent's exploitability.

    Trains best responses to the agent, and plays searches that know its policy. The best exploiter is then measured
    on fresh deals. The exploiter plays one side, and the agent all others.
    """
    if settings.exact:
        _run_exactly(settings)
        return
    result = training.exploit(settings, Console(stderr=True))
    if settings.json_file:
        figures = {"exploit": result.to_json(), "settings": settings.identity(), "command": settings.line}
        write_json(settings.json_file, figures)
    _print_exploiters(result)


def _run_exactly(settings: ExploitSettings) -> None:
    """Compute an agent's exploitability in a small game, and print it."""
    rules, command = settings.rules_played(), settings.line
    with Console(stderr=True).status(f"asking {settings.agent} in every decision of {rules}"):
        measured = solving.measure(settings.agent, rules, settings.seeds)
    own, other = measured.best
    agent = label_of(settings.agent, rules)
    typer.echo(
        f"{agent} in '{rules}': best responses win {own:+.4f} points from the first seat and {other:+.4f} "
        f"from the second, so it can be exploited by {measured.exploitability:.4f} points a game"
    )
    if settings.out:
        solving.save(settings.out, measured, best_response=True, command=command)
        typer.echo(f"wrote {settings.out}: the best responses, which are an agent")
    if settings.json_file:
        figures: dict[str, Any] = {"agent": agent, "rules": str(rules), "best": [own, other]}
        figures |= {"exploitability": measured.exploitability, "seeds": settings.seeds, "command": command}
        write_json(settings.json_file, figures)


def _print_exploiters(result: ExploitResult) -> None:
    """Print a table of all exploiters, and the result of the best one on fresh deals in a sentence."""
    typer.echo(f"{result.rules}: exploiters of {result.agent} on {result.selection}, seed {result.seed}")
    rows = []
    for entry in result.exploiters:
        margin = margin_cells(entry.margin, entry.low, entry.high)
        luck = luck_cells(entry.adjusted) if result.adjusted else ()
        rows.append((f"{entry.kind} {entry.name}", entry.budget, f"{entry.seconds:.0f}", *margin, *luck))
    print_table((*EXPLOIT_COLUMNS, *(LUCK_COLUMNS if result.adjusted else ())), rows)
    typer.echo(f"On {result.measured}, which had no part in the choice: {result}.")
