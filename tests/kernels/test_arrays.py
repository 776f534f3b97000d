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


def frozen(array):
    """Read-only, as JAX's arrays are."""
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def strided(array):
    """Every second entry of a larger array."""
    larger = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    larger[..., ::2] = array
    return larger[..., ::2]


def backwards(array):
    return array[::-1].copy()[::-1]


def displaced(array):
    """At an address that its type is not aligned to."""
    room = np.zeros(array.nbytes + 1, np.uint8)
    moved = room[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


FORMS = {
    "read-only": frozen,
    "strided": strided,
    "backwards": backwards,
    "by columns": np.asfortranarray,
    "displaced": displaced,
    "of a subclass": lambda array: array.view(type("Own", (np.ndarray,), {})),
}


def signatures():
    """How many kinds of arguments each kernel of this process has been compiled for, or loaded for from the cache."""
    counts = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("krypenv"):
            for value in vars(module).values():
                if hasattr(value, "py_func"):
                    counts[value.py_func.__module__, value.py_func.__qualname__] = len(value.signatures)
    return counts


def decide(name):
    """An agent that acts on what it is given."""

    def work(form):
        engine = Engine(RULES, 4, seed=1)
        agents.make(name, RULES, seed=2).act(form(engine.observation), form(engine.action_mask))

    return work


def step(form):
    engine = Engine(RULES, 4, seed=1)
    rows = np.arange(4)
    engine.step(form(engine.sample_actions(form(rows))), form(rows))
    engine.restart(form(rows), form(rows.astype(np.uint64)))


def resume(form):
    engine = Engine(RULES, 4, seed=1, history=True)
    engine.set_state(form(engine.state.view(np.ndarray)), record=form(engine.record))
    Engine.from_state(RULES, form(engine.state.view(np.ndarray)))


def look_through(form):
    engine = Engine(RULES, 4, seed=1)
    agents.make("oracle-hand", RULES).act_on(form(engine.state.view(np.ndarray)), form(engine.action_mask))


def redeal(form):
    engine = Engine(RULES, 4, seed=1)
    determinize(form(engine.observation), 0, RULES)
    append_features(RULES, form(engine.observation), form(engine.action_mask))


def learn(form):
    games = LearnerGames(RULES, 4, seed=1)
    games.step(form(games.action_mask.argmax(axis=1)))
    games.restart(form(np.arange(4)), form(np.arange(4)))
    envs = gymnasium.make_vec("Krypkasino-v0", num_envs=2, rules=RULES)
    _, infos = envs.reset(seed=0)
    envs.step(form(infos["action_mask"].argmax(axis=1)))


WAYS = {
    "random": decide("random"),
    "tactician": decide("tactician"),
    "search": decide("search(worlds=2)"),
    "champion": decide("champion(worlds=2)"),
    "engine": step,
    "state": resume,
    "oracle": look_through,
    "worlds": redeal,
    "learner": learn,
}


@pytest.mark.parametrize("work", WAYS.values(), ids=WAYS)
def test_nothing_is_compiled_again(work):
    work(lambda array: array)
    before = signatures()
    for form in FORMS.values():
        work(form)
    assert signatures() == before
