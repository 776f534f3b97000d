"""OpenSpiel: all games of the family as one game there, `pyspiel.load_game("krypenv(preset=kasino-sweden,players=3)")`.

Importing this module registers the game (docs/openspiel.md).
"""

from krypenv.inputs.words import to_install

try:
    import pyspiel as pyspiel
except ImportError as error:
    raise ImportError(f"krypenv.envs.openspiel needs OpenSpiel; {to_install('openspiel')}") from error

from krypenv.envs.openspiel_bots import AgentBot as AgentBot
from krypenv.envs.openspiel_bots import Bot as Bot
from krypenv.envs.openspiel_bots import make_bot as make_bot
from krypenv.envs.openspiel_game import PARAMETERS as PARAMETERS
from krypenv.envs.openspiel_game import KrypGame as KrypGame
from krypenv.envs.openspiel_game import KrypState as KrypState
from krypenv.envs.openspiel_game import load as load
from krypenv.envs.openspiel_game import parameters_of as parameters_of
from krypenv.envs.openspiel_game import rules_of as rules_of
from krypenv.envs.openspiel_observer import Observer as Observer
