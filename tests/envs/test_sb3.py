"""The native vector environment of Stable-Baselines3, and its models as agents."""

import base64
import hashlib
import json
import os
import pickle
import re
import sys
import warnings
import zipfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize
from support.commands import krypenv
from typer.testing import CliRunner

from krypenv import Engine, Game, Rules, adapters, agents
from krypenv.adapters.gym import LearnerEnv
from krypenv.adapters.sb3 import KrypkasinoVecEnv, PolicyAgent
from krypenv.training import duplicate_match
from krypenv.training.cli.commands import app
from krypenv.training.evaluation.score.playing import identity_of
from krypenv.training.evaluation.score.protocol import TABLES
from krypenv.training.learn.settings import TrainSettings

SMALL = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [16]}, "device": "cpu"}


def first_legal(env):
    return env.action_masks().argmax(axis=1)


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


def test_steps_equal_those_of_the_single_environment():
    arguments = {"seat": 1, "dense": True}
    env = KrypkasinoVecEnv(Rules.preset("mini-double", players=3), 4, **arguments)
    dummy = DummyVecEnv([lambda: LearnerEnv(players=3, variant="mini-double", **arguments) for _ in range(4)])
    for each in (env, dummy):
        each.seed(2)
    np.testing.assert_array_equal(env.reset(), dummy.reset())
    episodes, returns, lengths = 0, np.zeros(4), np.zeros(4)
    for _ in range(60):
        actions = first_legal(env)
        kept = env.action_masks().copy()
        observations, rewards, dones, infos = env.step(actions)
        expected = dummy.step(actions)
        np.testing.assert_array_equal(get_action_masks(env), get_action_masks(dummy))
        np.testing.assert_array_equal(observations, expected[0])
        np.testing.assert_allclose(rewards, expected[1], atol=1e-6)
        np.testing.assert_array_equal(dones, expected[2])
        assert (observations.dtype, rewards.dtype, dones.dtype) == (np.int8, np.float32, bool)
        assert kept.any(axis=1).all()
        returns += rewards
        lengths += 1
        for row in range(4):
            if dones[row]:
                np.testing.assert_array_equal(
                    infos[row]["terminal_observation"], expected[3][row]["terminal_observation"]
                )
                assert infos[row]["episode"]["r"] == pytest.approx(returns[row])
                assert infos[row]["episode"]["l"] == lengths[row]
                returns[row], lengths[row], episodes = 0, 0, episodes + 1
            else:
                assert infos[row] == {}
    assert episodes > 8


