"""A network that learns by self-play alone, from random weights or from those of another one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from stable_baselines3.common.logger import configure
from torch import Tensor

from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.rules import Rules
from krypenv.training.learn.learner.ppo import SelfPlayPPO
from krypenv.training.learn.learner.torch_network import CardNetwork
from krypenv.training.learn.selfplay.league import seed_of
from krypenv.training.learn.selfplay.selfplay import LAST_RATE
from krypenv.training.learn.selfplay.settings import Ppo

GAMES = 256  # at once

Weights = Mapping[str, Tensor]  # of a policy, by their names


class SelfPlay:
    """PPO in every seat, without opponents and without discount, on one thread.

    The seed and the initial weights decide all that comes of it.

    Args:
        rules: the rules of all games.
        seed: of the random weights, the deals and the play.
        updates: the length of the training, which the learning rate follows.
        games: played at once; an update learns from `ppo.steps` decisions in each.
        history: whether the network sees the plays of the deal.
        ppo: how it learns, by default as in `krypenv train`; its discount is not used.
    """

    def __init__(
        self,
        rules: Rules,
        seed: int,
        updates: float,
        games: int = GAMES,
        history: bool = False,
        ppo: Ppo | None = None,
    ) -> None:
        torch.set_num_threads(1)
        self.rules, self.seed, self.updates, self.done = rules, seed, updates, 0
        ppo = ppo or Ppo()
        self.model = SelfPlayPPO(
            [KrypkasinoVecEnv(rules, games, seat="all", dense=True, seed=seed_of(seed, 0, 0), history=history)],
            ppo.critic,
            {"history": history}, kl_coef=ppo.kl_coef, ema_decay=ppo.ema_decay, ent_coef=ppo.ent_coef,
            n_steps=ppo.steps, batch_size=ppo.batch, n_epochs=ppo.epochs, gamma=1.0, gae_lambda=ppo.gae_lambda,
            learning_rate=lambda left: ppo.learning_rate * max(left, LAST_RATE), clip_range=ppo.clip,
            vf_coef=ppo.vf_coef, seed=seed, device="cpu",
        )  # fmt: skip
        self.model.set_logger(configure(None, []))

    @property
    def network(self) -> CardNetwork:
        """The network in training."""
        return self.model.network

    def weights(self) -> dict[str, Tensor]:
        """Return a copy of the weights of the network, under `network.`, and of the critic, under `critic.`."""
        return {
            name: weight.clone()
            for name, weight in self.model.policy.state_dict().items()
            if name.startswith(("network.", "critic."))
        }

    def start_from(self, weights: Weights) -> None:
        """Take over some weights before the first update; the others stay random."""
        policy = self.model.policy
        policy.load_state_dict({**policy.state_dict(), **weights})
        policy.ema.load_state_dict(policy.network.state_dict())

    def play_to(self, update: int) -> None:
        """Train until so many updates are done; raises FloatingPointError if the learner diverges."""
        model = self.model
        while self.done < update:
            model.set_done(self.done / self.updates)
            self.done += 1
            torch.manual_seed(seed_of(self.seed, self.done, 0))
            model.rollout_buffer.rng = np.random.default_rng(seed_of(self.seed, self.done, 1))
            model.collect_rollouts()
            model.train()
            if not all(bool(torch.isfinite(weight).all()) for weight in model.policy.parameters()):
                raise FloatingPointError("the weights are no longer finite numbers")
