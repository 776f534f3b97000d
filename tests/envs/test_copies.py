"""Environments that a person watches: copies and pickles, and what there is before the first deal."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from pettingzoo.utils.env_logger import EnvLogger

from krypenv import kasino_v0, krypkasino_v0, mulle_v0
from krypenv.pictures.rendering import RENDER_MODES, Renderer

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
RAW = (krypkasino_v0, kasino_v0, mulle_v0)
every_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


@pytest.fixture
def opened(monkeypatch):
    """Those that opened a window, in order."""
    openers, plain = [], Renderer._opened
    monkeypatch.setattr(Renderer, "_opened", lambda self, size: openers.append(self) or plain(self, size))
    return openers


@every_copy
@pytest.mark.parametrize("make", [mulle_v0.env, mulle_v0.raw_env], ids=["env", "raw_env"])
def test_a_copy_of_a_watched_environment_opens_its_own_window(make, copied, opened):
    env = make(render_mode="human")
    never_reset = copied(env)
    env.reset(seed=3)
    twin = copied(env)
    assert len(opened) == 1, "the copies have no window yet"
    for each in (env, twin):
        each.step(int(np.flatnonzero(each.last()[0]["action_mask"])[0]))
    for agent in env.possible_agents:
        assert (env.observe(agent)["observation"] == twin.observe(agent)["observation"]).all()
    never_reset.reset(seed=3)
    assert len({id(each) for each in opened}) == 3
    for each in (env, twin, never_reset):
        each.close()


@every_copy
@pytest.mark.parametrize("mode", RENDER_MODES)
def test_a_copy_of_a_learner_s_environment_is_shown_alike(mode, copied, opened):
    env = gymnasium.make("Krypkasino-v0", render_mode=mode, seat="random", opponents="greedy").unwrapped
    copied(env).reset(seed=1)
    env.reset(seed=5)
    twin = copied(env)
    env.step(int(env.action_masks().argmax()))
    twin.step(int(twin.action_masks().argmax()))
    assert np.array_equal(env.render(), twin.render())
    env.close()
    copied(env).render()  # a window that was closed is not closed for the copy
    assert len(opened) == (4 if mode == "human" else 0)


@pytest.mark.parametrize("module", RAW, ids=lambda module: module.__name__)
@pytest.mark.parametrize("call", [
    lambda env: env.render(), lambda env: env.observe("player_0"), lambda env: env.state(), lambda env: env.last(),
    lambda env: env.step(env.game.legal_actions()[0]), lambda env: env.agents, lambda env: env.game,
        lambda env: next(iter(env.agent_iter())),
    lambda env: env.num_agents,
])  # fmt: skip
def test_before_the_first_deal_raw_environments_say_what_is_missing(module, call):
    env = module.raw_env(render_mode="ansi")
    with pytest.raises(gymnasium.error.ResetNeeded) as error:
        call(env)
    assert str(error.value) == "no game has been dealt yet; call reset() first"
    env.reset(seed=1)
    call(env)
    EnvLogger.flush()


def test_what_is_missing_before_the_first_deal_is_an_attribute_to_those_who_look():
    env = krypkasino_v0.raw_env()
    assert not hasattr(env, "agents")
    assert not hasattr(env, "game")
    with pytest.raises(AttributeError, match=r"^'raw_env' object has no attribute 'nothing'$"):
        _ = env.nothing
    with pytest.raises(AssertionError, match="needs to be called before render"):
        krypkasino_v0.env(render_mode="ansi").render()
