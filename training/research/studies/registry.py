"""Studies by name."""

from __future__ import annotations

from krypenv.inputs.words import did_you_mean, shown
from krypenv.training.lab.studying import Study
from krypenv.training.research.solved import baselines, late_deals, matched, recall, small
from krypenv.training.research.studies import seat

ALL = (seat.STUDY, small.STUDY, matched.STUDY, recall.STUDY, baselines.STUDY, late_deals.STUDY)
STUDIES: dict[str, Study] = {study.name: study for study in ALL}


def study_of(name: str) -> Study:
    """Return a study; raises ValueError for an unknown name."""
    if name not in STUDIES:
        raise ValueError(f"there is no study {shown(name)}{did_you_mean(name, STUDIES)}; they are {', '.join(STUDIES)}")
    return STUDIES[name]
