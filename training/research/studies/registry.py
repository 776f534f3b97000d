"""Studies by name."""

from __future__ import annotations

from krypenv.inputs.words import did_you_mean, shown
from krypenv.training.lab.studying import Study
from krypenv.training.research.solved import baselines, late_deals, matched, recall, small
from krypenv.training.research.studies import (
    adjusted,
    creep,
    example,
    kings,
    last,
    luck,
    memory,
    partners,
    seat,
    setups,
    shed,
    variants,
)

ALL = (
    creep.STUDY, setups.STUDY, example.STUDY, shed.STUDY, kings.STUDY, last.STUDY, seat.STUDY, memory.STUDY,
    partners.STUDY, variants.STUDY, luck.STUDY, adjusted.STUDY, small.STUDY,
    matched.STUDY, recall.STUDY, baselines.STUDY, late_deals.STUDY,
)  # fmt: skip
STUDIES: dict[str, Study] = {study.name: study for study in ALL}


def study_of(name: str) -> Study:
    """Return a study; raises ValueError for an unknown name."""
    if name not in STUDIES:
        raise ValueError(f"there is no study {shown(name)}{did_you_mean(name, STUDIES)}; they are {', '.join(STUDIES)}")
    return STUDIES[name]
