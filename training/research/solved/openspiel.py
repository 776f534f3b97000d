"""OpenSpiel's side of a small game: its cached tree, its measure of exploitability, and algorithms that yield policies.

An algorithm yields a policy after each of its steps. A policy returns the probability of each legal action of a state.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np

from krypenv.inputs.words import to_install
from krypenv.rules import Rules
from krypenv.training.solving.growing import check_size, check_solvable, grow
from krypenv.training.solving.measures import size_of

MOST_HISTORIES = 100_000  # OpenSpiel walks through all of them in Python, and measures by tables
UNITS = (64,)  # of all networks
EPISODES = 1000  # in a step of a learner that plays games
Q_LEARNING = {  # settings of DQN, alone and as NFSP's best response
    "hidden_layers_sizes": UNITS, "min_buffer_size_to_learn": 500, "optimizer_str": "adam",
    "replay_buffer_capacity": 20_000, "epsilon_start": 0.1, "epsilon_end": 0.01, "epsilon_decay_duration": 20_000,
}  # fmt: skip

Probabilities = dict[int, float]
Policy = Callable[[Any], Probabilities]  # from a state to the probability of each legal action


def module_of(name: str) -> Any:
    """Return a module of OpenSpiel; raise ImportError with the line to install what it needs."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} can't be imported ({error}); {to_install('openspiel')}") from None


def load_small(rules: Rules) -> Any:
    """Return a game as a tree in memory; raise ValueError for one that is too large."""
    check_solvable(rules)
    check_size(rules)
    histories = size_of(grow(rules, keeps_all=True)).histories
    if histories > MOST_HISTORIES:
        raise ValueError(
            f"'{rules}' has {histories:,.0f} histories, and OpenSpiel's tables take at most {MOST_HISTORIES:,}; "
            "a game that fits is mini-sweep"
        )
    loaded = module_of("krypenv.envs.openspiel").load(rules, sorted_deals=True)
    return module_of("pyspiel").convert_to_cached_tree(loaded)


def uniform(state: Any) -> Probabilities:
    """Return the same probability for each legal action."""
    legal = state.legal_actions()
    return dict.fromkeys(legal, 1 / len(legal))


def exploitability_of(game: Any, policy: Policy) -> float:
    """Return the exploitability of a policy in points a game: OpenSpiel's, the mean of both seats."""
    tables = module_of("open_spiel.python.policy")
    measure = module_of("open_spiel.python.algorithms.exploitability").exploitability
    return float(measure(game, tables.tabular_policy_from_callable(game, policy)))


def seed_generators(seed: int) -> None:
    """Seed the global generators, from which OpenSpiel's learners draw, and keep torch to one thread."""
    import torch

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # fastest for networks this small


def cfr_plus(game: Any) -> Iterator[Policy]:
    """Yield the average policies of CFR+ (Tammelin 2014), in C++."""
    solver = module_of("pyspiel").CFRPlusSolver(game)
    while True:
        solver.evaluate_and_update_policy()
        yield _lazily(solver.average_policy)


def mmd(game: Any, alpha: float, stepsize: float, anneals: bool) -> Iterator[Policy]:
    """Yield the last policies of magnetic mirror descent (Sokota et al. 2023) with dilated entropy.

    Args:
        game: the game.
        alpha: weight of the regularization.
        stepsize: step size.
        anneals: whether both fall as one over the square root of the iterations.
    """
    solver = module_of("open_spiel.python.algorithms.mmd_dilated").MMDDilatedEnt(game, alpha, stepsize)
    for iteration in count(1):
        if anneals:
            solver.alpha, solver.stepsize = alpha / math.sqrt(iteration), stepsize / math.sqrt(iteration)
        solver.update_sequences()
        yield _lazily(solver.get_policies)


def settings_of(game: Any, seed: int, seat: int) -> dict[str, Any]:
    """Return the settings that the agents of DQN and NFSP share, for a seat of a game."""
    size, actions = game.information_state_tensor_size(), game.num_distinct_actions()
    shape = {"player_id": seat, "state_representation_size": size, "num_actions": actions}
    return {**shape, **Q_LEARNING, "seed": seed + seat}


def nfsp(
    game: Any, seed: int, rate: float = 3e-3, anticipatory: float = 0.5, episodes: int = EPISODES
) -> Iterator[Policy]:
    """Yield the average policies of neural fictitious self-play (Heinrich and Silver 2016).

    Args:
        game: the game.
        seed: seed of the networks and of the games.
        rate: learning rate of both networks.
        anticipatory: share of games in which a seat plays its best response.
        episodes: games in a step.
    """
    module = module_of("open_spiel.python.pytorch.nfsp")
    agents = [
        module.NFSP(
            **settings_of(game, seed, seat),
            reservoir_buffer_capacity=100_000,
            anticipatory_param=anticipatory,
            rl_learning_rate=rate,
            sl_learning_rate=rate,
            learn_every=16,
        )
        for seat in range(2)
    ]

    def ask(agent: Any, step: Any) -> Any:
        with agent.temp_mode_as(module.MODE.AVERAGE_POLICY):
            return agent.step(step, is_evaluation=True)

    return play_games(game, agents, seed, ask, episodes)


def play_games(
    game: Any, agents: list[Any], seed: int, ask: Callable[[Any, Any], Any], episodes: int
) -> Iterator[Policy]:
    """Yield the joint policy of two learning agents each time that they have played some games."""
    rl = module_of("open_spiel.python.rl_environment")
    env = rl.Environment(game)
    env.seed(seed)

    def policy(state: Any) -> Probabilities:
        seat, legal = state.current_player(), state.legal_actions()
        seen: dict[str, Any] = {"info_state": [None, None], "legal_actions": [None, None], "current_player": seat}
        seen["info_state"][seat], seen["legal_actions"][seat] = state.information_state_tensor(seat), legal
        step = rl.TimeStep(observations=seen, rewards=None, discounts=None, step_type=rl.StepType.MID)
        chances = ask(agents[seat], step).probs
        return {action: float(chances[action]) for action in legal}

    while True:
        for _ in range(episodes):
            step = env.reset()
            while not step.last():
                step = env.step([agents[step.current_player()].step(step).action])
            for agent in agents:
                agent.step(step)
        yield policy


def _lazily(make: Callable[[], Any]) -> Policy:
    """Return a policy whose table is made when it is first asked."""
    table = cache(make)

    def policy(state: Any) -> Probabilities:
        found: Probabilities = table().action_probabilities(state)
        return found

    return policy
