"""The command `krypenv score`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.training.cli.options import OnRay, RayAddress, Workers, flag, option
from krypenv.training.runs.panels import AGENTS, INPUT, LENGTH, OUTPUT


def score(
    agent: Annotated[
        str | None,
        typer.Argument(rich_help_panel=AGENTS, help="the agent to score: a name, a model's folder, or module:Class"),
    ] = None,
    table: Annotated[
        list[str] | None,
        option(panel=LENGTH, help="official table to play; repeatable", default="all tables that the agent can play"),
    ] = None,
    quick: Annotated[bool, flag("--quick", LENGTH, "play a tenth of the deals: minutes, and wider intervals")] = False,
    workers: Workers = 1,
    ray: OnRay = False,
    ray_address: RayAddress = None,
    check: Annotated[
        Path | None, option(panel=INPUT, metavar="FILE", help="verify a score file by replaying a random part of it")
    ] = None,
    share: Annotated[float, option(panel=INPUT, help="fraction that --check replays, from 0 to 1")] = 0.05,
    seed: Annotated[int, option(panel=INPUT, help="seed that chooses the part that --check replays")] = 0,
    out: Annotated[
        Path | None, option(panel=OUTPUT, metavar="FILE", help="play, and write the score to this file")
    ] = None,
    board: Annotated[
        Path | None, option(panel=OUTPUT, metavar="FOLDER", help="write FOLDER/board.md from all score files there")
    ] = None,
) -> None:
    """Score an agent by the official protocol, with a file that anyone can verify."""
    from krypenv.training.cli.outputs import check_files, check_folder
    from krypenv.training.evaluation.score.board import make_board
    from krypenv.training.evaluation.score.playing import ScoreSettings, check_score, journal_of, play_score
    from krypenv.training.evaluation.score.protocol import DEALS, QUICK
    from krypenv.training.runs import executor_of

    if (check is not None) + (board is not None) + (out is not None) != 1:
        raise ValueError("give one of --out FILE to play, --check FILE to verify and --board FOLDER for a page")
    if board is not None:
        typer.echo(f"wrote {make_board(board)}")
        return
    if out is not None:
        check_files(out)
        check_folder(journal_of(out))
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
            where = executor_of(workers, ray, ray_address)
            settings = ScoreSettings(agent, out, tuple(table or ()), QUICK if quick else DEALS, where)
            result = play_score(settings, shlex.join(["krypenv", *sys.argv[1:]]), show)
    if check is not None:
        typer.echo(f"{check}: {deals} of {total} deals replayed, all as in the file")
        return
    from krypenv.training.evaluation.score.score_table import print_score

    print_score(result)
    typer.echo(f"wrote {out}")
