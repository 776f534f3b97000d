"""Rewards of a game in words that training measures: the regret of each move, and returns with luck taken out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from krypenv.envs.text_game import Measures
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.rules import Rules
from krypenv.training.evaluation.analysis.analysis import Judge
from krypenv.training.evaluation.luck.game_luck import luck_of_game

JUDGE = "search(worlds=30)"
REDEALS = 40  # for the mean value of a deal


def measures_by(judge: str = JUDGE, redeals: int = REDEALS) -> Measures:
    """Make the measures of `krypenv.envs.text_game.TextGame`.

    Args:
        judge: the agent whose values of moves give the regret of each, as in `analyze`.
        redeals: deals with which the luck of each deal is measured.

    >>> from krypenv.envs.text_game import Terms, TextGame
    >>> text = TextGame(Terms("mini-low", opponents="random", reward="regret"), 7, measures_by("search(worlds=4)"))
    >>> text.answer(str(text.game.legal_moves()[0])).reward <= 0
    True
    """
    judge_of = lru_cache(maxsize=64)(lambda rules: Judge.of(rules, judge))
    judge_of(Rules())  # raises ValueError for an agent that values no moves

    def regret(game: Game, move: Move) -> float:
        return judge_of(game.rules).record(game, move).regret

    def luck(game: Game) -> np.ndarray:
        return luck_of_game(game, redeals).luck.sum(axis=0)

    return Measures(regret, luck)
