"""What is perfect play of the last two deals worth?

Positions come from games of an agent, in the deal before the last one. With four and five cards in both hands they are
solved for all hands that the seats may hold, and agents are measured there without what was played before. In whole
deals, with eight cards, a best response that is told some hands, one of which the other seat holds, bounds an agent's
exploitability from above.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv import Game, Rules, agents
from krypenv.training import lab
from krypenv.training.solving import (
    Bounds,
    Equilibrium,
    grow_for_agents,
    grow_late,
    look,
    lost_to_equilibrium,
    measure,
    solve_late,
)

FEW, MORE, WHOLE = 4, 5, 8  # cards in both hands
RARER = 10  # positions with few cards for each one with more
LOST, BEST, FIRST = "lost to an equilibrium", "exploitability", "lost by the first play"
BOUND = "exploitability, at most"
ASKED = {"random": 1, "greedy": 8, "tactician(shed=True)": 8, "search": 2, "champion(worlds=0)": 1, "champion": 2}
COMPARED = ("search", "champion(worlds=0)", "champion")  # whose bounds are compared with what is exact
HANDS = (2, 8, 32, 0)  # that the responder is told; 0 for all
MOST_HANDS = {"champion": 32}  # in whole deals; more take too long
SAMPLES = 10  # last deals by which the ends of a whole deal are valued
RESOLVED, OFTEN = "solves the deal before the last one", 3  # in so many positions for each one with more cards
SMALL = "mini-hidden"


def late_game(rules: Rules, agent: str, seed: int, number: int, cards: int) -> Game:
    """Return a game of an agent in the deal before the last one, when the hands hold so many cards."""
    player = agents.make(agent, rules, seed)
    game = Game(rules, seed=int(np.random.default_rng([seed, number]).integers(2**31)))
    last = len(rules.deal_sizes())
    while game.pending is not None or game.deal_number < last - 1 or len(game.hand(0)) + len(game.hand(1)) > cards:
        seen, mask = game.observation(history=True), game.action_mask()
        game.act(int(player.act(seen[None], mask[None])[0]))
    return game


def losses(rules: str, agent: str, seed: int, number: int, cards: int, resolves: bool) -> dict[str, Any]:
    """Return what agents lose in a position, in points, by measure."""
    game = late_game(Rules.parse(rules), agent, seed, number, cards)
    perfect = solve_late(game, threads=1)
    margins = {each.move: each.margin for each in look(perfect, game, knows_plays=False).moves}
    players: dict[str, Any] = {name: (name, seeds) for name, seeds in ASKED.items()}
    if resolves:
        players[RESOLVED] = (Equilibrium(game.rules, hands=32, samples=SAMPLES), 1)
    found: dict[str, dict[str, float]] = {LOST: {}, BEST: {}, FIRST: {}}
    for name, (player, seeds) in players.items():
        measured = measure(player, game.rules, seeds, 1, perfect.trees)
        found[LOST][name] = lost_to_equilibrium(perfect, measured, 1)
        found[BEST][name] = measured.exploitability
        if len(margins) > 1:
            plays = look(measured, game, knows_plays=False).moves
            expected = sum(each.probability * margins[each.move] for each in plays)
            found[FIRST][name] = max(margins.values()) - expected
    return found


def bounds(rules: str, agent: str, seed: int, number: int, cards: int) -> dict[str, dict[str, float]]:
    """Return what best responses gain on agents in a position, the mean of both seats in points, by hands told."""
    game = late_game(Rules.parse(rules), agent, seed, number, cards)
    is_whole = cards == WHOLE
    found = {}
    for hands in HANDS:
        both: dict[str, list[float]] = {}
        for seat in range(2):
            draw = int(np.random.default_rng([seed, number, seat]).integers(2**31))
            told = Bounds(hands, draw, responder=seat, samples=SAMPLES if is_whole else 0)
            trees = grow_late(game, told, 1)
            for name in ASKED if is_whole else COMPARED:
                if not is_whole or name not in MOST_HANDS or 0 < hands <= MOST_HANDS[name]:
                    seeds = 1 if is_whole else ASKED[name]
                    gains = measure(name, game.rules, seeds, 1, trees).gains
                    both.setdefault(name, []).append(gains[seat])
        found[str(hands)] = {name: float(np.mean(gains)) for name, gains in both.items()}
    return found


def of_a_small_game(preset: str) -> dict[str, float]:
    """Return the exploitability of `Equilibrium`, with all hands, and of search."""
    rules = Rules.preset(preset)
    trees = grow_for_agents(rules)
    players: dict[str, Any] = {RESOLVED: Equilibrium(rules, hands=500, samples=0), "search": "search"}
    return {name: measure(player, rules, 2, 1, trees).exploitability for name, player in players.items()}


def positions(setup: lab.Setup, cards: int) -> int:
    """Return how many positions with so many cards there are."""
    return setup.deals if cards == FEW else setup.deals // RARER


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return the positions to solve and to bound, and the small game."""
    about = {"rules": str(setup.rules), "agent": setup.agent, "seed": setup.seed}
    found = [lab.Task(SMALL, of_a_small_game, {"preset": SMALL})]
    for cards in (WHOLE, MORE, FEW):
        for number in range(positions(setup, cards)):
            here = {**about, "number": number, "cards": cards}
            found.append(lab.Task(f"{cards} cards, {number}, bounds", bounds, here))
            if cards < WHOLE:
                resolves = cards == FEW and number < OFTEN * positions(setup, MORE)
                found.append(lab.Task(f"{cards} cards, {number}", losses, {**here, "resolves": resolves}))
    return found


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Return what agents lose, and their bounds; where they are known exactly, by what a bound is larger."""
    samples: dict[str, list[float]] = {}
    bounded: dict[str, list[float]] = {}
    for cards in (FEW, MORE, WHOLE):
        for number in range(positions(setup, cards)):
            exact = results.get(f"{cards} cards, {number}", {})
            for measure_name, by_agent in exact.items():
                for name, lost in by_agent.items():
                    samples.setdefault(f"{measure_name}, {cards} cards, {name}", []).append(lost)
            gains = results[f"{cards} cards, {number}, bounds"]
            for hands, by_agent in gains.items():
                for name, gained in by_agent.items():
                    known = exact[BEST][name] - gains["0"][name] if exact else 0.0  # the luck of the own hand
                    key = f"{cards} cards, {'all' if hands == '0' else hands} hands, {name}"
                    bounded.setdefault(key, []).append(known + gained)
    intervals = {name: lab.interval(np.array(each)) for name, each in samples.items()}
    limits = {f"{BOUND}, {name}": lab.interval(np.array(each)) for name, each in bounded.items()}
    return lab.Answer({**lab.figures_of(intervals), "bounds": lab.figures_of(limits), SMALL: results[SMALL]})


QUESTION = "What is perfect play of the last two deals worth?"
STUDY = lab.Study("late", QUESTION, tasks, answer, deals=60, agent="champion")

if __name__ == "__main__":
    lab.main(STUDY)
