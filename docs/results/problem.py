"""How large is Krypkasino? Print the figures on the card of the problem, in docs/researchers.md."""

from __future__ import annotations

import numpy as np

from krypenv import Engine, Game, Rules, agents

PLAYERS = ("2", "3", "4", "6", "4 teams=2")
HEAD = f"{'rules':28} actions legal forced SD of a game"


def size_of(text: str, games: int = 500) -> str:
    """Let a scripted agent play all seats, and return a row: length, branching, forced actions, SD of a lead."""
    rules = Rules.parse(text)
    agent = agents.make("tactician(shed=True)", rules)
    engine = Engine(rules, num_games=games, seed=0)
    sides = np.array([rules.team_of(seat) for seat in range(rules.players)])
    running, legal = np.ones(games, bool), list[int]()
    scores = np.zeros((games, rules.players))
    while running.any():
        legal.extend(engine.action_mask[running].sum(axis=1))
        engine.step(agent.act(engine.observation, engine.action_mask))
        ended = running & engine.finished
        scores[ended] = engine.final_scores[ended]
        running &= ~ended
    totals = scores @ (sides[:, None] == np.unique(sides))
    lead = totals[:, 0] - totals[:, 1:].mean(axis=1)
    forced = np.mean(np.equal(legal, 1))
    return f"{text:28} {len(legal) / games:6.1f} {np.mean(legal):6.2f} {forced:6.0%} {lead.std():6.1f}"


def hidden_hands() -> float:
    """Return how many hands the other seat may hold at the first decision between two."""
    game = Game(Rules.preset("krypkasino"), seed=0)
    seen = game.table + game.hand(game.turn)
    hands = np.polynomial.Polynomial([1])
    for name in set(game.deck):
        hands *= np.polynomial.Polynomial([1] * (3 - seen.count(name)))
    return float(hands.coef[len(game.hand(1 - game.turn))])


if __name__ == "__main__":
    print(HEAD)
    for players in PLAYERS:
        print(size_of(f"krypkasino players={players}"))
    print(f"hidden hands at the first decision: {hidden_hands():.1e}")
