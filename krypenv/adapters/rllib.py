"""RLlib: its wrapper of the PettingZoo environment for any rules, and a masked policy that all seats share."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.adapters.policy import PolicyFunction
from krypenv.envs.base import Terms
from krypenv.families.variants import family_of
from krypenv.inputs.words import check_keywords, shown, to_install
from krypenv.rules import as_rules

try:
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis import ValueFunctionAPI
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
except ImportError as error:
    raise ImportError(f"krypenv.adapters.rllib needs RLlib; {to_install('rllib')}") from error

MAIN = "main"  # the module that plays all seats: `config.multi_agent(policies={MAIN}, policy_mapping_fn=...)`
OPTIONS: dict[str, Any] = {"rules": "krypkasino", "scale": 1.0, **vars(Terms())}
ByAgent = Any  # a dictionary with an entry for each agent


class KrypenvMultiAgentEnv(PettingZooEnv):
    """RLlib's wrapper of the PettingZoo environment of any rules: `PPOConfig().environment(KrypenvMultiAgentEnv)`.

    The agents are player_0, player_1 and so on. Only the seat to act has an observation, `{"observation",
    "action_mask"}`, (N,) and (A,) int8, and with it the reward since its last decision; at the end all seats have one.
    An illegal action ends the episode, and its seat earns `krypenv.rewards.illegal_reward`, which is below any legal
    return.

    Args:
        config: RLlib's `env_config`: `rules`, complete rules, or their text or fields; `reward`, `dense`, `features`
            and `history`, the fields of `krypenv.envs.base.Terms`; and `scale`, by which rewards are multiplied.

    >>> env = KrypenvMultiAgentEnv({"rules": "krypkasino players=3", "dense": True, "features": True})
    >>> list(env.reset(seed=1)[0])
    ['player_0']
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        check_keywords("env_config", config or {}, list(OPTIONS))
        options = OPTIONS | dict(config or {})
        rules, self.scale = as_rules(options.pop("rules")), float(options.pop("scale"))
        self.worker = int(getattr(config, "worker_index", 0) or 0)  # which env runner it belongs to
        self._rng = np.random.default_rng()
        module = importlib.import_module(f"krypenv.{family_of(rules.name).module}")
        super().__init__(module.env(rules=rules, **options))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, ByAgent]:
        """Begin the next game; with a seed, the one with the deals of `Game(rules, seed=seed)`.

        Those that follow it differ between the env runners, which RLlib gives overlapping seeds.
        """
        if seed is None:
            seed = int(self._rng.integers(1 << 63))
        else:
            self._rng = np.random.default_rng([seed, self.worker])
        return super().reset(seed=seed, options=options)

    def step(self, action: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Carry out the action of the seat to act; return the next decision, and the rewards that are due."""
        observations, rewards, terminations, truncations, infos = super().step(action)
        scaled = {agent: reward * self.scale for agent, reward in rewards.items()}
        return observations, scaled, terminations, truncations, infos


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
        logits, values = self.network(decisions["observation"].float())
        masked = torch.where(decisions["action_mask"] > 0, logits, -1e9)
        return {Columns.ACTION_DIST_INPUTS: masked, Columns.EMBEDDINGS: values}

    def _forward_exploration(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        with torch.no_grad():
            return {Columns.ACTION_DIST_INPUTS: self._forward(batch)[Columns.ACTION_DIST_INPUTS]}

    _forward_inference = _forward_exploration

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Return the values, (B,); the forward pass of a training step has them already, as its embeddings."""
        return self.network(batch[Columns.OBS]["observation"].float())[1] if embeddings is None else embeddings


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
