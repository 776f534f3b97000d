"""Arguments of environments, of their resets and steps: right, or refused in one sentence, and play goes on."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any
from unittest import mock

import gymnasium as gym
import numpy as np
from hypothesis import strategies as st
from pettingzoo.utils.env_logger import EnvLogger
from support.fuzzing import ODD, REFUSED, attempt, fuzz

from krypenv import Rules, kasino_v0, krypkasino_v0, mulle_v0
from krypenv.adapters.gym import LearnerEnv, LearnerVectorEnv
from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.envs.base import TERMS, VIEW
from krypenv.envs.learner import LearnerGames

LOW = Rules.preset("mini-low")
ODD_OPPONENTS: tuple[Any, ...] = (
    [("random", -1)], [("random", float("nan"))], [("random", "1")], [("random",)], [(None, 1.0)], [object()], object(),
    ["random"], "greedy", {"random": 1}, iter([("random", 1)]), ["greedy", ("search(worlds=1)", 2)], [], "greddy",
    "search(world=1)", "oracle-hand", [("greedy", 1), 3], "/", "a:B", "os:path", "os:system",
)  # fmt: skip
VALUES = (*ODD, *ODD_OPPONENTS, LOW, Rules, "random", "all", "human", "ansi", "win", 6, ((1, 0),))
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
}
AEC = ("env", "raw_env", "kasino_v0.env", "mulle_v0.raw_env")


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
        if name == "LearnerEnv":
            env.step(int(env.action_masks().argmax()))
            continue
        batch = env if name == "LearnerGames" else env.batch
        env.step(batch.action_mask.argmax(axis=1))
        assert np.isfinite(batch.rewards).all()
        assert batch.action_mask.any(axis=1).all()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let the libraries of the environments say nothing."""
    EnvLogger.suppress_output()
    with mock.patch.object(gym.logger, "min_level", gym.logger.ERROR), contextlib.redirect_stdout(io.StringIO()):
        yield
    EnvLogger.unsuppress_output()


values, names = st.sampled_from(VALUES), st.sampled_from(list(ENVIRONMENTS))


def odd_arguments(name: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """The name of an environment with one or two odd arguments."""
    return st.tuples(
        st.just(name), st.dictionaries(st.sampled_from(parameters_of(name)), values, min_size=1, max_size=2)
    )


@fuzz(share=8, within=quiet, made=names.flatmap(odd_arguments))
def test_an_environment_of_odd_arguments_is_played_or_refused(made: tuple[str, dict[str, Any]]) -> None:
    name, changes = made
    make, usual = ENVIRONMENTS[name]
    env = attempt(partial(make, **{**usual, **changes}), made)
    if env is not REFUSED and max(getattr(env, "num_envs", 0), getattr(env, "num_games", 0)) < 1000:
        play_a_little(env, name)


made = cache(lambda name: ENVIRONMENTS[name][0](**ENVIRONMENTS[name][1]))


@fuzz(share=4, within=quiet, name=names, value=values, is_step=st.booleans())
def test_after_an_odd_reset_or_step_an_environment_goes_on(name: str, value: Any, is_step: bool) -> None:
    env = made(name)
    if name in (*AEC, "LearnerEnv"):
        env.reset(seed=1)
    if name in ("env", "kasino_v0.env") and is_step:  # PettingZoo's wrappers assert, and compare arrays
        with contextlib.suppress(AssertionError, ValueError):
            env.step(value)
    elif is_step:
        attempt(partial(env.step, value), (name, "step", value))
    elif name == "LearnerGames":
        attempt(partial(env.restart, [0], value), (name, "restart", value))
    elif name == "KrypkasinoVecEnv":
        attempt(partial(env.seed, value), (name, "seed", value))
    else:
        for given in ({"seed": value}, {"options": value}, {"options": {"deck": value}}):
            attempt(partial(env.reset, **given), (name, given))
    play_a_little(env, name)
