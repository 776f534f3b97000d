"""Questions about the game and about agents.

studies       the studies
solved        studies of them
"""

from krypenv.runtime.lazy import importer

__getattr__, __dir__ = importer(__name__, {})
