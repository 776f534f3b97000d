"""Krypkasino, Sweden's misère casino, and its relatives as reinforcement-learning environments.

>>> from krypenv import Engine, Game, Rules, agents
>>> game = Game(Rules.preset("krypkasino", players=2), seed=7)
>>> game.push(game.legal_moves()[0])
>>> game.turn, game.scores()
(1, [0, 0])
>>> engine, agent = Engine(game.rules, num_games=100, seed=7), agents.make("tactician", game.rules)
>>> engine.step(agent.act(engine.observation, engine.action_mask))
"""

from krypenv.runtime import stopping as stopping  # isort: skip  # first: the rest takes a while to load

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def _pointing_to_doctor() -> Iterator[None]:
    """Add the command of the doctor to the error of a failed import."""
    try:
        yield
    except Exception as error:  # a library is missing or broken
        doctor = Path(__file__).with_name("doctor") / "report.py"
        raise ImportError(f"{error}\nTo see what is wrong, run: python {doctor}") from error


with _pointing_to_doctor():
    import gymnasium
    import lazy_loader
    import pettingzoo

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _pointing_to_doctor():
        return _load(name)


__version__ = "0.1.0"
for _family in ("krypkasino", "kasino", "mulle"):
    gymnasium.register(
        id=f"{_family.capitalize()}-v0",
        entry_point="krypenv.adapters.gym:LearnerEnv",
        vector_entry_point="krypenv.adapters.gym:LearnerVectorEnv",
        kwargs={"family": _family},
    )
    if hasattr(pettingzoo, "register"):  # from 1.27 on
        pettingzoo.register("aec", f"krypenv/{_family}-v0", entry_point=f"krypenv.{_family}_v0:env")
