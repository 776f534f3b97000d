"""RLlib: the environment pays what the games pay, the policy takes legal actions, and the example learns."""

import doctest
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.pre_checks.env import check_multiagent_environments
from typer.testing import CliRunner

from krypenv import Game, Rules
from krypenv.adapters import rllib
from krypenv.adapters.rllib import KrypenvMultiAgentEnv, MaskedModule, agent_of
from krypenv.rewards import illegal_reward, returns_of
from krypenv.training.examples.ppo import Policy
from krypenv.training.examples.rllib_ppo import Settings, algorithm_of, app
from krypenv.training.runs.executors import ray_map

MINI = Rules.preset("mini-low")
GAMES = ["krypkasino players=4 teams=2", "mini-low players=3 games=2", "mulle-glimne players=2"]
SMALL = {
    "rules": "mini-low", "games": 16, "steps": 16, "units": 16, "batch": 128, "watched": 0, "every": 2,
    "opponent": "random",
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    with ray_map():
        yield


# ------------------------------------------------------------------ the environment


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("text", GAMES)
def test_seats_are_paid_what_the_game_pays(text, dense):
    rules, rng = Rules.parse(text), np.random.default_rng(1)
    env = KrypenvMultiAgentEnv({"rules": text, "dense": dense, "features": True, "scale": 0.5})
    check_multiagent_environments(env)
    for seed in range(2):
        game, paid, over = Game(rules, seed=seed), Counter(), False
        seen, _ = env.reset(seed=seed)
        while not over:
            (name,) = seen  # the seat to act, and no other
            assert name == f"player_{game.turn}"
            assert env.observation_spaces[name].contains(seen[name])
            legal = np.flatnonzero(seen[name]["action_mask"])
            assert legal.tolist() == sorted(game.legal_actions())
            action = int(rng.choice(legal))
            game.act(action)
            seen, rewards, ended, cut, _ = env.step({name: action})
            over = ended["__all__"]
            if game.is_over and not game.session_over:
                game = game.next_game()
            assert not cut["__all__"]
            paid.update(rewards)
        assert game.session_over
        worth = returns_of(rules, game.totals, "centred", game.tie_breaks())
        assert [paid[f"player_{seat}"] for seat in range(rules.players)] == pytest.approx(worth / 2)


@pytest.mark.parametrize("dense", [False, True])
def test_an_illegal_action_ends_the_game_and_costs_more_than_any(dense):
    env = KrypenvMultiAgentEnv({"dense": dense})
    seen, _ = env.reset(seed=1)
    action = int(seen["player_0"]["action_mask"].argmin())
    _, rewards, ended, *_ = env.step({"player_0": action})
    assert ended["__all__"]
    assert rewards == {"player_0": illegal_reward(Rules(), "centred", dense), "player_1": 0}


def test_a_seed_repeats_the_games_and_env_runners_do_not():
    class Config(dict):
        """An `env_config` as RLlib gives it to an env runner."""

        worker_index = 1

    def decks(config):
        env = KrypenvMultiAgentEnv(config)
        return [env.reset(seed=seed) and tuple(env.env.unwrapped.game.deck) for seed in (3, None, None, None)]

    one, two = decks({"rules": "mini-low"}), decks(Config(rules="mini-low"))
    assert one == decks({"rules": "mini-low"})
    assert len(set(one)) > 1
    assert one[0] == two[0]  # the game of that seed
    assert one[1:] != two[1:]  # RLlib gives its env runners overlapping seeds


def test_a_wrong_env_config_is_told_in_a_sentence():
    for config, says in (
        ({"rule": "mini-low"}, "env_config.* unexpected .*'rule' .did you mean 'rules'"),
        ({"scale": "big"}, "could not convert string to float: 'big'"),
        ({"reward": "cash"}, "unknown reward 'cash'"),
    ):
        with pytest.raises((TypeError, ValueError), match=says) as told:
            KrypenvMultiAgentEnv(config)
        assert "\n" not in str(told.value)


# ------------------------------------------------------------------ the module


def test_a_masked_action_has_no_probability():
    config = {"network": lambda: Policy(MINI, 8)}
    env = KrypenvMultiAgentEnv({"rules": "mini-low", "features": True})
    space, actions = env.observation_spaces["player_0"], env.action_spaces["player_0"]
    module = RLModuleSpec(MaskedModule, observation_space=space, action_space=actions, model_config=config).build()
    decision = env.reset(seed=1)[0]["player_0"]
    batch = {Columns.OBS: {name: torch.tensor(value)[None] for name, value in decision.items()}}
    for forward in (module.forward_train, module.forward_exploration, module.forward_inference):
        logits = forward(batch)[Columns.ACTION_DIST_INPUTS]
        policy = torch.distributions.Categorical(logits=logits)
        assert (policy.probs[0] > 0).tolist() == (decision["action_mask"] == 1).tolist()
        assert policy.entropy().isfinite()
    values = module.network(batch[Columns.OBS]["observation"].float())[1]
    torch.testing.assert_close(module.compute_values(batch), values)
    torch.testing.assert_close(module.compute_values(batch, module.forward_train(batch)[Columns.EMBEDDINGS]), values)


# ------------------------------------------------------------------ training


def test_a_trained_policy_is_an_agent_unless_it_sees_the_history(cluster):
    algorithm = algorithm_of(Settings(**SMALL, frames=10_000))
    assert agent_of(algorithm, "mine").name == "mine"
    algorithm.stop()
    history = SimpleNamespace(config=SimpleNamespace(env_config={"history": True}))
    with pytest.raises(ValueError, match="history block"):
        agent_of(history)


def test_checkpoints_of_other_settings_are_told_in_one_sentence(cluster, tmp_path):
    words = [f"--{name}={value}" for name, value in {**SMALL, "frames": 600, "deals": 0}.items()]
    words += [f"--out={tmp_path / 'mine.safetensors'}", f"--checkpoints={tmp_path / 'checkpoints'}"]
    runner = CliRunner(env={"COLUMNS": "160", "NO_COLOR": "1"})
    assert runner.invoke(app, words).exit_code == 0
    done = runner.invoke(app, [*words, "--units", "8", "--frames", "9999"])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "can't be restored" in done.stderr


def test_examples_of_docstrings_print_what_they_say():
    assert doctest.testmod(rllib, extraglobs={"config": None}).failed == 0
