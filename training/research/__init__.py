"""Questions about the game and about agents.

solved        studies of them
"""

from krypenv.runtime.lazy import importer

__getattr__, __dir__ = importer(__name__, {})
