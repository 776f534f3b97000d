"""Studies: questions about good play, each a small file to copy and change, answered by interventions where possible.

study  what every study is, and the runner
registry  studies by name
play   habits, matches and self-play that they share
creep  creep or capture
setups  what is left to the next player
seat   the lead and the seat
shed   high cards and aces
memory  what forgetting costs
luck   luck and skill
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.studies.registry import STUDIES, study_of
    from krypenv.training.studies.study import Answer, Setup, Study, Task, run_study
else:
    __getattr__ = importer(
        __name__,
        {"registry": ("STUDIES", "study_of"), "study": ("Answer", "Setup", "Study", "Task", "run_study")},
    )

__all__ = ["STUDIES", "Answer", "Setup", "Study", "Task", "run_study", "study_of"]
