"""The native vector environment of Stable-Baselines3, and its models as agents."""

import base64
import hashlib
import json
import os
import pickle
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize
from support.commands import krypenv

from krypenv import Engine, Rules, adapters, agents
from krypenv.adapters.gym import LearnerEnv
from krypenv.adapters.sb3 import KrypkasinoVecEnv, PolicyAgent
from krypenv.training import duplicate_match
from krypenv.training.evaluation.score.playing import identity_of
from krypenv.training.evaluation.score.protocol import TABLES

LOW = Rules.preset("mini-low")
SMALL = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [16]}, "device": "cpu"}


def untrained(rules=LOW, features=False):
    """A model that has learned nothing."""
    return MaskablePPO("MlpPolicy", KrypkasinoVecEnv(rules, 4, features=features), seed=3, **SMALL)


# ---------------------------------------------------------------------- the environment


def test_masks_are_one_array_and_attributes_are_shared():
    env = KrypkasinoVecEnv(Rules.preset(), 5)
    env.reset()
    assert is_masking_supported(env)
    assert env.env_method("action_masks") is env.batch.action_mask
    assert get_action_masks(env).shape == (5, 105)
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[3, 1]), env.batch.action_mask[[3, 1]])
    env.set_attr("mark", 7)
    assert env.get_attr("mark", indices=[0, 2]) == [7, 7]
    with pytest.raises(ValueError, match="all games share 'mark'"):
        env.set_attr("mark", 8, indices=[0])
    assert not env.has_attr("no_such_thing")
    assert (env.env_is_wrapped(Monitor), env.env_is_wrapped(VecMonitor, indices=0)) == ([True] * 5, [False])


def test_steps_equal_those_of_single_environments():
    arguments = {"seat": 1, "dense": True}
    env = KrypkasinoVecEnv(Rules.preset("mini-double", players=3), 4, **arguments)
    dummy = DummyVecEnv([lambda: LearnerEnv(players=3, variant="mini-double", **arguments) for _ in range(4)])
    for each in (env, dummy):
        each.seed(2)
    np.testing.assert_array_equal(env.reset(), dummy.reset())
    episodes, returns, lengths = 0, np.zeros(4), np.zeros(4)
    for _ in range(60):
        np.testing.assert_array_equal(get_action_masks(env), get_action_masks(dummy))
        actions = env.action_masks().argmax(axis=1)
        observations, rewards, dones, infos = env.step(actions)
        *expected, its = dummy.step(actions)
        for one, other in zip((observations, rewards, dones), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)
        assert (observations.dtype, rewards.dtype, dones.dtype) == (np.int8, np.float32, bool)
        returns, lengths = returns + rewards, lengths + 1
        for row in np.flatnonzero(dones):
            last = infos[row].pop("terminal_observation")
            np.testing.assert_array_equal(last, its[row]["terminal_observation"])
            episode = infos[row].pop("episode")
            assert (episode["r"], episode["l"]) == (pytest.approx(returns[row]), lengths[row])
            assert infos[row] == {"TimeLimit.truncated": False}
        assert not any(infos[row] for row in np.flatnonzero(~dones))
        returns[dones] = lengths[dones] = 0
        episodes += dones.sum()
    assert episodes > 8


