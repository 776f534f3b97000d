"""Deep CFR of OpenSpiel in PyTorch (Brown et al. 2019), on a tree whose chance is sampled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encoding import Encoder, ask, sampled_game, seed_all
from ladder import Unfit
from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver

from krypenv import Rules

MOST_PLAYS = 1e5  # own plays in a traversal: it tries every card of every hand in every deal


def plays_of_traversal(rules: Rules) -> float:
    """Count the sequences of a seat's own plays, at most."""
    plays = 1.0
    for hands, _ in rules.deal_sizes():
        for cards in range(2, hands[0] + 1):
            plays *= cards
    return plays


def train(
    rules: Rules,
    seed: int,
    seconds: float,
    rate: float = 1e-3,
    units: int = 128,
    traversals: int = 1000,
    steps: int = 200,
) -> Iterator[Any]:
    """Yield the average policy after each iteration; raise Unfit where a traversal would not end."""
    if (plays := plays_of_traversal(rules)) > MOST_PLAYS:
        raise Unfit(f"a traversal tries up to {plays:.0e} sequences of own plays")
    seed_all(seed)
    encode = Encoder(rules)
    solver = DeepCFRSolver(
        sampled_game(rules), (units, units), (units, units), num_iterations=1, num_traversals=traversals,
        learning_rate=rate, batch_size_advantage=256, batch_size_strategy=256, memory_capacity=500_000,
        policy_network_train_steps=steps, advantage_network_train_steps=steps, seed=seed,
    )  # fmt: skip
    while True:
        solver.solve()
        yield lambda rows, masks: ask(solver._policy_network, encode(rows))
