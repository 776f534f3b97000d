"""The learner: MaskablePPO over many games at once, in which every seat learns or one side plays against opponents."""

from __future__ import annotations

import copy
import itertools
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import explained_variance
from torch import Tensor

from krypenv import agents
from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.agents.neural.action_features import ActionFeatures, gather_action_features
from krypenv.agents.neural.model_file import load_model, rules_in
from krypenv.agents.neural.network import inputs_of
from krypenv.cards import NUM_KINDS
from krypenv.envs.learner import LEARNER, LearnerGames
from krypenv.envs.opponents import Opponent
from krypenv.training.learn.buffer import Decisions, SeatRolloutBuffer
from krypenv.training.learn.network import CardNetwork, Choices
from krypenv.training.learn.policy import CardPolicy
from krypenv.training.learn.settings import PAST, TrainSettings

OWN_VALUE_COEF = 0.5  # weight of the network's own value head in the loss
REWARD_SCALE = 0.1  # scales points for the value heads, so that losses are of the order of one
LAST_RATE = 0.05  # share of the learning rate at the end


class SideGames(LearnerGames):
    """Games in which the learner plays all seats of one side (R16), drawn for each episode, and opponents the rest."""

    def _seat_players(self, rows: np.ndarray) -> None:
        super()._seat_players(rows)
        sides = self.rules.num_teams
        own = np.arange(self.rules.players) % sides == self._viewers[rows, None] % sides
        self.players[rows] = np.where(own, LEARNER, self.players[rows])


def seed_of(seed: int, update: int, use: int) -> int:
    """Derive a seed for one use in one update of a run."""
    return int(np.random.SeedSequence([seed, update, use]).generate_state(1)[0])


