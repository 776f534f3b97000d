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

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer, tell_doctor

with tell_doctor():
    import gymnasium
    import pettingzoo

if TYPE_CHECKING:
    from krypenv import adapters, agents, kasino_v0, krypkasino_v0, mulle_v0, observation, training
    from krypenv.engine import Engine, IllegalMove
    from krypenv.game.game import Game
    from krypenv.game.moves import Move
    from krypenv.rules import Rules
    from krypenv.worlds.determinize import determinize
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "engine": ("Engine", "IllegalMove"),
            "game.game": ("Game",),
            "game.moves": ("Move",),
            "worlds.determinize": ("determinize",),
            "rules": ("Rules",),
        },
    )

__version__ = "0.1.0"
__all__ = [
    "Engine", "Game", "IllegalMove", "Move", "Rules", "adapters", "agents", "determinize", "kasino_v0", "krypkasino_v0",
    "mulle_v0", "observation", "training",
]  # fmt: skip

for _name, _module in (("Krypkasino", "krypkasino"), ("Kasino", "kasino"), ("Mulle", "mulle")):
    gymnasium.register(
        id=f"{_name}-v0",
        entry_point=f"krypenv.adapters.gym:{_name}Env",
        vector_entry_point=f"krypenv.adapters.vector:{_name}VectorEnv",
    )
    if hasattr(pettingzoo, "register"):  # from 1.27 on
        pettingzoo.register("aec", f"{_module}_v0", entry_point=f"krypenv.{_module}_v0:env")
