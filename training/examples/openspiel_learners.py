"""OpenSpiel's learners in games small enough that their exploitability is known: NFSP, DQN, Deep CFR and PSRO.

`python -m krypenv.training.examples.openspiel_learners --game mini-sweep --learner dqn` prints how far from an
equilibrium the learner is after each iteration. It reads from top to bottom, after OpenSpiel's own examples.
"""

from __future__ import annotations

import contextlib
import io
import random
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import typer

from krypenv import Rules
from krypenv.inputs.words import shown, to_install
from krypenv.training.settings.base import Settings, option
from krypenv.training.settings.bridge import app_of
from krypenv.training.settings.groups import LARGEST_SMALL_SEED
from krypenv.training.solving import grow, size_of

MOST_HISTORIES = 100_000  # OpenSpiel walks through all of them in Python, and measures by tables
UNITS = (64,)  # of all networks
EPISODES = 1000  # in an iteration of NFSP and DQN
STEPS = 200  # of Deep CFR's networks in an iteration
SIMULATIONS = 50  # games that PSRO plays to estimate an entry of its matrix

Q_LEARNING = {  # settings of DQN, alone and as NFSP's best response
    "hidden_layers_sizes": UNITS, "min_buffer_size_to_learn": 500, "optimizer_str": "adam",
    "replay_buffer_capacity": 20_000, "epsilon_start": 0.1, "epsilon_end": 0.01, "epsilon_decay_duration": 20_000,
}  # fmt: skip

Probabilities = dict[int, float]
Policy = Callable[[Any], Probabilities]  # from a state to the probability of each legal action
Measured = Callable[[int, float, float], None]  # takes the iteration, seconds of processor time, and exploitability


class LearnersSettings(Settings):
    """What can be set; each field is an option of the command line."""

    game: str = option("mini-sweep", "the rules: a preset, and fields that differ")
    learner: str = option("dqn", "nfsp, dqn, deep-cfr or psro")
    iterations: int = option(10, "1,000 games of nfsp or dqn, or a step of deep-cfr or psro", ge=1, le=10**9)
    seed: int = option(0, "seed of all random choices", ge=0, le=LARGEST_SMALL_SEED)


def module_of(name: str) -> Any:
    """Import a module of OpenSpiel; raise ImportError with the line to install what it needs."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} can't be imported ({error}); {to_install('openspiel')}") from None


def load_small(rules: Rules) -> Any:
    """Load a game as a tree in memory; raise ValueError for one that is too large."""
    histories = size_of(grow(rules, keeps_all=True)).histories
    if histories > MOST_HISTORIES:
        raise ValueError(
            f"'{rules}' has {histories:,.0f} histories, and OpenSpiel's tables take at most {MOST_HISTORIES:,}; "
            "a game that fits is mini-sweep"
        )
    loaded = module_of("krypenv.envs.openspiel").load(rules, sorted_deals=True)
    return module_of("pyspiel").convert_to_cached_tree(loaded)


def uniform(state: Any) -> Probabilities:
    """Give each legal action the same probability."""
    legal = state.legal_actions()
    return dict.fromkeys(legal, 1 / len(legal))


def exploitability_of(game: Any, policy: Policy) -> float:
    """Compute the exploitability of a policy in points a game: OpenSpiel's, the mean of both seats."""
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


def settings_of(game: Any, seed: int, seat: int) -> dict[str, Any]:
    """Gather the settings that the agents of DQN and NFSP share, for a seat of a game."""
    size, actions = game.information_state_tensor_size(), game.num_distinct_actions()
    shape = {"player_id": seat, "state_representation_size": size, "num_actions": actions}
    return {**shape, **Q_LEARNING, "seed": seed + seat}


def play_games(game: Any, agents: list[Any], seed: int, ask: Callable[[Any, Any], Any]) -> Iterator[Policy]:
    """Yield the joint policy of two learning agents after each `EPISODES` games."""
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
        for _ in range(EPISODES):
            step = env.reset()
            while not step.last():
                step = env.step([agents[step.current_player()].step(step).action])
            for agent in agents:
                agent.step(step)
        yield policy


def nfsp(game: Any, seed: int) -> Iterator[Policy]:
    """Yield the average policies of neural fictitious self-play (Heinrich and Silver 2016)."""
    module = module_of("open_spiel.python.pytorch.nfsp")
    agents = [
        module.NFSP(
            **settings_of(game, seed, seat),
            reservoir_buffer_capacity=100_000,
            anticipatory_param=0.5,
            rl_learning_rate=3e-3,
            sl_learning_rate=3e-3,
            learn_every=16,
        )
        for seat in range(2)
    ]

    def ask(agent: Any, step: Any) -> Any:
        with agent.temp_mode_as(module.MODE.AVERAGE_POLICY):
            return agent.step(step, is_evaluation=True)

    return play_games(game, agents, seed, ask)


