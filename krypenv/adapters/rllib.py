"""RLlib: the games for all seats as a `MultiAgentEnv`, a masked policy that they share, and its matches."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from krypenv.adapters.policy import PolicyFunction
from krypenv.arguments import check_options, check_seed
from krypenv.envs.base import Terms
from krypenv.envs.learner import ALL, LearnerGames
from krypenv.inputs.words import check_keywords, check_whole, listed, shown, to_install
from krypenv.rules import as_rules

try:
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis import ValueFunctionAPI
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise ImportError(f"krypenv.adapters.rllib needs RLlib; {to_install('rllib')}") from error

MAIN = "main"  # the module that plays all seats: `config.multi_agent(policies={MAIN}, policy_mapping_fn=...)`
MATCH = "match"  # an entry of RLlib's results
OPTIONS: dict[str, Any] = {"rules": "krypkasino", "scale": 1.0, **vars(Terms())}
ByAgent = Any  # a dictionary with an entry for each agent


class KrypenvMultiAgentEnv(MultiAgentEnv):
    """A game whose seats are the agents player_0, player_1 and so on: `PPOConfig().environment(KrypenvMultiAgentEnv)`.

    It plays all rules. Only the seat to act has an observation, `{"observations", "action_mask"}`, (N,) and (A,)
    float32. A seat is paid what it has earned since its last decision when it sees its next one, or at the end; what
    it earns before its first decision is paid with that.

    An illegal action ends the episode, and its seat earns `krypenv.rewards.illegal_reward`, which is below any legal
    return.

    Args:
        config: RLlib's `env_config`: `rules`, complete rules, or their text or fields; `reward`, `dense`, `features`
            and `history` as in `krypenv.engine.Engine`; and `scale`, by which rewards are multiplied.

    >>> env = KrypenvMultiAgentEnv({"rules": "krypkasino players=3", "dense": True, "features": True})
    >>> list(env.reset(seed=1)[0])
    ['player_0']
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        check_keywords("env_config", config or {}, list(OPTIONS))
        terms = OPTIONS | dict(config or {})
        self.rules = as_rules(terms.pop("rules"))
        self.scale = check_number("scale", terms.pop("scale"), 1e-9, 1e9)
        self.worker = int(getattr(config, "worker_index", 0) or 0)  # which env runner it belongs to
        self.batch = LearnerGames(self.rules, 1, ALL, illegal_ends=True, **terms)
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self.agents = self.possible_agents.copy()
        width, actions = self.batch.observation.shape[1], self.rules.num_actions
        space = gym.spaces.Dict(
            {
                "observations": gym.spaces.Box(-128, 127, (width,), np.float32),
                "action_mask": gym.spaces.Box(0, 1, (actions,), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = dict.fromkeys(self.possible_agents, gym.spaces.Discrete(actions))
        super().__init__()
        self._rng = np.random.default_rng()
        self._owed = np.zeros(self.rules.players)
        self._has_acted = np.zeros(self.rules.players, np.bool_)
        self._is_over = True  # until it is reset

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, ByAgent]:
        """Begin the next game; with a seed, the one with the deals of `Game(rules, seed=seed)`.

        Those that follow it differ between the env runners, which RLlib gives overlapping seeds.
        """
        check_options(options)
        if seed is not None:
            self._rng = np.random.default_rng([check_seed(seed), self.worker])
        self.batch.restart([0], [int(self._rng.integers(1 << 63)) if seed is None else seed])
        self._owed[:], self._has_acted[:], self._is_over = 0, False, False
        return self._decision(), {}

    def step(self, action_dict: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Carry out the action of the seat to act; return the next decision, and the rewards that are due."""
        seat = int(self.batch.seats[0])
        name = self.possible_agents[seat]
        if self._is_over:
            raise ValueError("no game is in progress; call reset()")
        if list(action_dict) != [name]:
            raise ValueError(f"{name} is to act, and no other; there is an action of {listed(action_dict) or 'none'}")
        self.batch.step(np.array([int(action_dict[name])]))
        self._has_acted[seat] = True
        self._owed += self.batch.rewards[0]
        self._is_over = is_over = bool(self.batch.done[0])
        is_due = self._has_acted & (is_over | (np.arange(self.rules.players) == self.batch.seats[0]))
        rewards = {self.possible_agents[payee]: self._owed[payee] * self.scale for payee in np.flatnonzero(is_due)}
        self._owed[is_due] = 0
        return ({} if is_over else self._decision()), rewards, {"__all__": is_over}, {"__all__": False}, {}

    def _decision(self) -> ByAgent:
        """Return what the seat to act sees, with its mask, by its agent."""
        observation, mask = self.batch.observation[0], self.batch.action_mask[0]
        decision = {"observations": observation.astype(np.float32), "action_mask": mask.astype(np.float32)}
        return {self.possible_agents[int(self.batch.seats[0])]: decision}


def check_number(name: str, number: Any, low: float, high: float) -> float:
    """Check a number; raise ValueError if it is not one, or is out of bounds."""
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not low <= number <= high:
        raise ValueError(f"{name} is a number from {low:g} to {high:g}, not {shown(number)}")
    return float(number)


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """A policy that takes legal actions only, and its values, for RLlib's PPO and what is like it.

    `model_config={"network": make}` gives it its network: `make()` returns a torch module, called with observations,
    (B, N) float32, that returns logits, (B, A), and values, (B,).

    >>> spec = RLModuleSpec(MaskedModule, model_config={"network": partial(MyNetwork, 256)})  # doctest: +SKIP
    """

    def setup(self) -> None:
        """Make the network."""
        model_config: Any = self.model_config or {}
        make = model_config.get("network")
        if not callable(make):
            raise ValueError(f"MaskedModule needs model_config={{'network': make}}, a function, not {shown(make)}")
        self.network = make()

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        decisions = batch[Columns.OBS]
        logits, values = self.network(decisions["observations"])
        masked = torch.where(decisions["action_mask"] > 0, logits, -1e9)
        return {Columns.ACTION_DIST_INPUTS: masked, Columns.EMBEDDINGS: values}

    def _forward_exploration(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        with torch.no_grad():
            return {Columns.ACTION_DIST_INPUTS: self._forward(batch)[Columns.ACTION_DIST_INPUTS]}

    _forward_inference = _forward_exploration

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Return the values, (B,); the forward pass of a training step has them already, as its embeddings."""
        return self.network(batch[Columns.OBS]["observations"])[1] if embeddings is None else embeddings


def agent_of(algorithm: Any, name: str = "rllib", module: str = MAIN) -> PolicyFunction:
    """Copy an algorithm's policy, a MaskedModule, to an agent for matches and arenas."""
    config = OPTIONS | algorithm.config.env_config
    if config["history"]:
        raise ValueError("a policy that sees the history block can't play as an agent: train it with history=False")
    network = copy.deepcopy(algorithm.get_module(module).network).cpu()

    @torch.no_grad()
    def logits(observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> Any:
        return network(torch.from_numpy(observations).float())[0]

    return PolicyFunction(logits, config["rules"], name, config["features"])


class Evaluation:
    """Matches of the policy while it trains: `config.callbacks(on_train_result=Evaluation(match))`.

    RLlib's `episode_return_mean` adds up all seats, which is 0 for centred rewards, whatever is learned. The result of
    each `every`-th iteration has the margin of the policy instead, and its interval, as
    `result["match"]["margin" | "low" | "high"]`.

    Args:
        match: plays an agent and returns what `krypenv.training.duplicate_match` does.
        every: iterations between matches.

    >>> Evaluation(lambda agent: duplicate_match(agent, "tactician", agent.rules, deals=100))  # doctest: +SKIP
    """

    def __init__(self, match: Callable[[PolicyFunction], Any], every: int = 10) -> None:
        self.match, self.every = match, check_whole("every", every, 1, 10**9)

    def __call__(self, *, algorithm: Any, result: dict[str, Any], **rest: Any) -> None:
        """Play the match if it is due."""
        if result["training_iteration"] % self.every == 0:
            match = self.match(agent_of(algorithm))
            result[MATCH] = {"margin": float(match.margin), "low": float(match.low), "high": float(match.high)}