@pytest.mark.parametrize("text", ["krypkasino", "mulle players=4 teams=2"])
def test_maskable_ppo_learns_and_is_evaluated(text):
    rules = Rules.parse(text)
    model = MaskablePPO("MlpPolicy", KrypkasinoVecEnv(rules, 64, seat="random"), seed=0, **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn(4096)
        assert model.num_timesteps >= 4096
        assert len(model.ep_info_buffer) > 50
        env = KrypkasinoVecEnv(rules, 8, seed=1)
        mean, deviation = evaluate_policy(model, env, n_eval_episodes=16)
    assert -100 < mean < 100
    assert deviation > 0
    assert env.observation_space.shape == (rules.observation_size,)
    observations, masks = env.reset(), env.action_masks()
    actions, _ = model.predict(observations, action_masks=masks)
    assert (masks[range(8), actions] == 1).all()


def test_wrappers_of_sb3_fit():
    env = VecNormalize(KrypkasinoVecEnv(Rules.preset("mini-low"), 4), norm_obs=False)
    MaskablePPO("MlpPolicy", env, **SMALL).learn(64)


@pytest.mark.parametrize(("family", "variant"), [("krypkasino", None), ("kasino", "finland"), ("mulle", "sassersson")])
def test_single_environment_suits_sb3(family, variant):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(LearnerEnv(family, variant=variant, features=True))
    MaskablePPO("MlpPolicy", LearnerEnv(family, variant=variant, players=3), **SMALL | {"batch_size": 16}).learn(16)


class TestPolicyAgent:
    """A model of MaskablePPO plays wherever an agent can."""

    RULES = Rules.preset("mini-low")

    def model(self, features):
        return MaskablePPO("MlpPolicy", KrypkasinoVecEnv(self.RULES, 4, features=features), seed=3, **SMALL)

    @pytest.mark.parametrize("features", [False, True])
    def test_it_does_what_the_model_predicts_from_either_observation(self, features):
        model = self.model(features)
        agent = PolicyAgent(model, self.RULES, name="mine")
        plain, full = Engine(self.RULES, 32, seed=1), Engine(self.RULES, 32, seed=1, features=True)
        chosen = set()
        for _ in range(30):
            seen, mask = (full if features else plain).observation, plain.action_mask.copy()
            expected, _ = model.predict(seen, action_masks=mask, deterministic=True)
            for engine in (plain, full):
                actions = agent.act(engine.observation, mask)
                assert actions.dtype == np.int64
                np.testing.assert_array_equal(actions, expected)
                engine.step(actions)
            chosen.update(expected.tolist())
        assert len(chosen) > 5
        assert agent.act(plain.observation[:0], plain.action_mask[:0]).shape == (0,)

    def test_it_meets_other_agents_and_keeps_its_name(self, tmp_path):
        self.model(True).save(tmp_path / "mine.zip")
        agent = PolicyAgent(MaskablePPO.load(tmp_path / "mine.zip", device="cpu"), str(self.RULES), name="mine")
        result = duplicate_match(agent, "greedy", self.RULES, deals=20)
        assert (result.agent, result.games) == ("mine", 40)
        env = KrypkasinoVecEnv(self.RULES, 8, opponents=agent)
        env.step(first_legal(env))

    def test_its_file_alone_is_not_read(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        self.model(True).save("krypkasino.zip")
        names = ("krypkasino.zip", "krypkasino", "./krypkasino.zip", str(tmp_path / "KRYPKASINO.ZIP"))
        for name in (*names, f"guided(model={names[0]!r})", f"learned(model={names[1]!r})"):
            with pytest.raises(ValueError, match=r"(?i)krypkasino\.zip.? is a model of Stable") as error:
                agents.make(name, self.RULES)
            assert "is a model of Stable-Baselines3, and not read: it holds a pickle" in str(error.value)
            assert re.search(r"(?i)name the agent sb3\(path='.*krypkasino.zip'\)$", str(error.value))
        done = CliRunner().invoke(app, ["evaluate", "krypkasino.zip", "--against", "greedy", "--deals", "2"])
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith("krypenv: 'krypkasino.zip' is a model of Stable-Baselines3")

    def test_it_plays_a_relative_and_no_other_game(self):
        rules = Rules.preset("kasino-finland", players=3)
        model = MaskablePPO("MlpPolicy", KrypkasinoVecEnv(rules, 4, features=True), seed=3, **SMALL)
        result = duplicate_match(PolicyAgent(model, rules), "random", rules, deals=4)
        assert result.games == 12
        with pytest.raises(ValueError, match="not the 433 entries of an observation"):
            PolicyAgent(model, self.RULES)
        with pytest.raises(ValueError, match="not the 451 entries of an observation"):
            PolicyAgent(self.model(True), rules)

    def test_drawn_actions_follow_from_torchs_seed_and_differ_from_the_best(self):
        agent = PolicyAgent(self.model(False), self.RULES, deterministic=False)
        engine = Engine(self.RULES, 64, seed=1)
        drawn = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            drawn.append(agent.act(engine.observation, engine.action_mask))
            assert engine.action_mask[range(64), drawn[-1]].all()
        np.testing.assert_array_equal(drawn[0], drawn[1])
        assert (drawn[0] != drawn[2]).any()

    def test_what_cannot_play_is_told_in_one_sentence(self):
        class Odd(gym.Env):
            def __init__(self, low, size, actions):
                self.observation_space = gym.spaces.Box(low, 127, (size,), np.int8)
                self.action_space = gym.spaces.Discrete(actions)

            def action_masks(self):
                return np.ones(self.action_space.n, np.int8)

        def untrained(*odd):
            return MaskablePPO("MlpPolicy", Odd(*odd), **SMALL | {"batch_size": 16})

        for model, reason in (
            ("mine.zip", r"a policy is a loaded model, as MaskablePPO.load\(path\) returns it, not 'mine.zip'"),
            (
                PPO("MlpPolicy", KrypkasinoVecEnv(self.RULES, 4), **SMALL),
                "a policy is a loaded model, as MaskablePPO.*PPO object",
            ),
            (untrained(-128, 433, 7), r"chooses from Discrete\(7\), not from 105 actions"),
            (untrained(-128, 434, 105), "sees Box.*not the 433 entries of an observation as int8, or 1369"),
            (untrained(0, 433, 105), "sees Box"),
        ):
            with pytest.raises(ValueError, match=reason) as refused:
                PolicyAgent(model, self.RULES)
            assert "\n" not in str(refused.value)
        with pytest.raises(ValueError, match="was made for other rules"):
            duplicate_match(PolicyAgent(self.model(False), self.RULES), "greedy", Rules.preset("mini-high"), deals=1)


class TestNamedModel:
    """`sb3(path='...')` is a saved model, and is loaded only if a person typed it."""

    RULES = Rules.preset("mini-low")

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        """A directory to work in, with a model in mine.zip."""
        monkeypatch.chdir(tmp_path)
        MaskablePPO("MlpPolicy", KrypkasinoVecEnv(self.RULES, 4, features=True), seed=3, **SMALL).save("mine")
        return tmp_path

    @pytest.fixture
    def evil(self, folder):
        """The string of a model that leaves a file where it is loaded."""

        class Trap:
            def __reduce__(self):
                return os.mkdir, ("loaded",)

        with zipfile.ZipFile("mine.zip") as good, zipfile.ZipFile("evil.zip", "w") as bad:
            for name in good.namelist():
                data = good.read(name)
                if name == "data":
                    facts = json.loads(data)
                    facts["policy_class"][":serialized:"] = base64.b64encode(pickle.dumps(Trap())).decode()
                    data = json.dumps(facts).encode()
                bad.writestr(name, data)
        return "sb3(path='evil.zip')"

    @pytest.mark.parametrize("path", ["mine.zip", "mine"])
    def test_it_plays_as_the_model_does(self, folder, path):
        agent = agents.make(f"sb3(path='{path}')", self.RULES)
        model = PolicyAgent(MaskablePPO.load(folder / "mine.zip", device="cpu"), self.RULES)
        engine = Engine(self.RULES, 64, seed=1)
        for _ in range(10):
            actions = agent.act(engine.observation, engine.action_mask)
            np.testing.assert_array_equal(actions, model.act(engine.observation, engine.action_mask))
            engine.step(actions)
        assert agent.name == f"sb3(path='{path}')"
        assert duplicate_match(agent.name, "greedy", self.RULES, deals=2).agent == agent.name

    def test_it_is_a_name_on_the_command_line_and_its_file_identifies_its_score(self, folder):
        done = krypenv("arena", "sb3(path='mine')", "greedy", "--rules", "mini-low", "--deals", 2, "--out", "arena")
        assert done.exit_code == 0, done.output
        digest = hashlib.sha256((folder / "mine.zip").read_bytes()).hexdigest()
        identity = identity_of(agents.typed("sb3(path='mine')"), [TABLES["two"]])  # what is seen is as large there
        assert (identity.name, identity.files_sha256) == ("sb3(path='mine')", [digest])

    def test_nothing_is_loaded_because_a_file_names_it(self, folder, evil):
        for spec in (evil, evil.replace("sb3", " sb3 "), "sb3", "sb3()"):
            with pytest.raises(ValueError, match="is named in a file, and nothing that a file names is imported"):
                agents.make_known(spec, self.RULES)
        game = Game(self.RULES, seed=1)
        game.tags |= {"Seat0": "person", "Seat1": evil}
        Path("game.krk").write_text(game.record())
        done = krypenv("play", "--load", "game.krk", typed="1\n" * 40)
        assert (done.exit_code, "nothing that a file names is imported or started" in done.stderr) == (2, True)
        kept = TrainSettings.from_file({**TrainSettings().model_dump(mode="json"), "opponents": ["greedy", evil]})
        with pytest.raises(ValueError, match="name it again"):
            kept.typed_by(TrainSettings(resume="runs/x"))
        assert not Path("loaded").exists()
        with pytest.raises(ValueError, match="can't be read"):
            agents.make(evil, self.RULES)  # typed, it is
        assert Path("loaded").exists()

    def test_what_is_wrong_with_a_file_is_told_in_one_sentence(self, folder):
        data = Path("mine.zip").read_bytes()
        Path("torn.zip").write_bytes(data[: len(data) // 2])
        Path("text.zip").write_text("hello")
        zipfile.ZipFile("other.zip", "w").writestr("a", "b")
        PPO("MlpPolicy", KrypkasinoVecEnv(self.RULES, 4), **SMALL).save("ppo")
        for spec, reason in (
            ("sb3(path='torn')", "'torn.zip' can't be read as a model that MaskablePPO has saved: it raised"),
            ("sb3(path='text.zip')", "'text.zip' can't be read as a model"),
            ("sb3(path='other')", "'other.zip' can't be read as a model"),
            ("sb3(path='ppo')", "'ppo.zip' can't be read as a model that MaskablePPO has saved: it .*must subclass"),
            ("sb3(path='none')", "there is no file 'none' with a model of Stable-Baselines3"),
            ("sb3(path='.')", "there is no file '.' with a model"),
            ("sb3", r"name its file, as in sb3\(path='mine.zip'\)"),
            ("sb3(pat='mine')", r"sb3 has no option 'pat' \(did you mean 'path'\?\)"),
            ("sb3(path=3)", "path is of type str"),
        ):
            with pytest.raises(ValueError, match=reason) as refused:
                agents.make(spec, self.RULES)
            assert "\n" not in str(refused.value)
        with pytest.raises(ValueError, match=r"'mine.zip' can't play kasino-finland.*not the 451 entries"):
            agents.make("sb3(path='mine')", Rules.preset("kasino-finland"))

    def test_a_missing_library_names_its_extra(self, folder, monkeypatch):
        monkeypatch.setitem(sys.modules, "sb3_contrib", None)
        monkeypatch.delitem(sys.modules, "krypenv.adapters.sb3")
        monkeypatch.delattr(adapters, "sb3", raising=False)
        with pytest.raises(ImportError, match=r"sb3 needs sb3_contrib, which is not installed; .*\[train\]"):
            agents.make("sb3(path='mine')", self.RULES)
