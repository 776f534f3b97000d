"""Studies by name."""

from __future__ import annotations

from krypenv.inputs.words import did_you_mean, shown
from krypenv.training.research.lab.studying import Study
from krypenv.training.research.studies import (
    advice,
    creep,
    example,
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

STUDIES: dict[str, Study] = {
    module.STUDY.name: module.STUDY
    for module in (creep, setups, example, shed, last, seat, memory, partners, variants, misere, luck, advice, small)
}


def study_of(name: str) -> Study:
    """Return a study; raises ValueError for an unknown name."""
    if name not in STUDIES:
        raise ValueError(f"there is no study {shown(name)}{did_you_mean(name, STUDIES)}; they are {', '.join(STUDIES)}")
    return STUDIES[name]
