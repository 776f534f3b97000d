"""Krypkasino, Sweden's misère casino, as a reinforcement-learning environment."""

from krypenv import stopping as stopping  # isort: skip  # before all that takes a while to load

try:
    import gymnasium
    import pettingzoo

    from krypenv import krypkasino_v0
    from krypenv.engine import Engine, IllegalMove
    from krypenv.game import Game
    from krypenv.moves import Move
    from krypenv.rules import Rules
    from krypenv.worlds import determinize
except Exception as error:  # of a library that is missing or broken
    from pathlib import Path

    raise ImportError(f"{error}\nWhat is wrong is told by: python {Path(__file__).with_name('doctor.py')}") from error

__version__ = "0.1.0"
__all__ = ["Engine", "Game", "IllegalMove", "Move", "Rules", "determinize", "krypkasino_v0"]

gymnasium.register(
    id="Krypkasino-v0",
    entry_point="krypenv.adapters.gym:KrypkasinoEnv",
    vector_entry_point="krypenv.vector:KrypkasinoVectorEnv",
)
pettingzoo.register("aec", "krypkasino_v0", entry_point="krypenv.krypkasino_v0:env")
