"""Arrays from outside reach kernels in one form, whatever memory they lie in: nothing is compiled again for them."""

import sys

import gymnasium
import numpy as np
import pytest

from krypenv import Engine, Rules, agents, determinize
from krypenv.envs.learner import LearnerGames
from krypenv.features import append_features
from krypenv.runtime.jit import JIT_IS_OFF

pytestmark = pytest.mark.skipif(JIT_IS_OFF, reason="as plain Python, nothing is compiled")
RULES = Rules.preset("mini-low")


def odd_forms(array):
    """An array that is read-only, as JAX's are, one by columns, one of every second number, and an unaligned one."""
    frozen, larger = array.copy(), np.repeat(array, 2, axis=-1)
    frozen.setflags(write=False)
    room = np.zeros(array.nbytes + 1, np.uint8)
    displaced = room[1:].view(array.dtype).reshape(array.shape)
    displaced[...] = array
    return frozen, np.asfortranarray(array), larger[..., ::2], displaced


FORMS = [lambda array: array, *(lambda array, at=at: odd_forms(array)[at] for at in range(4))]


def signatures():
    """How many kinds of arguments each kernel of this process has been compiled for, or loaded for from the cache."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("krypenv")]
    kernels = [value for module in modules for value in vars(module).values() if hasattr(value, "py_func")]
    return {(each.py_func.__module__, each.py_func.__qualname__): len(each.signatures) for each in kernels}


def decide(engine, form):
    for name in ("random", "tactician", "search(worlds=2)", "champion(worlds=2)"):
        agents.make(name, RULES, seed=2).act(form(engine.observation), form(engine.action_mask))
    agents.make("oracle-hand", RULES).act_on(form(engine.state.view(np.ndarray)), form(engine.action_mask))


def step(engine, form):
    rows = np.arange(4)
    engine.step(form(engine.sample_actions(form(rows))), form(rows))
    engine.restart(form(rows), form(rows.astype(np.uint64)))
    engine.set_state(form(engine.state.view(np.ndarray)), record=form(engine.record))
    Engine.from_state(RULES, form(engine.state.view(np.ndarray)))


def redeal(engine, form):
    seen = engine.observation[:, : RULES.observation_size].copy()
    determinize(form(seen), 0, RULES)
    append_features(RULES, form(seen), form(engine.action_mask))


def learn(engine, form):
    games = LearnerGames(RULES, 4, seed=1)
    games.step(form(games.action_mask.argmax(axis=1)))
    games.restart(form(np.arange(4)), form(np.arange(4)))
    envs = gymnasium.make_vec("Krypkasino-v0", num_envs=2, rules=RULES)
    _, infos = envs.reset(seed=0)
    envs.step(form(infos["action_mask"].argmax(axis=1)))


@pytest.mark.parametrize("work", [decide, step, redeal, learn])
def test_nothing_is_compiled_again(work):
    before = {}
    for form in FORMS:
        work(Engine(RULES, 4, seed=1, history=True), form)
        before = before or signatures()
    assert signatures() == before
