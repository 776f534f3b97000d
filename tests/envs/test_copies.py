"""Environments that a person watches: copies and pickles, and what there is before the first deal."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest

from krypenv import mulle_v0
from krypenv.pictures.rendering import RENDER_MODES, Renderer

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
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
