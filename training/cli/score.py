"""The command `krypenv score`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

_RUN, _CHECK = "Playing for a score", "Files of scores"


def score(
    agent: Annotated[
        str | None, typer.Argument(help="the agent to score: a name, a model's folder, or module:Class")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="file for the score; required to play", rich_help_panel=_RUN)
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            help="official table to play, repeatable; all that the agent can play if not given", rich_help_panel=_RUN
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="a tenth of the deals: wider intervals in a few minutes", rich_help_panel=_RUN),
    ] = False,
    workers: Annotated[
        int, typer.Option(help="processes; the score does not depend on them", rich_help_panel=_RUN)
    ] = 1,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="verify a score file by replaying a random part of it", rich_help_panel=_CHECK
        ),
    ] = None,
    share: Annotated[
        float, typer.Option(help="part of the chunks that --check replays", min=0, max=1, rich_help_panel=_CHECK)
    ] = 0.05,
    seed: Annotated[int, typer.Option(help="seed of the choice of --check", min=0, rich_help_panel=_CHECK)] = 0,
    board: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="write FOLDER/board.md, a page of all scores there", rich_help_panel=_CHECK
        ),
    ] = None,
) -> None:
    """Score an agent by the official protocol, with a file that anyone can verify."""
    from krypenv.training.score.board import make_board
    from krypenv.training.score.protocol import DEALS, QUICK
    from krypenv.training.score.run import ScoreSettings, check_score, play_score

    if (check is not None) + (board is not None) + (out is not None) != 1:
        raise ValueError("give one of --out FILE to play, --check FILE to verify and --board FOLDER for a page")
    if board is not None:
        typer.echo(f"wrote {make_board(board)}")
        return
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("games")

        def show(done: int, games: int) -> None:
            bar.update(task, completed=done, total=games)

        if check is not None:
            deals, total = check_score(check, share, seed, agent or "", show)
        else:
            if agent is None or out is None:
                raise ValueError("name the agent to score")
            settings = ScoreSettings(agent, out, tuple(table or ()), QUICK if quick else DEALS, workers)
            result = play_score(settings, shlex.join(["krypenv", *sys.argv[1:]]), show)
    if check is not None:
        typer.echo(f"{check}: {deals} of {total} deals replayed, all as in the file")
        return
    from krypenv.training.score.report import print_score

    print_score(result)
    typer.echo(f"wrote {out}")
