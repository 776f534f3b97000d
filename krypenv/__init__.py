"""Krypkasino, Sweden's misère casino, as a reinforcement-learning environment."""

from krypenv.engine import Engine, IllegalMove
from krypenv.rules import Rules

__version__ = "0.1.0"
__all__ = ["Engine", "IllegalMove", "Rules"]
