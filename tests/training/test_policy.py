"""The network and the policy around it: rows on their own, agreeing answers, a critic that sees more, an EMA policy."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from krypenv import Engine, Rules
from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.agents.neural.action_features import gather_action_features
from krypenv.agents.neural.network import ILLEGAL, Shape
from krypenv.cards import NUM_ACTIONS, NUM_KINDS
from krypenv.envs.base import observation_space
from krypenv.observation import SIZE
from krypenv.training.learn.buffer import Decisions
from krypenv.training.learn.network import CardNetwork, Choices, NetworkAgent
from krypenv.training.learn.policy import CardPolicy
from krypenv.training.learn.ppo import SelfPlayPPO
from krypenv.training.learn.settings import TrainSettings

torch.set_num_threads(1)
TABLES = [Rules.preset(), Rules.preset(players=3), Rules.preset("howto", players=2), Rules.preset(players=6, teams=3)]
any_table = pytest.mark.parametrize("rules", TABLES, ids=str)


def positions(rules: Rules, games: int = 100, plies: int = 37, seed: int = 5) -> Engine:
    """Games up to some plies on, with takes pending in some rows."""
    engine, last = Engine(rules, games, seed=seed), np.random.default_rng(seed).integers(0, plies + 1, games)
    for ply in range(plies):
        rows = np.flatnonzero(ply < last)
        engine.step(engine.sample_actions(rows), rows)
    return engine


def hidden_hands(engine: Engine) -> np.ndarray:
    """Hands for the critic, (B, (P - 1) * 52): it may see any."""
    size = engine.num_games, (engine.rules.players - 1) * NUM_KINDS
    return np.random.default_rng(0).integers(0, 3, size, np.int8)


def decisions_of(engine: Engine) -> Decisions:
    features = gather_action_features(engine.rules, engine.observation, engine.action_mask)
    return Decisions(engine.observation.copy(), features, hidden_hands(engine), engine.seat.copy())


def learner(**coefs: float) -> SelfPlayPPO:
    """A small learner, whose update is one minibatch."""
    sizes = {"envs": 16, "steps": 8, "batch": 128, "epochs": 1, "context": 16, "card": 8, "embedding": 4}
    return SelfPlayPPO(TrainSettings(**sizes, **coefs, device="cpu", seed=1))


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


@any_table
@torch.no_grad()
def test_rows_of_the_network_are_independent(rules: Rules) -> None:
    """One network plays any table, and no row's scores depend on another's."""
    torch.manual_seed(1)
    network, engine = CardNetwork(Shape(16, 8, 4)), positions(rules)
    observations = torch.from_numpy(engine.observation.copy())
    choices = Choices.of(gather_action_features(rules, engine.observation, engine.action_mask))
    scores = network(observations, choices)
    legal = engine.action_mask.sum(1)
    assert ((scores.logits > ILLEGAL / 2).sum(1).numpy() == legal).all()
    assert len(set(legal.tolist())) > 2
    assert torch.isfinite(scores.values).all()
    for row in range(0, 100, 7):
        one = slice(row, row + 1)
        alone = network(
            observations[one],
            Choices.of(gather_action_features(rules, engine.observation[one], engine.action_mask[one])),
        )
        assert alone.logits.shape == (1, legal[row])
        assert torch.allclose(alone.logits[0], scores.logits[row, : legal[row]], atol=1e-5)
        assert torch.allclose(alone.values[0], scores.values[row], atol=1e-5)


@any_table
@torch.no_grad()
def test_what_the_policy_is_asked_in_different_ways_agrees(rules: Rules) -> None:
    policy, engine = make_policy(rules), positions(rules)
    decisions, masks = decisions_of(engine), engine.action_mask.copy()
    position, plain = decisions.tensors("cpu"), torch.from_numpy(engine.observation.copy())
    for deterministic in (False, True):
        actions, values, log_probs = policy(position, deterministic)
        assert (masks[np.arange(100), actions.numpy()] == 1).all()
        again, taken, _ = policy.evaluate_actions(position, actions)
        assert torch.allclose(again, values, atol=1e-5)
        assert torch.allclose(taken, log_probs, atol=1e-5)
        distribution = policy.get_distribution(plain, masks)
        assert torch.allclose(distribution.log_prob(actions), log_probs, atol=1e-5)
        of_arrays = policy.evaluate_actions(plain, actions, torch.from_numpy(masks))[1]
        assert torch.allclose(of_arrays, log_probs, atol=1e-5)
        if deterministic:
            assert torch.equal(distribution.mode(), actions)
            assert torch.equal(
                torch.from_numpy(NetworkAgent(policy.network, rules, "it", solver=False).act(plain.numpy(), masks)),
                actions,
            )
    assert torch.allclose(policy.predict_values(position), values, atol=1e-5)
    assert torch.allclose(policy.predict_values(plain), policy(plain, action_masks=masks)[1], atol=1e-5)


@torch.no_grad()
def test_entropies_and_divergences_from_another_policy() -> None:
    """Against sums over all actions by hand."""
    rules = TABLES[1]
    policy = make_policy(rules)
    other = copy.deepcopy(policy.network)
    for parameter in other.parameters():
        parameter.mul_(0.8)
    engine = positions(rules, 40)
    position = decisions_of(engine).tensors("cpu")
    plain, masks = torch.from_numpy(engine.observation.copy()), engine.action_mask.copy()
    actions = torch.from_numpy(masks.argmax(1))
    theirs = other(position.observations, position.choices).logits[position.choices.row, position.choices.place]
    found = policy.evaluate(position, actions, theirs)
    new = policy.get_distribution(plain, masks).distribution.probs.double()
    policy.network, network = other, policy.network
    old = policy.get_distribution(plain, masks).distribution.probs.double()
    policy.network = network
    for row in range(40):
        p, q = ([float(each[row, a]) for a in np.flatnonzero(masks[row])] for each in (new, old))
        assert abs(float(found.entropies[row]) + sum(x * np.log(x) for x in p)) < 1e-4
        assert abs(float(found.divergences[row]) - sum(x * np.log(x / y) for x, y in zip(p, q, strict=True))) < 1e-4
        assert abs(float(found.log_probs[row]) - np.log(float(new[row, actions[row]]))) < 1e-4
    assert torch.equal(found.own_values, network(position.observations, position.choices).values)
    values, log_probs, entropies = policy.evaluate_actions(position, actions)
    assert torch.equal(values, found.values)
    assert torch.equal(log_probs, found.log_probs)
    assert torch.equal(entropies, found.entropies)


def test_the_loss_of_an_update_is_the_one_that_is_written() -> None:
    """One minibatch, one epoch: the logged parts add up to the logged loss, and each weight counts."""
    from stable_baselines3.common.logger import configure

    logged = {}
    for name, coefs in {"plain": (0.0, 0.0), "entropy": (0.5, 0.0), "divergence": (0.0, 2.0)}.items():
        model = learner(ent_coef=coefs[0], kl_coef=coefs[1])
        with torch.no_grad():
            for parameter in model.ema.parameters():
                parameter.mul_(0.5)
        model.set_logger(configure(None, []))
        model.collect_rollouts()
        model.train()
        its = {key.removeprefix("train/"): value for key, value in model.logger.name_to_value.items()}
        told = its["policy_loss"] - coefs[0] * its["entropy"] + coefs[1] * its["divergence"]
        assert abs(its["loss"] - told - 0.5 * its["value_loss"] - 0.5 * its["own_value_loss"]) < 1e-4
        assert its["own_value_loss"] > 0
        logged[name] = its
    assert logged["entropy"]["loss"] < logged["plain"]["loss"] < logged["divergence"]["loss"]


@any_table
@torch.no_grad()
def test_the_critic_sees_hidden_hands_and_the_network_does_not(rules: Rules) -> None:
    policy, engine = make_policy(rules), positions(rules, 60, plies=6)
    decisions = decisions_of(engine)
    position = decisions.tensors("cpu")
    other = decisions._replace(hidden=np.roll(decisions.hidden, 1, axis=0)).tensors("cpu")
    differ = (decisions.hidden != np.roll(decisions.hidden, 1, axis=0)).any(1)
    assert differ.sum() > 40
    actions = torch.from_numpy(engine.action_mask.argmax(1))
    (values, log_probs, _), (others, same, _) = (policy.evaluate_actions(each, actions) for each in (position, other))
    assert torch.equal(log_probs, same)
    assert ((values != others).numpy()[differ]).mean() > 0.9
    scores, own = (policy.network(each.observations, each.choices) for each in (position, other))
    assert torch.equal(scores.values, own.values)
    assert not any(name.startswith("critic") for name in policy.network.state_dict())


@torch.no_grad()
def test_without_a_critic_or_with_hands_that_nobody_has() -> None:
    """A run without a critic gets hidden hands of no width; one for more players, narrower ones where fewer play."""
    engine = positions(TABLES[0], 20)
    position, actions = decisions_of(engine).tensors("cpu"), torch.from_numpy(engine.action_mask.argmax(1))
    plain = make_policy(TABLES[0], critic=False)
    scores = plain.network(position.observations, position.choices)
    for hidden in (position.hidden, position.hidden[:, :0]):
        assert torch.equal(plain.evaluate_actions(position._replace(hidden=hidden), actions)[0], scores.values)
    wide = make_policy(TABLES[1])
    padded = torch.cat([position.hidden, torch.zeros(20, NUM_KINDS, dtype=torch.int8)], 1)
    values = wide.evaluate_actions(position, actions)[0]
    assert torch.equal(values, wide.evaluate_actions(position._replace(hidden=padded), actions)[0])
    assert not torch.equal(values, wide.network(position.observations, position.choices).values)


def test_gradients_of_the_critic_do_not_reach_the_own_value() -> None:
    policy, engine = make_policy(TABLES[0]), positions(TABLES[0], 20)
    position = decisions_of(engine).tensors("cpu")
    found = policy.evaluate(position, torch.from_numpy(engine.action_mask.argmax(1)))
    found.values.sum().backward(retain_graph=True)
    assert policy.network.value.weight.grad is None
    (found.log_probs.sum() + found.own_values.sum()).backward()
    assert all(parameter.grad is not None for parameter in policy.parameters())


@pytest.mark.parametrize("ema_decay", [0.0, 0.9, 1.0])
def test_the_ema_policy_follows_as_told(ema_decay: float) -> None:
    model = learner(ema_decay=ema_decay)
    start = copy.deepcopy(model.ema.state_dict())
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.add_(1.0)
    for step in range(1, 4):
        model._update_ema()
        for name, value in model.ema.state_dict().items():
            assert torch.allclose(value, start[name] + 1 - ema_decay**step, atol=1e-5)


def test_plain_maskable_ppo_learns_with_it() -> None:
    """The policy alone, without the collector of this package."""
    env = KrypkasinoVecEnv(TABLES[0], 16, features=False, dense=True)
    model = MaskablePPO(
        CardPolicy, env, n_steps=8, batch_size=64, n_epochs=2, device="cpu", seed=1,
        policy_kwargs={"rules": TABLES[0], "shape": Shape(16, 8, 4)},
    )  # fmt: skip
    before = copy.deepcopy(model.policy.network.state_dict())
    model.learn(400)
    after = model.policy.network.state_dict()
    assert all(torch.isfinite(value).all() for value in after.values())
    assert all(not torch.equal(before[name], after[name]) for name in after)
    actions, _ = model.predict(env.reset(), action_masks=env.action_masks(), deterministic=True)
    assert (env.action_masks()[np.arange(16), actions] == 1).all()
    with pytest.raises(ValueError, match="pass action_masks"):
        model.predict(env.reset())
