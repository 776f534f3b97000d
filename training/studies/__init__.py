"""Studies: questions about good play, each a small file to copy and change, answered by interventions where possible.

study  what every study is, and the runner
registry  studies by name
play   chunks of deals, duplicate matches, one agent in every seat
habits  an agent with one habit changed
positions  positions from strong play, with every card played out
comparison  studies of changed players against themselves
intervals  samples as tables, figures and words
creep  creep or capture
setups  what is left to the next player
example  example M of the rulebook
shed   high cards and aces
last   the cards set aside and the last capture
seat   the lead and the seat
memory  what forgetting costs
partners  pairs of one kind and of strangers
variants  house rules
luck   luck and skill
advice  the rulebooks' advice
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