def test_sb3_finds_nothing_and_maskable_ppo_learns_and_is_evaluated():
    rules = Rules.parse("mini-double players=4 teams=2")
    env = VecNormalize(KrypkasinoVecEnv(rules, 64, seat="random"), norm_obs=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(LearnerEnv("kasino", variant="finland", features=True))
        model = MaskablePPO("MlpPolicy", env, seed=0, **SMALL)
        model.learn(1024)
        assert len(model.ep_info_buffer) > 20
        env = KrypkasinoVecEnv(rules, 8, seed=1)
        mean, deviation = evaluate_policy(model, env, n_eval_episodes=8)
    assert -100 < mean < 100
    assert deviation > 0
    observations, masks = env.reset(), env.action_masks()
    actions, _ = model.predict(observations, action_masks=masks)
    assert (masks[range(8), actions] == 1).all()


# ---------------------------------------------------------------------- a model as an agent


@pytest.mark.parametrize("features", [False, True])
def test_an_agent_does_what_its_model_predicts_from_either_observation(features):
    model = untrained(features=features)
    agent, chosen = PolicyAgent(model, str(LOW), name="mine"), set()
    plain, full = Engine(LOW, 32, seed=1), Engine(LOW, 32, seed=1, features=True)
    for _ in range(20):
        seen, mask = (full if features else plain).observation, plain.action_mask.copy()
        expected, _ = model.predict(seen, action_masks=mask, deterministic=True)
        for engine in (plain, full):
            np.testing.assert_array_equal(agent.act(engine.observation, mask), expected)
            engine.step(expected)
        chosen.update(expected.tolist())
    assert len(chosen) > 5
    drawn = PolicyAgent(model, LOW, deterministic=False).act(plain.observation, plain.action_mask)
    assert (drawn != agent.act(plain.observation, plain.action_mask)).any()
    assert plain.action_mask[range(32), drawn].all()
    assert duplicate_match(agent, "greedy", LOW, deals=2).agent == "mine"
    KrypkasinoVecEnv(LOW, 8, opponents=agent)


def test_an_agent_plays_the_game_of_its_model_and_no_other():
    for model, rules, sentence in (
        (untrained(), Rules.preset("mulle-glimne"), "this model chooses from .*, not from 139 actions"),
        (untrained(), Rules.preset("kasino-finland"), "this model sees .*, not the 451 entries"),
        ("greedy", LOW, "a policy is a loaded model, as .*, not 'greedy'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            PolicyAgent(model, rules)
    with pytest.raises(ValueError, match="was made for other rules"):
        duplicate_match(PolicyAgent(untrained(), LOW), "greedy", Rules.preset("mini-high"), deals=1)


# ---------------------------------------------------------------------- a saved model, named by a person


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory to work in, with a model in mine.zip, and one in evil.zip that makes a folder where it is loaded."""

    class Trap:
        def __reduce__(self):
            return os.mkdir, ("loaded",)

    monkeypatch.chdir(tmp_path)
    untrained(features=True).save("mine")
    with zipfile.ZipFile("mine.zip") as good, zipfile.ZipFile("evil.zip", "w") as bad:
        for name in good.namelist():
            data = good.read(name)
            if name == "data":
                facts = json.loads(data)
                facts["policy_class"][":serialized:"] = base64.b64encode(pickle.dumps(Trap())).decode()
                data = json.dumps(facts).encode()
            bad.writestr(name, data)
    return tmp_path


@pytest.mark.parametrize("path", ["mine.zip", "mine"])
def test_a_saved_model_plays_under_its_name(folder, path):
    agent = agents.make(f"sb3(path='{path}')", LOW)
    model = PolicyAgent(MaskablePPO.load(folder / "mine.zip", device="cpu"), LOW)
    engine = Engine(LOW, 64, seed=1)
    np.testing.assert_array_equal(*(each.act(engine.observation, engine.action_mask) for each in (agent, model)))
    done = krypenv("evaluate", agent.name, "--against", "greedy", "--rules", "mini-low", "--deals", 2)
    assert done.exit_code == 0, done.output
    assert agent.name in done.stdout
    identity = identity_of(agents.typed(agent.name), [TABLES["two"]])  # what is seen is as large there
    digest = hashlib.sha256((folder / "mine.zip").read_bytes()).hexdigest()
    assert (identity.name, identity.files_sha256) == (agent.name, [digest])


def test_a_pickle_is_loaded_only_for_a_name_that_was_typed(folder):
    evil = "sb3(path='evil.zip')"
    with pytest.raises(ValueError, match="is named in a file, and nothing that a file names is imported"):
        agents.make_known(evil, LOW)
    assert not Path("loaded").exists()
    with pytest.raises(ValueError, match="can't be read"):
        agents.make(evil, LOW)
    assert Path("loaded").exists()


def test_a_wrong_file_or_name_is_told_in_one_sentence(folder, monkeypatch):
    data = Path("mine.zip").read_bytes()
    Path("torn.zip").write_bytes(data[: len(data) // 2])
    PPO("MlpPolicy", KrypkasinoVecEnv(LOW, 4), **SMALL).save("ppo")
    for spec, reason in (
        ("sb3(path='torn')", "'torn.zip' can't be read as a model that MaskablePPO has saved: it raised"),
        ("sb3(path='ppo')", "'ppo.zip' can't be read as a model that MaskablePPO has saved: it .*must subclass"),
        ("sb3(path='none')", "there is no file 'none' with a model of Stable-Baselines3"),
        ("sb3(path='.')", "there is no file '.' with a model"),
        ("sb3", r"name its file, as in sb3\(path='mine.zip'\)"),
        ("sb3(pat='mine')", r"sb3 has no option 'pat' \(did you mean 'path'\?\)"),
        ("sb3(path=3)", "path is of type str"),
        ("mine.zip", r"mine.zip' is a model of Stable-.*, and not read: it holds a pickle.*sb3\(path='mine.zip'\)$"),
        ("learned(model='mine')", r"mine.zip' is a model of Stable-.*name the agent sb3\(path='.*mine.zip'\)$"),
    ):
        with pytest.raises(ValueError, match=reason) as refused:
            agents.make(spec, LOW)
        assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match=r"'mine.zip' can't play kasino-finland.*not the 451 entries"):
        agents.make("sb3(path='mine')", Rules.preset("kasino-finland"))
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    monkeypatch.delitem(sys.modules, "krypenv.adapters.sb3")
    monkeypatch.delattr(adapters, "sb3", raising=False)
    with pytest.raises(ImportError, match=r"sb3 needs sb3_contrib, which is not installed; .*\[train\]"):
        agents.make("sb3(path='mine')", LOW)
