"""`krypenv imitate`."""

from __future__ import annotations

from krypenv.training.cli.outputs import check_folder
from krypenv.training.evaluation.matches.duplicate import print_matches
from krypenv.training.learn.imitation import imitate
from krypenv.training.learn.imitation.imitate import ImitationSettings


def run(settings: ImitationSettings) -> None:
    """Record games of a search against itself with the values of all moves, and train a network to imitate it."""
    check_folder(settings.out)
    print_matches(imitate.run_imitation(settings))
