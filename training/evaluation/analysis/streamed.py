"""An analysis move by move, as plain values, which a page requests from another process.

The engine is loaded at the first request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krypenv.game.game import Game


def examine_move(game: Game, move: str, agent: str) -> dict[str, Any]:
    """Analyse a move of a game; return the JSON values of `RecordedMove.to_json`.

    An agent that can't value moves is replaced by the default agent of analyses.
    """
    from krypenv.advice.values import gives_values
    from krypenv.agents import make_known
    from krypenv.game.moves import Move
    from krypenv.training.evaluation.analysis.analysis import Judge

    able = agent if gives_values(make_known(agent, game.rules)) else None
    return Judge.of(game.rules, able).record(game, Move.parse(move)).to_json()


def measure_luck(game: Game, seat: int, name: str, whom: str, language: str) -> dict[str, Any]:
    """Measure the luck in each deal of a game: `GameLuck.to_json`, with `told`, a sentence about a seat's side.

    The sentence is empty if no deal was both dealt and finished in the game.
    """
    from krypenv.training.evaluation.luck.game_luck import luck_of_game

    luck = luck_of_game(game)
    sentence = luck.tell(seat % luck.margins.shape[1], name, whom, language) if luck.deals else ""
    return luck.to_json() | {"told": sentence}
