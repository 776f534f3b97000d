"""Questions about the game and about agents.

studies       the studies
solved        studies of them
misere        what changes where low scores are good
"""

from krypenv.runtime.lazy import importer

__getattr__, __dir__ = importer(__name__, {})
