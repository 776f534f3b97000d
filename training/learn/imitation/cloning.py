"""Behaviour cloning: supervised learning from a teacher's values, before self-play begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from krypenv.agents.neural.action_features import ActionFeatures
from krypenv.agents.neural.inference import REWARD_SCALE
from krypenv.agents.neural.network import ILLEGAL
from krypenv.training.learn.imitation.demonstrations import TeachingPlan, read_demonstrations
from krypenv.training.learn.learner.buffer import Decisions, select
from krypenv.training.learn.learner.policy import CardPolicy, Position
from krypenv.training.learn.learner.torch_network import Scores
from krypenv.training.runs import limits, panels
from krypenv.training.runs.options import Part, hyperparameter

SHUFFLED = 8  # files whose decisions are shuffled together
LAST_RATE = 0.03  # part of the learning rate at the end
WORST = 20.0  # points behind the best action, at most; an action that the teacher pruned counts as this bad


@dataclass(frozen=True)
class BehaviourCloning(Part):
    """How a network learns from demonstrations."""

    panel: ClassVar[str] = panels.CLONING
    bc_epochs: int = hyperparameter(6, "passes over the demonstrations", limits.PASSES)
    batch: int = hyperparameter(2048, "decisions in a minibatch", limits.BATCH)
    learning_rate: float = hyperparameter(
        2e-3, "learning rate of Adam at the start, falling linearly to 3%", limits.RATE
    )
    target_temperature: float = hyperparameter(
        1.5, "in points: the target policy is softmax(value / target_temperature)", limits.POINTS
    )
    gamma: float = hyperparameter(
        0.95, "discount of rewards per decision of a seat; use the same in the training that follows", limits.SHARE
    )


def clone_behaviour(
    policy: CardPolicy,
    folder: Path,
    plan: TeachingPlan,
    files: int,
    how: BehaviourCloning,
    seed: int,
    progress: Callable[[float, float], None] = lambda done, regret: None,
) -> float:
    """Train a policy, its value head and its critic on files of demonstrations.

    Returns the regret in the last epoch, in points a decision: how far the policy's best actions are behind the
    teacher's best ones, by the teacher's values. `progress` receives the part that is done and the regret so far. The
    result depends only on the arguments.
    """
    optimizer = torch.optim.Adam([each for each in policy.parameters() if each.requires_grad], lr=how.learning_rate)
    policy.set_training_mode(True)
    regret = 0.0
    for number in range(how.bc_epochs):
        random = np.random.default_rng([seed, number])
        order, regrets = random.permutation(files), []
        for start in range(0, files, SHUFFLED):
            done = (number + start / files) / how.bc_epochs
            for group in optimizer.param_groups:
                group["lr"] = how.learning_rate * max(1 - done, LAST_RATE)
            for batch in _batches(folder, plan, order[start : start + SHUFFLED], how, random, policy.device):
                loss, behind = _loss(policy, *batch, how.target_temperature)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
                optimizer.step()
                regrets.append(behind)
            regret = float(np.mean(regrets))
            progress((number + min(start + SHUFFLED, files) / files) / how.bc_epochs, regret)
    policy.ema.load_state_dict(policy.network.state_dict())
    return regret


Batch = tuple[Position, Tensor, Tensor]  # values of the legal actions, (L,), and returns, (B,)


def _batches(
    folder: Path,
    plan: TeachingPlan,
    numbers: np.ndarray,
    how: BehaviourCloning,
    random: np.random.Generator,
    device: torch.device,
) -> Iterator[Batch]:
    """Yield shuffled minibatches of the decisions in some files, without those that had no choice."""
    demonstrations = [read_demonstrations(folder, plan, int(number), how.gamma) for number in numbers]
    features = ActionFeatures(*map(np.concatenate, zip(*(each.features for each in demonstrations), strict=True)))
    observations, hidden, values, returns = (
        np.concatenate([getattr(each, name) for each in demonstrations])
        for name in ("observations", "hidden", "values", "returns")
    )
    starts = np.cumsum(features.counts) - features.counts
    rows = random.permutation(np.flatnonzero(features.counts > 1))
    for at in range(0, max(len(rows) - how.batch // 2, 1), how.batch):
        chosen = rows[at : at + how.batch]
        valued = select(ActionFeatures(features.counts, features.actions, values[:, None]), starts, chosen)
        decisions = Decisions(observations[chosen], select(features, starts, chosen), hidden[chosen], chosen)
        told = torch.from_numpy(valued.features[:, 0]).to(device)
        earned = torch.from_numpy(returns[chosen] * REWARD_SCALE).to(device)
        yield decisions.tensors(device), told, earned


def _loss(
    policy: CardPolicy, position: Position, values: Tensor, returns: Tensor, target_temperature: float
) -> tuple[Tensor, float]:
    """Return the loss, and the mean regret of the best actions in points."""
    scores: Scores = policy.network(position.observations, position.choices)
    told = position.choices.spread(values, len(returns), -torch.inf)
    told = torch.maximum(told, told.max(1, keepdim=True).values - WORST).masked_fill(scores.logits <= ILLEGAL, ILLEGAL)
    target = torch.softmax(told / target_temperature, 1)
    policy_loss = -(target * torch.log_softmax(scores.logits, 1).clamp(min=-50)).sum(1).mean()
    value_loss = ((scores.values - returns) ** 2).mean()
    if policy.has_critic(position):
        value_loss = value_loss + ((policy.state_value(position, scores) - returns) ** 2).mean()
    chosen = told.gather(1, scores.logits.argmax(1, keepdim=True)).squeeze(1)
    return policy_loss + 0.5 * value_loss, float((told.max(1).values - chosen).mean())