def games_of(settings: TrainSettings) -> list[LearnerGames]:
    """Make the games of a training, of one kind or more: self-play, games against opponents, and games of `also`."""
    main, *others = settings.all_rules()
    share = settings.opponent_share if settings.opponents else 0.0
    against = max(1, round(settings.envs * share)) if share else 0  # at least one game
    kinds = [(LearnerGames, main, settings.envs - against, "all"), (SideGames, main, against, "random")]
    kinds += [(LearnerGames, rules, settings.envs, "all") for rules in others]
    return [
        kind(rules, count, seat, reward=settings.reward, dense=settings.dense, seed=seed_of(settings.seed, 0, number))
        for number, (kind, rules, count, seat) in enumerate(each for each in kinds if each[2])
    ]


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO over games of several kinds: in some every seat learns, in others one side against opponents.

    Time steps count decisions of the learner. Call `collect_rollouts` and `train` in turn; `set_done` sets the
    schedules. Raises ValueError if the settings ask for a device that is not there.
    """

    rollout_buffer: SeatRolloutBuffer
    policy: CardPolicy

    def __init__(self, settings: TrainSettings) -> None:
        self.settings, self.parts = settings, games_of(settings)
        self.kl_coef, self.ema_decay = settings.kl_coef, settings.ema_decay
        rules, seats = self.parts[0].rules, max(part.rules.players for part in self.parts)
        self.num_hidden = (seats - 1) * NUM_KINDS if settings.critic else 0
        super().__init__(
            CardPolicy, KrypkasinoVecEnv(rules, 1), rollout_buffer_class=SeatRolloutBuffer,
            rollout_buffer_kwargs={"seats": seats, "hidden": self.num_hidden},
            policy_kwargs={
                "rules": rules, "hidden": self.num_hidden, "shape": settings.shape,
                "optimizer_kwargs": {"eps": 1e-5, "fused": True},
            },
            learning_rate=lambda left: settings.learning_rate * max(left, LAST_RATE), n_steps=settings.steps,
            batch_size=settings.batch, n_epochs=settings.epochs, gamma=settings.gamma, gae_lambda=settings.gae_lambda,
            clip_range=settings.clip, ent_coef=settings.ent_coef, vf_coef=settings.vf_coef, seed=settings.seed,
            device=settings.device, _init_setup_model=False,
        )  # fmt: skip
        if settings.device not in ("auto", self.device.type):  # Stable-Baselines3 falls back to the CPU
            raise ValueError(f"device is {settings.device}, and torch finds no CUDA here; give cpu, or auto for either")
        self.n_envs = sum(part.num_games for part in self.parts)  # rows of the buffer
        self._setup_model()
        self.ema = copy.deepcopy(self.network).requires_grad_(False).eval()
        self.games_played = 0

    @property
    def network(self) -> CardNetwork:
        """The network in training."""
        return self.policy.network

    def start_from(self, folder: Path) -> None:
        """Start from the network of a model; raises ValueError if its inputs or sizes differ."""
        arrays, card = load_model(folder)
        start = CardNetwork.of(arrays, inputs_of(rules_in(card)))
        if (start.inputs, start.shape) != (self.network.inputs, self.network.shape):
            raise ValueError(
                f"the network in {folder} is for '{rules_in(card)}' with {start.shape}, and the settings ask for "
                f"'{self.parts[0].rules}' with {self.network.shape}; start from a model of the same game and sizes"
            )
        for network in (self.network, self.ema):
            network.load_state_dict(start.state_dict())

    def seat_opponents(self, update: int, past_selves: Mapping[str, CardNetwork]) -> None:
        """Make the opponents of an update, and seat them; all past selves share the weight of one opponent."""
        settings, rules = self.settings, self.parts[0].rules
        seeds = (seed_of(settings.seed, update, use) for use in itertools.count(2))
        opponents: list[tuple[Opponent, float]] = []
        its: list[Opponent]
        for name in settings.opponents:
            if name == PAST:
                selves = past_selves or {"learner": self.network}
                its = [network.player(rules, label, next(seeds), 1.0) for label, network in selves.items()]
            else:
                its = [agents.make_known(name, rules, seed=next(seeds))]
            opponents += [(agent, 1.0 / len(its)) for agent in its]
        for games in self.parts:
            if games.seat != "all":
                games.set_opponents(opponents)

    def set_done(self, done: float) -> None:
        """Set the fraction of the training that is done, 0 to 1, for the schedules."""
        self._current_progress_remaining = 1 - done

    def decisions(self) -> Decisions:
        """Gather the decisions of the seats to act in all games."""
        features = [gather_action_features(part.rules, part.observation, part.action_mask) for part in self.parts]
        return Decisions(
            np.concatenate([part.observation for part in self.parts]),
            ActionFeatures(*(np.concatenate(arrays) for arrays in zip(*features, strict=True))),
            np.concatenate([self._hidden(part) for part in self.parts]),
            np.concatenate([part.seats for part in self.parts]),
        )

    def _hidden(self, part: LearnerGames) -> np.ndarray:
        """Read the hands of the others, the seat to the left first, (B, H) int8."""
        hands = np.zeros((part.num_games, self.num_hidden), np.int8)
        if self.num_hidden:
            players = part.rules.players
            others = (part.seats[:, None] + np.arange(1, players)) % players
            other_hands = part.engine.state.hands[np.arange(part.num_games)[:, None], others]
            hands[:, : (players - 1) * NUM_KINDS] = other_hands.reshape(part.num_games, -1)
        return hands

    @torch.no_grad()
    def collect_rollouts(self, *_: Any, **__: Any) -> bool:
        """Play `n_steps` decisions in every game, fill the buffer, and estimate the advantages. Return True."""
        self.policy.set_training_mode(False)
        buffer = self.rollout_buffer
        buffer.reset()
        bounds = np.cumsum([0] + [part.num_games for part in self.parts])
        returns_against_opponents: list[float] = []
        decisions = self.decisions()
        for step in range(self.n_steps):
            actions, values, log_probs = self.policy(decisions.tensors(self.device))
            chosen = actions.cpu().numpy()
            buffer.put(decisions, chosen, values.cpu().numpy(), log_probs.cpu().numpy())
            for part, low, high in zip(self.parts, bounds, bounds[1:], strict=False):
                part.step(chosen[low:high])
                buffer.earned[step, low:high, : part.rules.players] = part.rewards * REWARD_SCALE
                buffer.ends[step, low:high] = part.done
                self.games_played += int(part.done.sum())
                if part.seat != "all":
                    returns_against_opponents.extend(part.returns[part.done, part.acting[part.done]])
            decisions = self.decisions()
            self.num_timesteps += self.n_envs
        last_values = self.policy.predict_values(decisions.tensors(self.device)).cpu().numpy()
        buffer.compute_seat_advantages(decisions.seats, last_values)
        self.logger.record("rollout/games", self.games_played)
        if returns_against_opponents:
            self.logger.record("rollout/margin_against_opponents", float(np.mean(returns_against_opponents)))
        return True

    def train(self) -> None:
        """Minimize the loss over the buffer in `n_epochs` passes, then move the EMA policy.

        The loss is PPO's clipped surrogate (Schulman et al. 2017), less the entropy bonus, plus the divergence from the
        EMA policy and the squared errors of both value functions. The critic learns the returns, and the network's own
        value head learns the critic.
        """
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        if self.kl_coef:
            self.rollout_buffer.other = self._ema_logits()
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]  # a schedule by now
        logged: defaultdict[str, list[Tensor]] = defaultdict(list)
        for _ in range(self.n_epochs):
            for batch in self.rollout_buffer.minibatches(int(self.batch_size or 1)):
                judged = self.policy.evaluate(batch.position, batch.actions, batch.other)
                advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
                log_ratios = judged.log_probs - batch.log_probs
                ratios = log_ratios.exp()
                policy_loss = -torch.min(advantages * ratios, advantages * ratios.clamp(1 - clip, 1 + clip)).mean()
                entropy = judged.entropies.mean()
                divergence = judged.divergences.mean()
                value_loss = ((judged.values - batch.returns) ** 2).mean()
                own_value_loss = ((judged.own_values - judged.values.detach()) ** 2).mean()  # 0 without a critic
                loss = (
                    policy_loss
                    - self.ent_coef * entropy
                    + self.kl_coef * divergence
                    + self.vf_coef * value_loss
                    + OWN_VALUE_COEF * own_value_loss
                )
                self.policy.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                for name, value in (
                    ("loss", loss), ("policy_loss", policy_loss), ("entropy", entropy), ("divergence", divergence),
                    ("value_loss", value_loss), ("own_value_loss", own_value_loss),
                    ("clip_fraction", ((ratios - 1).abs() > clip).float().mean()),
                    ("approx_kl", (ratios - 1 - log_ratios).mean()),  # Schulman's estimator k3
                ):  # fmt: skip
                    logged[name].append(value.detach())
        self._update_ema()
        for name, values in logged.items():
            self.logger.record(f"train/{name}", float(torch.stack(values).mean()))
        buffer = self.rollout_buffer
        self.logger.record(
            "train/explained_variance", explained_variance(buffer.values.flatten(), buffer.returns.flatten())
        )

    @torch.no_grad()
    def _ema_logits(self) -> np.ndarray:
        """Compute the EMA policy's logits of all legal actions in the buffer, (L,) float32."""
        logits = []
        for observations, features in zip(self.rollout_buffer.observations, self.rollout_buffer.features, strict=True):
            choices = Choices.of(features, self.device)
            scores = self.ema(torch.as_tensor(observations, device=self.device), choices).logits
            logits.append(scores[choices.row, choices.place].cpu().numpy())
        return np.concatenate(logits)

    @torch.no_grad()
    def _update_ema(self) -> None:
        for ema, now in zip(self.ema.parameters(), self.network.parameters(), strict=True):
            ema.lerp_(now, 1 - self.ema_decay)
