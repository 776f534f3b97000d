"""Krypenv's games as the learners of OpenSpiel take them: observations as floats, one game by time steps, and a tree.

All learners of the benchmark read the same observation: the environment's, with the features block, each entry divided
by its usual size in random play.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel
import torch
from ladder import Unfit
from open_spiel.python.rl_environment import StepType, TimeStep

from krypenv import Engine, Rules
from krypenv.envs.openspiel import load
from krypenv.training.solving import grow, is_solvable, size_of

FloatArray = npt.NDArray[np.float32]
GAMES = 20  # between two looks at a learner
MOST_HISTORIES = 100_000  # of a tree in OpenSpiel's memory
SIZED_BY = 100  # steps of random play in 64 games


class Encoder:
    """Turns (B, N) int8 observations into (B, N) float32 of comparable size."""

    def __init__(self, rules: Rules) -> None:
        engine = Engine(rules, 64, seed=0, features=True)
        squares = np.zeros(engine.observation.shape[1], np.float32)
        for _ in range(SIZED_BY):
            squares += np.square(engine.observation, dtype=np.float32).mean(axis=0) / SIZED_BY
            engine.step(engine.sample_actions())
        self.scale = 1 / np.sqrt(squares + 0.1)

    def __call__(self, observations: npt.NDArray[np.int8]) -> FloatArray:
        """Scale observations."""
        return observations * self.scale


def seed_all(seed: int) -> None:
    """Seed the global generators, from which OpenSpiel's learners draw, and keep torch to one thread."""
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
    torch.set_num_threads(1)


@torch.no_grad()
def ask(network: Any, inputs: FloatArray) -> npt.NDArray[Any]:
    """Compute a network's outputs, (B, A)."""
    return np.asarray(network(torch.from_numpy(np.ascontiguousarray(inputs, np.float32))))


def softmax(logits: npt.NDArray[Any], masks: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
    """Compute the probabilities of legal actions from logits, (B, A)."""
    legal = np.where(masks == 1, logits, -np.inf)
    weights = np.exp(legal - legal.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def best(values: npt.NDArray[Any], masks: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
    """Give the legal action of the highest value probability 1, (B, A)."""
    chosen = np.where(masks == 1, values, -np.inf).argmax(axis=1)
    return np.eye(masks.shape[1])[chosen]


class Table:
    """One game after another as OpenSpiel's `rl_environment` gives it: rewards are margins, paid at the end.

    Which player sits in which seat is drawn for each game, so that each player learns to play in both.
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        self.engine, self.encode = Engine(rules, 1, seed, features=True, reward="centred"), Encoder(rules)
        self.size, self.actions = self.engine.observation.shape[1], rules.num_actions
        self.rng, self.player_of = np.random.default_rng(seed), np.arange(2)

    def reset(self) -> TimeStep:
        """Begin a game, which the engine has dealt when the last one ended."""
        self.player_of = self.rng.permutation(2)
        return self._time_step(StepType.FIRST)

    def step(self, actions: list[int]) -> TimeStep:
        """Carry out the action of the player to act."""
        self.engine.step(np.array(actions))
        return self._time_step(StepType.LAST if self.engine.finished[0] else StepType.MID)

    def _time_step(self, kind: StepType) -> TimeStep:
        engine = self.engine
        player = pyspiel.PlayerId.TERMINAL if kind == StepType.LAST else int(self.player_of[engine.seat[0]])
        row, legal = self.encode(engine.observation[0]), np.flatnonzero(engine.action_mask[0]).tolist()
        seen = {"info_state": [row, row], "legal_actions": [legal, legal], "current_player": player}
        rewards = None if kind == StepType.FIRST else engine.rewards[0][self.player_of].tolist()
        return TimeStep(seen, rewards, [1.0, 1.0], kind)


def play(rules: Rules, seed: int, make: Callable[..., Any]) -> Iterator[Any]:
    """Let two learning agents of `make(player, size, actions, seed=)` play; yield the first after each few games."""
    seed_all(seed)
    table = Table(rules, seed)
    agents = [make(player, table.size, table.actions, seed=2 * seed + player) for player in range(2)]
    while True:
        for _ in range(GAMES):
            step = table.reset()
            while not step.last():
                step = table.step([agents[step.current_player()].step(step).action])
            for agent in agents:
                agent.step(step)
        yield agents[0]


def tree_of(rules: Rules) -> Any:
    """Load a game as OpenSpiel's tree in memory; raise Unfit for one that is too large."""
    if not is_solvable(rules):
        raise Unfit("OpenSpiel walks through all histories, and these are too many to count")
    histories = size_of(grow(rules, keeps_all=True)).histories
    if histories > MOST_HISTORIES:
        raise Unfit(f"OpenSpiel walks through all histories, and '{rules}' has {histories:,.0f}")
    return pyspiel.convert_to_cached_tree(load(rules, sorted_deals=True))


def sampled_game(rules: Rules) -> Any:
    """Make a game whose chance is sampled, with what OpenSpiel's Deep CFR asks of a game."""
    encode, turns = Encoder(rules), pyspiel.load_game("kuhn_poker").get_type()
    return SimpleNamespace(
        num_players=lambda: 2,
        num_distinct_actions=lambda: rules.num_actions,
        get_type=lambda: turns,
        new_initial_state=lambda: SampledState(rules, encode, None),
    )


class SampledState:
    """A state of a `sampled_game`. Before the deal, chance has one outcome, another seed each time it is asked."""

    def __init__(self, rules: Rules, encode: Encoder, engine: Engine | None) -> None:
        self.rules, self.encode, self.engine = rules, encode, engine

    def is_chance_node(self) -> bool:
        """Tell whether the cards are yet to be dealt."""
        return self.engine is None

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Draw the seed of a deal."""
        return [(int(np.random.randint(2**31)), 1.0)]  # noqa: NPY002

    def child(self, action: int) -> SampledState:
        """Carry out an action, or deal."""
        if self.engine is None:
            engine = Engine(self.rules, 1, action, features=True, reward="centred")
        else:
            engine = self.engine.copy()
            engine.step(np.array([action]))
        return SampledState(self.rules, self.encode, engine)

    def is_terminal(self) -> bool:
        """Tell whether the game is over."""
        return self.engine is not None and bool(self.engine.finished[0])

    def returns(self) -> list[float]:
        """Return both seats' margins to the mean."""
        return [] if self.engine is None else self.engine.rewards[0].tolist()

    def current_player(self) -> int:
        """Return the seat to act."""
        return pyspiel.PlayerId.CHANCE if self.engine is None else int(self.engine.seat[0])

    def legal_actions(self, player: int | None = None) -> list[int]:
        """List the legal actions of the seat to act."""
        return [] if self.engine is None else np.flatnonzero(self.engine.action_mask[0]).tolist()

    def information_state_tensor(self, player: int | None = None) -> FloatArray:
        """Encode what the seat to act observes; zeros before the deal."""
        if self.engine is None:
            return np.zeros_like(self.encode.scale)
        return self.encode(self.engine.observation[0])
