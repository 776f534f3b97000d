"""The network, the policy around it, and the buffer: rows on their own, agreeing answers, advantages by seat."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.logger import Logger
from support.arenas import positions
from support.streams import advantages_of_streams

from krypenv import Engine, Rules
from krypenv.agents.neural.action_features import ActionFeatures, gather_action_features
from krypenv.agents.neural.network import Shape
from krypenv.cards import NUM_ACTIONS, NUM_KINDS
from krypenv.envs.base import observation_space
from krypenv.observation import SIZE
from krypenv.training.learn.buffer import Decisions, SeatRolloutBuffer
from krypenv.training.learn.policy import CardPolicy, Position
from krypenv.training.learn.ppo import SelfPlayPPO
from krypenv.training.learn.settings import TrainSettings

torch.set_num_threads(1)
TWO, THREE = Rules.preset(), Rules.preset(players=3)


def position_of(engine: Engine, rows: slice = slice(None)) -> Position:
    """The decisions of some rows, with hidden hands for the critic, which may see any."""
    size = engine.num_games, (engine.rules.players - 1) * NUM_KINDS
    hidden = np.random.default_rng(0).integers(0, 3, size, np.int8)
    seen, masks = engine.observation[rows].copy(), engine.action_mask[rows].copy()
    features = gather_action_features(engine.rules, seen, masks)
    return Decisions(seen, features, hidden[rows], engine.seat[rows]).tensors("cpu")


def make_policy(rules: Rules, critic: bool = True) -> CardPolicy:
    """A policy whose logits and values are far from 0 everywhere."""
    torch.manual_seed(0)
    policy = CardPolicy(
        observation_space(SIZE), gym.spaces.Discrete(NUM_ACTIONS), lambda left: 1e-3, rules=rules,
        shape=Shape(16, 8, 4), hidden=(rules.players - 1) * NUM_KINDS * critic,
    )  # fmt: skip
    with torch.no_grad():
        for parameter in policy.network.parameters():
            parameter.mul_(2)
    return policy


def learner(**coefs: float) -> SelfPlayPPO:
    """A small learner, whose update is one minibatch."""
    sizes = {"envs": 16, "steps": 8, "batch": 128, "epochs": 1, "context": 16, "card": 8, "embedding": 4}
    return SelfPlayPPO(TrainSettings(**sizes, **coefs, device="cpu", seed=1))


@pytest.mark.parametrize("rules", [TWO, THREE], ids=str)
@torch.no_grad()
def test_all_ways_to_ask_agree_with_the_probabilities_of_each_row_alone(rules: Rules) -> None:
    policy, engine = make_policy(rules), positions(rules)
    masks, position = engine.action_mask.copy(), position_of(engine)
    plain = torch.from_numpy(engine.observation.copy())
    probabilities = policy.get_distribution(plain, masks).distribution.probs
    for row in range(0, 60, 7):
        alone = position_of(engine, slice(row, row + 1))
        logits = policy.network(alone.observations, alone.choices).logits[0]
        assert torch.allclose(torch.softmax(logits, 0), probabilities[row, np.flatnonzero(masks[row])], atol=1e-5)
        assert torch.allclose(policy.predict_values(alone), policy.predict_values(position)[row], atol=1e-4)
    for deterministic in (False, True):
        actions, values, log_probs = policy(position, deterministic)
        assert torch.allclose(log_probs.exp(), probabilities[range(60), actions], atol=1e-5)
        again, taken, _ = policy.evaluate_actions(position, actions)
        assert torch.allclose(again, values, atol=1e-5)
        assert torch.allclose(taken, log_probs, atol=1e-5)
        of_arrays = policy.evaluate_actions(plain, actions, torch.from_numpy(masks))[1]
        assert torch.allclose(of_arrays, log_probs, atol=1e-5)
    assert torch.equal(actions, probabilities.argmax(1))
    player = policy.network.player(rules, "it")
    assert (player.act(plain.numpy(), masks) == actions.numpy()).all()
    assert torch.allclose(policy.predict_values(plain), policy(plain, action_masks=masks)[1], atol=1e-5)
    with pytest.raises(ValueError, match="pass action_masks"):
        policy.predict(plain.numpy())


@torch.no_grad()
def test_entropies_and_divergences_are_sums_over_all_actions() -> None:
    policy, engine = make_policy(THREE), positions(THREE)
    other, position, masks = copy.deepcopy(policy), position_of(engine), engine.action_mask.copy()
    for parameter in other.parameters():
        parameter.mul_(0.8)
    choices = position.choices
    theirs = other.network(position.observations, choices).logits[choices.row, choices.place]
    found = policy.evaluate(position, torch.from_numpy(masks.argmax(1)), theirs)
    plain = torch.from_numpy(engine.observation.copy())
    new, old = (each.get_distribution(plain, masks).distribution.probs.double() for each in (policy, other))
    for row in range(60):
        p, q = (each[row, np.flatnonzero(masks[row])] for each in (new, old))
        assert float(found.entropies[row]) == pytest.approx(-float((p * p.log()).sum()), abs=1e-4)
        assert float(found.divergences[row]) == pytest.approx(float((p * (p / q).log()).sum()), abs=1e-4)


def test_the_loss_of_an_update_is_the_one_that_is_written() -> None:
    """One minibatch, one epoch: the logged parts add up to the logged loss, and each weight counts."""
    losses = []
    for entropy, divergence in ((0.0, 0.0), (0.5, 0.0), (0.0, 2.0)):
        model = learner(ent_coef=entropy, kl_coef=divergence)
        with torch.no_grad():
            for parameter in model.ema.parameters():
                parameter.mul_(0.5)
        model.set_logger(Logger(None, []))
        model.collect_rollouts()
        model.train()
        its = {key.removeprefix("train/"): value for key, value in model.logger.name_to_value.items()}
        told = its["policy_loss"] - entropy * its["entropy"] + divergence * its["divergence"]
        assert its["loss"] == pytest.approx(told + 0.5 * its["value_loss"] + 0.5 * its["own_value_loss"], abs=1e-4)
        assert its["own_value_loss"] > 0
        losses.append(its["loss"])
    assert losses[1] < losses[0] < losses[2]


@torch.no_grad()
def test_the_critic_alone_sees_hidden_hands_and_missing_ones_are_empty() -> None:
    policy, position = make_policy(THREE), position_of(positions(THREE))
    actions = policy(position, True)[0]
    seen, other = (policy.evaluate(each, actions) for each in (position, position._replace(hidden=position.hidden * 0)))
    assert torch.equal(seen.log_probs, other.log_probs)
    assert torch.equal(seen.own_values, other.own_values)
    assert (seen.values != other.values).float().mean() > 0.9
    two = position_of(positions(TWO))
    padded = two._replace(hidden=torch.cat([two.hidden, torch.zeros(60, NUM_KINDS, dtype=torch.int8)], 1))
    assert torch.equal(policy.predict_values(two), policy.predict_values(padded))
    plain = make_policy(TWO, critic=False)
    assert torch.equal(plain.predict_values(two), plain.network(two.observations, two.choices).values)


def test_gradients_of_the_critic_do_not_reach_the_own_value() -> None:
    policy, position = make_policy(TWO), position_of(positions(TWO))
    found = policy.evaluate(position, policy(position)[0])
    found.values.sum().backward(retain_graph=True)
    assert policy.network.value.weight.grad is None
    (found.log_probs.sum() + found.own_values.sum()).backward()
    assert all(parameter.grad is not None for parameter in policy.parameters())


def test_the_ema_policy_keeps_its_share_in_each_update() -> None:
    model = learner(ema_decay=0.9)
    start = copy.deepcopy(model.ema.state_dict())
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.add_(1.0)
    for step in range(1, 4):
        model._update_ema()
        for name, value in model.ema.state_dict().items():
            assert torch.allclose(value, start[name] + 1 - 0.9**step, atol=1e-5)


STEPS, ROWS, SEATS, GAMMA, LAMBDA = 24, 5, 3, 0.9, 0.8


def filled_buffer(rng: np.random.Generator) -> tuple[SeatRolloutBuffer, np.ndarray, np.ndarray]:
    """A buffer whose rows can be told apart by what they hold: step and row are in observations, features, hands."""
    space = gym.spaces.Box(-128, 127, (4,), np.int8)
    buffer = SeatRolloutBuffer(
        STEPS, space, gym.spaces.Discrete(105), "cpu", gae_lambda=LAMBDA, gamma=GAMMA, n_envs=ROWS, seats=SEATS,
        hidden=2,
    )  # fmt: skip
    for step in range(STEPS):
        seats = rng.integers(0, SEATS, ROWS)
        values = rng.normal(size=ROWS).astype(np.float32)
        tags = np.stack([np.full(ROWS, step), np.arange(ROWS), seats, np.zeros(ROWS)], 1).astype(np.int8)
        counts = np.array([legal_of(step, row) for row in range(ROWS)])
        actions = np.concatenate([np.arange(count) + step for count in counts])
        features = np.repeat(tags[:, :2], counts, 0)
        decisions = Decisions(tags, ActionFeatures(counts, actions, features), tags[:, :2], seats)
        buffer.put(decisions, np.full(ROWS, step), values, np.zeros(ROWS))
        buffer.earned[step] = rng.normal(size=(ROWS, SEATS))
        buffer.ends[step] = rng.random(ROWS) < 0.15
    return buffer, rng.integers(0, SEATS, ROWS), rng.normal(size=ROWS).astype(np.float32)


def legal_of(step: int, row: int) -> int:
    """How many actions are legal in a decision."""
    return 1 + (3 * step + row) % 5


def test_advantages_are_those_of_each_seat_alone() -> None:
    for seed in range(20):
        buffer, last_seats, last_values = filled_buffer(np.random.default_rng(seed))
        buffer.compute_seat_advantages(last_seats, last_values)
        played = buffer.values, buffer.seats, buffer.earned, buffer.ends, last_seats, last_values
        advantages, known = advantages_of_streams(*played, GAMMA, LAMBDA)
        np.testing.assert_array_equal(buffer.valid, known)
        np.testing.assert_allclose(buffer.advantages, advantages, atol=1e-4)


@pytest.mark.parametrize("size", [2, 8, 9, 1000])
def test_batches_hold_each_valid_decision_once_with_its_own_features(size: int) -> None:
    buffer, last_seats, last_values = filled_buffer(np.random.default_rng(1))
    buffer.compute_seat_advantages(last_seats, last_values)
    buffer.other = np.concatenate([features.actions / 2 for features in buffer.features]).astype(np.float32)
    seen: list[tuple[int, int]] = []
    for batch in buffer.minibatches(size):
        choices = batch.position.choices
        assert len(batch.actions) <= size
        assert batch.other.tolist() == (choices.actions / 2).tolist()
        for place, (step, row, *_) in enumerate(batch.position.observations.tolist()):
            seen.append((step, row))
            mine, count = choices.row == place, legal_of(step, row)
            assert choices.actions[mine].tolist() == list(range(step, step + count))
            assert choices.place[mine].tolist() == list(range(count))
            assert choices.features[mine].tolist() == [[step, row]] * count
            assert (batch.actions[place], *batch.position.hidden[place]) == (step, step, row)
            assert batch.advantages[place] == buffer.advantages[step, row]
            assert batch.returns[place] == buffer.advantages[step, row] + buffer.values[step, row]
    valid = [(int(step), int(row)) for step, row in np.argwhere(buffer.valid)]
    assert len(seen) == len(set(seen))
    assert set(seen) <= set(valid)
    rest = len(valid) % size if size < len(valid) else 0
    assert len(valid) - len(seen) == (rest if rest <= size // 2 else 0)
