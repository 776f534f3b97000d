"""`krypenv score`."""

from __future__ import annotations

import typer

from krypenv.training.evaluation.score import playing
from krypenv.training.evaluation.score.board import make_board, print_score
from krypenv.training.evaluation.score.playing import ScoreSettings
from krypenv.training.runs.progress import bar_of


def run(settings: ScoreSettings) -> None:
    """Score an agent by the official protocol, with a file that anyone can verify."""
    if settings.board is not None:
        typer.echo(f"wrote {make_board(settings.board)}")
        return
    with bar_of("games") as show:
        if settings.check is None:
            result = playing.score_agent(settings, show)
        else:
            deals, total = playing.check_score(settings.check, settings.share, settings.seed, settings.agent, show)
    if settings.check is not None:
        typer.echo(f"{settings.check}: {deals} of {total} deals replayed, all as in the file")
        return
    print_score(result)
    typer.echo(f"wrote {settings.out}")
