"""Krypkasino, Sweden's misère casino, as a reinforcement-learning environment."""

from krypenv import stopping as stopping  # isort: skip  # before all that takes a while to load

from typing import TYPE_CHECKING

from krypenv.lazy import importer, tell_doctor

with tell_doctor():
    import gymnasium
    import pettingzoo

if TYPE_CHECKING:
    from krypenv import krypkasino_v0
    from krypenv.engine import Engine, IllegalMove
    from krypenv.game import Game
    from krypenv.moves import Move
    from krypenv.rules import Rules
    from krypenv.worlds import determinize
else:
    __getattr__ = importer(
        __name__,
        {
            "engine": ("Engine", "IllegalMove"),
            "game": ("Game",),
            "moves": ("Move",),
            "rules": ("Rules",),
            "worlds": ("determinize",),
        },
    )

__version__ = "0.1.0"
__all__ = ["Engine", "Game", "IllegalMove", "Move", "Rules", "determinize", "krypkasino_v0"]

gymnasium.register(
    id="Krypkasino-v0",
    entry_point="krypenv.adapters.gym:KrypkasinoEnv",
    vector_entry_point="krypenv.vector:KrypkasinoVectorEnv",
)
pettingzoo.register("aec", "krypkasino_v0", entry_point="krypenv.krypkasino_v0:env")
