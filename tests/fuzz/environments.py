"""Arguments of the environments' constructors, of reset and of step: right, or refused in one sentence."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import io
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import strategies as st
from pettingzoo.utils.env_logger import EnvLogger
from support.fuzzing import NASTY_VALUES, NASTY_WORDS, REFUSED, Tally, attempt, check_sentence, fuzzer

from krypenv import Rules, kasino_v0, krypkasino_v0, mulle_v0
from krypenv.adapters.gym import LearnerEnv
from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.adapters.vector import LearnerVectorEnv
from krypenv.envs.base import Terms, View
from krypenv.envs.learner import LearnerGames

LOW = Rules.preset("mini-low")
ODD_OPPONENTS: tuple[Any, ...] = (
    [("random", -1)], [("random", float("nan"))], [("random", float("inf"))], [("random", "1")], [("random",)],
    [(None, 1.0)], [object()], object(), ["random"], [("random", 1, 2)], "greedy", {"random": 1}, iter([("random", 1)]),
    ["greedy", ("search(worlds=1)", 2)], [], ["greddy"], "search(world=1)", "oracle-hand", [("greedy", 1), 3], "/",
    "a:B", "os:path", "os:system",
)  # fmt: skip
ODD_ARRAYS: tuple[Any, ...] = (
    np.array([]), np.array([0.5]), np.array(["x"]), np.array([[0]]), np.array(0), np.array([0, 0]), np.array([None]),
    np.array([2**63], np.uint64), np.array([-1]), np.zeros((2, 105)), np.array(1.0), np.array([[0], [1]]), range(3),
    b"0", {1}, 0j, lambda: 0,
)  # fmt: skip
WORDS = (*NASTY_WORDS, "frameskip", "name", "self", "fields", "keywords", "Players")
VALUES = (
    *NASTY_VALUES, *ODD_OPPONENTS, *ODD_ARRAYS, LOW, Rules, "random", "all", "human", "ansi", "win", 3, 6, ((1, 0),),
)  # fmt: skip
TERMS, VIEW = vars(Terms()), vars(View())
RULE_FIELDS = [each.name for each in dataclasses.fields(Rules) if each.name not in ("name", "players", "games")]
ENVIRONMENTS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "LearnerGames": (LearnerGames, {"rules": LOW, "num_games": 2}),
    "KrypkasinoVecEnv": (KrypkasinoVecEnv, {"rules": LOW, "num_envs": 2}),
    "LearnerVectorEnv": (LearnerVectorEnv, {"num_envs": 2, "variant": "mini-low"}),
    "LearnerEnv": (LearnerEnv, {"variant": "mini-low"}),
    "env": (krypkasino_v0.env, {"variant": "mini-low"}),
    "raw_env": (krypkasino_v0.raw_env, {"variant": "mini-low"}),
    "kasino_v0.env": (kasino_v0.env, {"variant": "finland"}),
    "mulle_v0.raw_env": (mulle_v0.raw_env, {}),
    "LearnerEnv of Kasino": (LearnerEnv, {"family": "kasino", "variant": "overspader"}),
    "LearnerVectorEnv of Mulle": (LearnerVectorEnv, {"family": "mulle", "num_envs": 2, "variant": "sassersson"}),
    "KrypkasinoVecEnv of Kasino": (KrypkasinoVecEnv, {"rules": Rules.preset("kasino-sweden"), "num_envs": 2}),
}
AEC = ("env", "raw_env", "kasino_v0.env", "mulle_v0.raw_env")
SINGLE = ("LearnerEnv", "LearnerEnv of Kasino")


def parameters_of(name: str) -> list[str]:
    """Return the keywords of an environment, the fields of its parts and of the rules among them."""
    parameters = inspect.signature(ENVIRONMENTS[name][0]).parameters.values()
    names = {each.name for each in parameters if each.kind is not each.VAR_KEYWORD}
    more = {"threads", "seed"} if "rules" in names else {"rules", "variant", "players", "games", *VIEW, *RULE_FIELDS}
    return sorted(names | more | set(TERMS))


def play_a_little(env: Any, name: str) -> None:
    """Play some legal steps of an environment that was made."""
    if name in AEC:
        env.reset(seed=1)
        for agent in env.agent_iter(6):
            seen, _, over, _, _ = env.last()
            assert env.observation_space(agent).contains(seen)
            env.step(None if over else int(seen["action_mask"].argmax()))
        return
    if name != "LearnerGames":
        env.reset()
    for _ in range(3):
        if name in SINGLE:
            if env.step(int(env.action_masks().argmax()))[2]:
                env.reset()
            continue
        batch = env if name == "LearnerGames" else env.batch
        actions = batch.action_mask.argmax(axis=1)
        batch.step(actions) if name == "LearnerGames" else env.step(actions)
        assert np.isfinite(batch.rewards).all()
        assert (batch.action_mask.sum(axis=1) > 0).all()


def make_env(name: str, changes: dict[str, Any], tally: Tally) -> Any:
    """Make an environment with some arguments changed, and play it if that can be."""
    make, arguments = ENVIRONMENTS[name]
    with contextlib.redirect_stdout(io.StringIO()):
        env = attempt(lambda: make(**{**arguments, **changes}), tally, (name, changes))
        if env is not REFUSED and max(getattr(env, "num_envs", 0), getattr(env, "num_games", 0)) < 1000:
            play_a_little(env, name)
    return env


def refuse_keyword(name: str, word: str, tally: Tally) -> None:
    """Assert that an environment refuses a keyword that it does not know as a function of Python does."""
    make, arguments = ENVIRONMENTS[name]
    with pytest.raises(TypeError, match="argument") as raised:
        make(**{**arguments, word: 1})
    check_sentence(raised.value, (name, word))
    tally["refused"] += 1


def every_argument() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every parameter of every environment with every odd value."""
    for name in ENVIRONMENTS:
        for parameter in parameters_of(name):
            yield from ((name, {parameter: value}) for value in VALUES)


