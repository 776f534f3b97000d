"""Policy space response oracles of OpenSpiel (Lanctot et al. 2017) with exact best responses; needs cvxpy.

Its other oracles are agents in JAX, which the package does not install.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

from encoding import seed_all, tree_of
from ladder import Tables
from open_spiel.python.algorithms.exploitability import exploitability
from open_spiel.python.algorithms.policy_aggregator import PolicyAggregator
from open_spiel.python.algorithms.psro_v2.best_response_oracle import BestResponseOracle
from open_spiel.python.algorithms.psro_v2.psro_v2 import PSROSolver
from open_spiel.python.policy import TabularPolicy, tabular_policy_from_callable

from krypenv import Rules


def train(rules: Rules, seed: int, seconds: float, games: int = 50) -> Iterator[Tables]:
    """Yield the mixture after each iteration; `games` estimate an entry of the matrix."""
    seed_all(seed)
    game = tree_of(rules)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its settings
        solver = PSROSolver(
            game, BestResponseOracle(game=game, policy=TabularPolicy(game)), rectifier="", sims_per_entry=games,
            initial_policies=[TabularPolicy(game) for _ in range(2)], training_strategy_selector="probabilistic",
            meta_strategy_method="prd", sample_from_marginals=True,
        )  # fmt: skip
    aggregator = PolicyAggregator(game)

    def measure() -> float:
        mixture = aggregator.aggregate(range(2), solver.get_policies(), solver.get_meta_strategies())
        return float(exploitability(game, tabular_policy_from_callable(game, mixture.action_probabilities)))

    while True:
        solver.iteration()
        yield Tables(measure)
