"""`krypenv imitate`."""

from __future__ import annotations

from krypenv.training.cli.outputs import check_folder
from krypenv.training.evaluation.matches.match_tables import print_matches
from krypenv.training.learn.imitation.imitate import ImitationSettings, run_imitation


def run(settings: ImitationSettings) -> None:
    """Record games of a search against itself with the values of all moves, and train a network to imitate it."""
    check_folder(settings.out)
    print_matches(run_imitation(settings))
