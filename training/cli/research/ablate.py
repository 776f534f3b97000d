"""`krypenv ablate`."""

from __future__ import annotations

from krypenv.training.cli.outputs import check_folder
from krypenv.training.research.ablation import ablating
from krypenv.training.research.ablation.settings import AblationSettings


def run(settings: AblationSettings) -> None:
    """Train without each part in turn, over several seeds, and print what each part is worth, with intervals.

    With --preset it trains whole presets instead, and prints what each reaches and whether more training is better.
    """
    check_folder(settings.out)
    ablating.ablate(settings)
