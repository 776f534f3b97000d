"""Positions with builds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from krypenv import Game, Rules
from krypenv.cards import card_name
from support.games import lay, small_first

SMALL = 7  # loose cards on a table whose moves the tests list


def positions(rules: Rules, seed: int) -> Iterator[Game]:
    """A game at each of its plays; whoever can build often does."""
    rng = np.random.default_rng(seed)
    game = Game(rules, deck=map(card_name, small_first(rules, rng)))
    while not game.is_over:
        if len(game.table) > SMALL:  # a table that grows too large is left to the actions
            game.act(int(rng.choice(np.flatnonzero(game.action_mask()))))
            continue
        yield game
        moves = game.legal_moves()
        builds = [move for move in moves if move.build is not None or move.builds]
        chosen = builds if builds and rng.random() < 0.6 else moves
        game.push(chosen[int(rng.integers(len(chosen)))])


def at(table: str, *hands: str, rules: str = "mulle-glimne players=2", **more: str) -> Game:
    """Return a position in which all other cards lie in the pile of seat 1; `build_9` and `owner_9` tell of a build."""
    told = {name.replace("_", " "): text for name, text in more.items()}
    told = {"captured 1": "rest", "stock": "-"} | told
    return lay(table, *hands, rules=rules, more="; ".join(f"{key}: {text}" for key, text in told.items()))
