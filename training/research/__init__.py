"""Questions about the game and about agents.

studies       the studies
lab           what studies share
belief        what agents know about hidden hands
exact         small games solved exactly
solved        studies of them
misere        what changes where low scores are good
exploit       how much an agent loses to one that knows it
ablation      what each part of training is worth
coefficients  the coefficients of luck, fitted and stored
"""

from krypenv.runtime.lazy import importer

__getattr__, __dir__ = importer(__name__, {})
