"""Studies: questions about good play, each a small file to copy and change.

registry  studies by name
creep  creep or capture
setups  what is left to the next player
example  example M of the rulebook
shed   high cards and aces
kings  kings, the recipe for a study of your own
last   the cards set aside and the last capture
seat   the lead and the seat
memory  what forgetting costs
partners  pairs of one kind and of strangers
variants  house rules
luck   luck and skill
adjusted  luck taken out of margins
statements  what the guide and the rulebooks say, and the habits that are compared
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.research.studies.registry import STUDIES, study_of
else:
    __getattr__, __dir__ = importer(__name__, {"registry": ("STUDIES", "study_of")})

__all__ = ["STUDIES", "study_of"]
