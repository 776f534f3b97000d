"""Studies by name."""

from __future__ import annotations

from krypenv.inputs.words import did_you_mean, shown
from krypenv.training.research.lab.studying import Study
from krypenv.training.research.studies import (
    advice,
    creep,
    example,
    kings,
    last,
    luck,
    memory,
    misere,
    partners,
    seat,
    setups,
    shed,
    small,
    variants,
)

MODULES = (
    creep, setups, example, shed, kings, last, seat, memory, partners, variants, misere, luck, advice, small,
)  # fmt: skip
STUDIES: dict[str, Study] = {module.STUDY.name: module.STUDY for module in MODULES}


def study_of(name: str) -> Study:
    """Return a study; raises ValueError for an unknown name."""
    if name not in STUDIES:
        raise ValueError(f"there is no study {shown(name)}{did_you_mean(name, STUDIES)}; they are {', '.join(STUDIES)}")
    return STUDIES[name]
