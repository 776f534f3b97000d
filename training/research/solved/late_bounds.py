"""Whole late deals of the full game: how much a best response gains on agents, by bounded ranges.

Exploitability is the mean, over the seats and their hands, of what a best response gains on the agent in its place.
Here the responder is dealt one hand, and told a few of which the other seat holds one. Told more, it gains more. So the
mean over such deals is an upper bound of the exploitability, which falls as ranges grow, and is exact with all hands.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from krypenv import agents
from krypenv.one_game import Game
from krypenv.rules import Rules
from krypenv.training.solving.growing import Trees
from krypenv.training.solving.late import grow_late
from krypenv.training.solving.pairs import SAMPLES, Bounds
from krypenv.training.solving.policies import policy_of
from krypenv.training.solving.solving import evaluate, respond, with_policies

WHOLE = 8  # cards in both hands when the deal before the last one begins
HANDS = (2, 8, 32, 0)  # that the other seat may hold; 0 for all
MOST_HANDS = {"champion": 32}  # for agents that take too long with all
COMPARED = {"search": 2, "champion(worlds=0)": 1, "champion": 2}  # how often they are asked in smaller positions


def late_game(rules: Rules, agent: str, seed: int, number: int, cards: int) -> Game:
    """Return a game in the deal before the last one, when the hands hold so many cards; an agent has played it."""
    player = agents.make_known(agent, rules, seed)
    game = Game(rules, seed=int(np.random.default_rng([seed, number]).integers(2**31)))
    last = len(rules.deal_sizes())
    while (
        game.pending is not None
        or game.deal_number < last - 1
        or sum(len(game.hand(seat)) for seat in range(2)) > cards
    ):
        mask = np.zeros((1, rules.num_actions), np.int8)
        mask[0, game.legal_actions()] = 1
        game.act(int(player.act(game.observation(history=True)[None], mask)[0]))
    return game


def hide_plays(trees: Trees) -> Trees:
    """Return trees in which agents see no history."""
    size = trees.rules.observation_size
    forests = [forest._replace(seen=np.ascontiguousarray(forest.seen[:, :size])) for forest in trees.forests]
    return dataclasses.replace(trees, forests=forests)


def of_a_response(
    rules: str, agent: str, seed: int, number: int, cards: int, asked: dict[str, int]
) -> dict[str, Any]:  # fmt: skip
    """Return what best responses gain on agents in a position, the mean of both seats in points, by hands in a range.

    Each seat is dealt one hand. Agents see what was played in the deal if it is whole, and nothing otherwise.
    """
    game = late_game(Rules.parse(rules), agent, seed, number, cards)
    gains: dict[str, dict[str, float]] = {spec: {} for spec in asked}
    for hands in HANDS:
        found: dict[str, list[float]] = {}
        for seat in range(2):
            draw = int(np.random.default_rng([seed, number, seat]).integers(2**31))
            bounds = Bounds(hands, draw, responder=seat, samples=SAMPLES if cards == WHOLE else 0)
            trees = grow_late(game, bounds, 1)
            if cards < WHOLE:
                trees = hide_plays(trees)
            for spec, seeds in asked.items():
                if cards < WHOLE or spec not in MOST_HANDS or 0 < hands <= MOST_HANDS[spec]:
                    found.setdefault(spec, []).append(gain_of_response(trees, spec, seeds, seat))
        for spec, both in found.items():
            gains[spec][str(hands)] = float(np.mean(both))
    return {"position": game.position(), "cards": cards, "gains": gains}


def gain_of_response(trees: Trees, spec: str, seeds: int, seat: int) -> float:
    """Return the points that a seat gains by a best response to an agent, on the agent in its own place."""
    forest = trees.forests[0]
    policy = sum(policy_of(spec, trees.rules, forest, each, seeds) for each in range(2))
    solved = evaluate(respond(with_policies(trees, [np.asarray(policy)]), 1), 1)
    return solved.best[seat] - (solved.value if seat == 0 else -solved.value)
