"""Positions that tests of studies share, and cards by their names."""

from __future__ import annotations

import numpy as np

from krypenv import Engine, Game, Rules
from krypenv.cards import NUM_KINDS, card_name

TWO = Rules.preset("krypkasino", players=2)
STRONG = "champion(worlds=0)"
HAND_VALUES = {"A": 14, "T": 10, "J": 11, "Q": 12, "K": 13}
POINTS = {"TD": 3, "2S": 2, "AS": 2, "AC": 1, "AD": 1, "AH": 1}


def positions(rules: Rules, rows: int = 200, seed: int = 0) -> Engine:
    """Games some random moves in, row by row further."""
    engine = Engine(rules, rows, seed)
    for move in range(40):
        engine.step(engine.sample_actions(np.arange(move * rows // 40, rows)), np.arange(move * rows // 40, rows))
    return engine


def games(rules: Rules, seeds: int = 3) -> list[Game]:
    """Decisions between several cards, out of games of random legal moves."""
    random, found = np.random.default_rng(0), []
    for seed in range(seeds):
        game = Game(rules, seed=seed)
        while not game.is_over:
            if game.action_mask()[:NUM_KINDS].sum() > 1:
                found.append(game.copy())
            game.push(game.legal_moves()[int(random.integers(len(game.legal_moves())))])
    return found


def points_of(name: str) -> int:
    """The points of a card (R3)."""
    return POINTS.get(name, int(name[1] == "S"))


def names_of(allowed: np.ndarray) -> set[str]:
    """The cards to play among some actions."""
    return {card_name(int(card)) for card in np.flatnonzero(allowed[:NUM_KINDS])}
