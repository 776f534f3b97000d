"""How agents are trained.

learner    the network and PPO
imitation  initial weights from a teacher
selfplay   a training run
ladder     the agents around a learner
"""

from krypenv.runtime.lazy import importer

__getattr__, __dir__ = importer(__name__, {})
