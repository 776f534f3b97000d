"""`krypenv train`."""

from __future__ import annotations

from krypenv.training.cli.outputs import check_folder
from krypenv.training.learn.settings import TrainSettings


def run(settings: TrainSettings) -> None:
    """Train an agent by self-play and evaluate it."""
    from krypenv.training.learn import run

    check_folder(settings.resume or settings.out or "runs")
    run.train(settings)
