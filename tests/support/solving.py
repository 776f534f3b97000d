"""What positions are worth by trying everything, and an agent for small games."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from krypenv import Game, Move, Rules
from krypenv.cards import parse_card

Margins = tuple[float, ...]  # of the sides


class Depth(NamedTuple):
    """Where the lines that are tried end, and how they are played on."""

    deal: int  # all moves are tried up to the end of this deal,
    plies: int = 99  # in so many plays at most,
    last: int = 0  # and then only those that cost least, up to the end of this deal or of the same one
    lone: int | None = None  # the side whose margin all others lower, None if each raises its own


def margins(game: Game) -> Margins:
    """By how much each side's score is better than the mean of the others (R14, R16, K1)."""
    sides = game.rules.num_teams
    scores = [sum(game.scores()[side::sides]) for side in range(sides)]
    mean = sum(scores) / (sides - 1)
    better = 1 if game.rules.goal == "high" else -1
    return tuple(better * (own * sides / (sides - 1) - mean) for own in scores)


def outcomes(game: Game, depth: Depth) -> set[Margins]:
    """All margins to which best play may lead, however ties are broken, by trying everything.

    Play may end as it does after some move if no other move is better for the mover however ties are broken below it.
    """
    if game.is_over or game.deal_number > depth.deal or depth.plies == 0:
        return cheapest(game, max(depth.deal, depth.last))
    mover = game.turn % game.rules.num_teams

    def worth(found: Margins) -> float:
        return found[mover] if depth.lone in (None, mover) else -found[depth.lone]

    below = list(after_moves(game, depth).values())
    worst = [min(map(worth, found)) for found in below]
    return {
        one
        for at, found in enumerate(below)
        for one in found
        if all(worth(one) >= least for other, least in enumerate(worst) if other != at)
    }


def after_moves(game: Game, depth: Depth) -> dict[Move, set[Margins]]:
    """The outcomes after each move of the seat to act, less its sweeps, which searches do not list."""
    found = {}
    for move in game.legal_moves():
        game.push(move)
        found[move._replace(sweep=0)] = outcomes(game, depth._replace(plies=depth.plies - 1))
        game.pop()
    return found


def cheapest(game: Game, last: int) -> set[Margins]:
    """All margins at the end of a deal if each seat makes a move that costs least at once.

    A move costs its points and twice those of a sweep, an own one or one that the next hand must make, which is taken
    off.
    """
    if game.is_over or game.deal_number > last:
        return {margins(game)}
    seat, sweep, costs = game.turn, 2 * game.rules.sweep_points, {}
    following, was_deal = (seat + 1) % game.rules.players, game.deal_number
    for move in game.legal_moves():
        won = map(parse_card, (move.card, *move.takes) if move.takes else ())
        costs[move] = int(game.rules.card_points[list(won)].sum()) + sweep * bool(move.sweep)
        game.push(move)
        if not move.sweep and not game.is_over and game.deal_number == was_deal and game.turn == following:
            costs[move] -= sweep * any(reply.sweep for reply in game.legal_moves())
        game.pop()
    found: set[Margins] = set()
    for move in [move for move, cost in costs.items() if cost == min(costs.values())]:
        game.push(move)
        found |= cheapest(game, last)
        game.pop()
    return found


def way(move: Move) -> tuple[object, ...]:
    """A move without the suits that it takes."""
    return move.card, tuple(sorted(card[0] for card in move.takes)), move.build, move.builds


def is_near(value: float, expected: Iterable[float]) -> bool:
    """Whether a value is one of those expected."""
    return any(abs(value - each) < 1e-9 for each in expected)


class Alternating:
    """Plays the first legal action and the last one in turn, as it remembers, or by what is left of a hand of three."""

    name = "alternating"

    def __init__(self, rules: Rules, seed: int = 0, *, remembers: bool = True) -> None:
        self.rules, self.remembers, self.calls = rules, remembers, 0

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """The actions; the rows of a call are decisions of the same number."""
        self.calls += 1
        held = observations[:, self.rules.layout["hand"]].sum(axis=1)
        is_first = self.calls % 2 == 1 if self.remembers else held % 2 == 1
        last = action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)
        return np.where(is_first, action_masks.argmax(axis=1), last)
