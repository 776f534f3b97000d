"""`krypenv arena`."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.training.cli.outputs import check_files
from krypenv.training.evaluation.arena import arena
from krypenv.training.evaluation.arena.arena import ArenaSettings
from krypenv.training.evaluation.arena.games import KIND
from krypenv.training.evaluation.arena.standings import standings
from krypenv.training.evaluation.arena.tables import print_standings, write_report
from krypenv.training.evaluation.matches.deal_lists import describe_list
from krypenv.training.runs.journal import read_journal
from krypenv.training.runs.tables import write_json


def run(settings: ArenaSettings) -> None:
    """Play a tournament of agents over duplicate deals, and print who beats whom and by how much.

    The results are stored in DIR. If the arena is stopped or killed, the same command resumes it.
    """
    out = settings.out
    page = out / "report.html" if settings.report else None
    check_files(page)

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:

        def show(done: int, total: int) -> None:
            if not bar.tasks:
                source = describe_list(settings.deals_from)
                typer.echo(
                    f"{settings.game_rules()}: {len(settings.agents)} agents, {len(settings.matches)} matches, "
                    f"{settings.deals} deals of {source}, {total} games, {done} of them played"
                )
                bar.add_task("games", total=total, completed=done)
            bar.update(bar.task_ids[0], completed=done)

        games = arena.run_arena(settings, show)
    table, header = standings(games), read_journal(out, KIND).header
    if page:
        write_report(page, table, header)
    if settings.json_file:
        write_json(settings.json_file, {"arena": header._asdict(), "standings": table.to_json()})
    print_standings(table)
