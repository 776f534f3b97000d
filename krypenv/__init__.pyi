from . import (
    adapters as adapters,
    agents as agents,
    kasino_v0 as kasino_v0,
    krypkasino_v0 as krypkasino_v0,
    mulle_v0 as mulle_v0,
    observation as observation,
    training as training,
)
from .engine import Engine as Engine, IllegalMove as IllegalMove
from .game.game import Game as Game
from .game.moves import Move as Move
from .rules import Rules as Rules
from .worlds.determinize import determinize as determinize

__version__: str