values = st.sampled_from(VALUES)
names = st.sampled_from(list(ENVIRONMENTS))


@functools.cache
def made(name: str) -> Any:
    """Return an environment with the usual arguments, made once."""
    make, arguments = ENVIRONMENTS[name]
    return make(**arguments)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let the libraries of the environments warn of nothing."""
    gym.logger.min_level, before = gym.logger.ERROR, gym.logger.min_level
    EnvLogger.suppress_output()
    try:
        yield
    finally:
        gym.logger.min_level = before
        EnvLogger.unsuppress_output()


@fuzzer(
    share=4,
    within=quiet,
    env_name=names,
    value=values,
    what=st.sampled_from(("seed", "options", "deck", "step")),
)
def calls(tally: Tally, env_name: str, value: Any, what: str) -> None:
    """Reset or step an environment with an odd argument, and go on with it rightly."""
    name, env = env_name, made(env_name)
    if (name in (*AEC, *SINGLE) or name.startswith("LearnerVectorEnv")) and what != "step":
        options = {"deck": value} if what == "deck" else value
        given = {"seed": value} if what == "seed" else {"options": options}
        attempt(lambda: env.reset(**given), tally, (name, given))
    elif name.startswith("KrypkasinoVecEnv") and what != "step":
        attempt(lambda: env.seed(value), tally, (name, "seed", value))
    elif name == "LearnerGames" and what != "step":
        attempt(lambda: env.restart([0], value), tally, (name, "restart", value))
    elif name in ("env", "kasino_v0.env"):  # PettingZoo's wrappers assert, and compare arrays
        env.reset(seed=1)
        with contextlib.suppress(AssertionError, ValueError):
            env.step(value)
    else:
        if name in ("raw_env", "mulle_v0.raw_env", *SINGLE):
            env.reset(seed=1)
        attempt(lambda: env.step(value), tally, (name, "step", value))
    with contextlib.redirect_stdout(io.StringIO()):
        play_a_little(env, name)


def odd_arguments(name: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """The name of an environment with one or two odd arguments."""
    return st.tuples(
        st.just(name), st.dictionaries(st.sampled_from(parameters_of(name)), values, min_size=1, max_size=2)
    )


@fuzzer(within=quiet, made=names.flatmap(odd_arguments))
def arguments(tally: Tally, made: tuple[str, dict[str, Any]]) -> None:
    """Make an environment with odd arguments; play it if it can be made."""
    make_env(*made, tally)