def dqn(game: Any, seed: int) -> Iterator[Policy]:
    """Yield the greedy policies of two DQN agents that learn against each other; they need not converge."""
    module = module_of("open_spiel.python.pytorch.dqn")
    agents = [
        module.DQN(**settings_of(game, seed, seat), learning_rate=1e-3, learn_every=4, update_target_network_every=100)
        for seat in range(2)
    ]
    return play_games(game, agents, seed, lambda agent, step: agent.step(step, is_evaluation=True))


def deep_cfr(game: Any, seed: int) -> Iterator[Policy]:
    """Yield the average policies of Deep CFR (Brown et al. 2019)."""
    module = module_of("open_spiel.python.pytorch.deep_cfr")
    solver = module.DeepCFRSolver(
        game,
        policy_network_layers=UNITS,
        advantage_network_layers=UNITS,
        num_iterations=1,  # in each call of `solve`, which continues where the last one ended
        num_traversals=100,
        learning_rate=1e-3,
        batch_size_advantage=256,
        batch_size_strategy=256,
        memory_capacity=100_000,
        policy_network_train_steps=STEPS,
        advantage_network_train_steps=STEPS,
        seed=seed,
    )

    def policy(state: Any) -> Probabilities:
        chances = solver.action_probabilities(state)  # its network gives illegal actions a share, too
        total = sum(chances.values())
        return {action: float(chance / total) for action, chance in chances.items()}

    while True:
        solver.solve()
        yield policy


def psro(game: Any, seed: int) -> Iterator[Policy]:
    """Yield the mixtures of policy space response oracles (Lanctot et al. 2017), with exact best responses."""
    del seed  # it draws from NumPy's generator alone, which `train` seeds
    tables = module_of("open_spiel.python.policy")
    aggregator = module_of("open_spiel.python.algorithms.policy_aggregator").PolicyAggregator(game)
    uniform = tables.TabularPolicy(game)
    oracles = module_of("open_spiel.python.algorithms.psro_v2.best_response_oracle")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its settings
        solver = module_of("open_spiel.python.algorithms.psro_v2.psro_v2").PSROSolver(
            game,
            oracles.BestResponseOracle(game=game, policy=uniform),
            initial_policies=[uniform.__copy__() for _ in range(2)],
            training_strategy_selector="probabilistic",
            rectifier="",
            meta_strategy_method="prd",
            sims_per_entry=SIMULATIONS,
            sample_from_marginals=True,
        )
    while True:
        solver.iteration()
        mixture = aggregator.aggregate(range(2), solver.get_policies(), solver.get_meta_strategies())
        yield mixture.action_probabilities


LEARNERS: dict[str, Callable[[Any, int], Iterator[Policy]]] = {
    "nfsp": nfsp,
    "dqn": dqn,
    "deep-cfr": deep_cfr,
    "psro": psro,
}


def train(settings: LearnersSettings, report: Measured | None = None) -> list[float]:
    """Measure the exploitability, in points a game, of uniform play and after each iteration."""
    if settings.learner not in LEARNERS:
        raise ValueError(f"learner is one of {', '.join(LEARNERS)}, not {shown(settings.learner)}")
    game = load_small(Rules.parse(settings.game))
    seed_generators(settings.seed)
    distances, spent = [exploitability_of(game, uniform)], 0.0
    if report:
        report(0, spent, distances[0])
    policies = LEARNERS[settings.learner](game, settings.seed)
    for iteration in range(1, settings.iterations + 1):
        began = time.process_time()
        policy = next(policies)
        spent += time.process_time() - began
        distances.append(exploitability_of(game, policy))
        if report:
            report(iteration, spent, distances[-1])
    return distances


def run(settings: LearnersSettings) -> None:
    """Let one of OpenSpiel's learners learn a small game, and print its exploitability after each iteration."""

    def report(at: int, seconds: float, points: float) -> None:
        if not at:
            typer.echo(f"{'iteration':>9} {'seconds':>8} {'exploitability':>15}")
        typer.echo(f"{at:>9} {seconds:>8.1f} {points:>15.4f}")

    train(settings, report)


app = app_of(LearnersSettings, run)

if __name__ == "__main__":
    app(prog_name="python -m krypenv.training.examples.openspiel_learners")
