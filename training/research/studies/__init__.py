"""Studies: questions about good play, each a small file to copy and change.

registry  studies by name
seat   the lead and the seat
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.research.studies.registry import STUDIES, study_of
else:
    __getattr__, __dir__ = importer(__name__, {"registry": ("STUDIES", "study_of")})

__all__ = ["STUDIES", "study_of"]
