"""Krypkasino, Sweden's misère casino, as a reinforcement-learning environment."""

from krypenv.runtime import stopping as stopping  # isort: skip  # first, for the rest takes a while to load

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer, tell_doctor

with tell_doctor():
    import gymnasium
    import pettingzoo

if TYPE_CHECKING:
    from krypenv import krypkasino_v0
    from krypenv.engine import Engine, IllegalMove
    from krypenv.game.game import Game
    from krypenv.game.moves import Move
    from krypenv.kernels.worlds import determinize
    from krypenv.rules import Rules
else:
    __getattr__ = importer(
        __name__,
        {
            "engine": ("Engine", "IllegalMove"),
            "game.game": ("Game",),
            "game.moves": ("Move",),
            "kernels.worlds": ("determinize",),
            "rules": ("Rules",),
        },
    )

__version__ = "0.1.0"
__all__ = ["Engine", "Game", "IllegalMove", "Move", "Rules", "determinize", "krypkasino_v0"]

gymnasium.register(
    id="Krypkasino-v0",
    entry_point="krypenv.envs.gym:KrypkasinoEnv",
    vector_entry_point="krypenv.envs.vector:KrypkasinoVectorEnv",
)
pettingzoo.register("aec", "krypkasino_v0", entry_point="krypenv.krypkasino_v0:env")
