"""How strong agents are.

luck      what the cards bring, taken out of margins
matches   matches over duplicate deals
arena     tournaments
score     official scores
analysis  positions and games, move by move
"""

from krypenv.runtime.lazy import importer

__getattr__, __dir__ = importer(__name__, {})
