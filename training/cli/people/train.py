"""`krypenv train`."""

from __future__ import annotations

from krypenv.training.cli.outputs import check_folder
from krypenv.training.learn.selfplay.settings import Settings


def run(settings: Settings) -> None:
    """Train an agent by self-play and evaluate it. The defaults below are those of the preset quick."""
    from krypenv.training.learn.selfplay import selfplay

    check_folder(settings.resume or settings.out or "runs")
    selfplay.train(settings)
