"""Stable-Baselines3: the games as a native vector environment, and models trained there as agents."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from sb3_contrib import MaskablePPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from krypenv.adapters.policy import PolicyFunction
from krypenv.arguments import check_seed, check_seeds
from krypenv.envs.base import observation_space, successive_seeds
from krypenv.envs.learner import LearnerGames
from krypenv.envs.opponents import RANDOM, Opponents
from krypenv.features import width_of
from krypenv.inputs.words import describe_error, shown
from krypenv.rules import Rules, RulesLike, as_rules

Indices = int | Iterable[int] | None


class KrypkasinoVecEnv(VecEnv):
    """B games for MaskablePPO: `MaskablePPO("MlpPolicy", KrypkasinoVecEnv(Rules.preset("krypkasino"), 1024))`.

    It plays all rules, those of Kasino and Mulle too.

    The learner acts in every game at once. When a game ends, the next one is dealt in the same step; the info has
    `terminal_observation` and, as with Monitor, `episode`: the return `r`, the length `l` in the learner's decisions
    and the time `t`. An illegal action raises IllegalMove: the masks are not optional.

    With `seat="all"` a step acts for `batch.seats` and returns the rewards of the seats that acted; `batch.rewards`,
    (B, P), has those of all seats. SB3's own rollout buffer would mix the seats of a game in one column and compute
    wrong advantages: override `collect_rollouts` and keep a column for each (game, seat).

    Args:
        rules: the rules of all games, or their text or fields.
        num_envs: B.
        seat, opponents, keywords: those of `krypenv.envs.learner.LearnerGames`, which is `batch`: `reward`, `dense`,
            `features`, `history`, `threads` and `seed`.
    """

    def __init__(
        self, rules: RulesLike, num_envs: int, seat: int | str = 0, opponents: Opponents = RANDOM, **keywords: Any
    ) -> None:
        self.batch = LearnerGames(rules, num_envs, seat, opponents, **keywords)
        self.render_mode = None
        super().__init__(
            num_envs,
            observation_space(self.batch.observation.shape[1]),
            gym.spaces.Discrete(self.batch.rules.num_actions),
        )
        self._actions = np.zeros(num_envs, np.int64)
        self._start = time.perf_counter()
        self._is_dealt = True  # the first reset uses the constructor's deals

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return the legal actions, (B, 105) int8: the engine's own array, which changes with the next step."""
        return self.batch.action_mask

    def reset(self) -> npt.NDArray[np.int8]:
        """Begin new episodes, from the seeds of `seed()` if it was called, and return the observations, (B, N) int8."""
        if self._seeds[0] is not None:
            self.batch.restart(np.arange(self.num_envs), check_seeds(self._seeds))
        elif not self._is_dealt:
            self.batch.restart(np.arange(self.num_envs))
        self._is_dealt = False
        self._reset_seeds()
        self._reset_options()
        return self.batch.observation.copy()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Keep the seeds for the next reset, `seed + i` for game i; ValueError unless it is a whole number from 0."""
        if seed is not None:
            seed = int(successive_seeds(check_seed(seed), self.num_envs)[0])
        return list(super().seed(seed))

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Keep the actions, (B,) ints, for `step_wait`."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Carry out the actions; return observations (B, N), rewards (B,), dones (B,) and infos, as SB3 wants them."""
        batch = self.batch
        batch.step(self._actions)
        infos: list[dict[str, Any]] = self.reset_infos.copy()
        for row in np.flatnonzero(batch.done):
            infos[row] = {
                "terminal_observation": batch.final_observation[row].copy(),
                "TimeLimit.truncated": False,
                "episode": {
                    "r": float(batch.returns[row, batch.acting[row]]),
                    "l": int(batch.lengths[row]),
                    "t": round(time.perf_counter() - self._start, 6),
                },
            }
        return batch.observation.copy(), batch.reward.astype(np.float32), batch.done.copy(), infos

    def close(self) -> None:
        """Release nothing: there are no processes nor files."""

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Read an attribute of this environment, and repeat it for each requested game."""
        return [getattr(self, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of this environment; raise ValueError for only some of the games, because all share it."""
        if len(self._rows(indices)) < self.num_envs:
            raise ValueError(f"all games share {attr_name!r}; set it without indices")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any) -> Any:
        """Call a method of this environment; `action_masks` returns its array, others a list, one result per game."""
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        rows = self._rows(indices)
        return (result if indices is None else result[rows]) if method_name == "action_masks" else [result] * len(rows)

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: Indices = None) -> list[bool]:
        """Answer True for Monitor, whose `episode` this environment supplies itself, and False for other wrappers."""
        return [wrapper_class is Monitor] * len(self._rows(indices))

    def _rows(self, indices: Indices) -> Sequence[int]:
        return list(self._get_indices(indices))


class PolicyAgent(PolicyFunction):
    """A MaskablePPO model as an agent: for `duplicate_match`, `evaluate`, the arena, and as an opponent.

    The model's observation space shows whether it was trained with features, which are added.

    Args:
        model: a loaded model, as `MaskablePPO.load(path)` returns it. SB3's files contain pickles, which can run any
            code: load only your own.
        rules: the rules that it was trained for.
        name: its name in tables.
        deterministic: play the most probable action; otherwise draw one with torch's random numbers.

    Raises ValueError unless it is such a model, trained on these observations and actions.

    >>> model = MaskablePPO.load("krypkasino.zip")  # doctest: +SKIP
    >>> agent = PolicyAgent(model, Rules.preset("krypkasino"), name="mine")  # doctest: +SKIP
    >>> print(duplicate_match(agent, "tactician", agent.rules, deals=1000))  # doctest: +SKIP
    """

    def __init__(self, model: Any, rules: RulesLike, name: str = "policy", deterministic: bool = True) -> None:
        rules = as_rules(rules)
        features = _width_of(model, rules) > rules.observation_size
        super().__init__(self._predict, rules, name, features)
        self.model, self.deterministic = model, deterministic

    def _predict(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> Any:
        return self.model.predict(observations, action_masks=masks, deterministic=self.deterministic)[0]


def load_policy(path: str, rules: Rules, name: str) -> PolicyAgent:
    """Load the MaskablePPO model in a file, with or without its .zip, as an agent for some rules.

    The file holds pickles, which can run any code: load only your own. Raises ValueError, with one sentence, if the
    file is missing or damaged, or holds a model that can't play by these rules.
    """
    file = Path(path if os.path.isfile(path) else f"{path}.zip")
    if not file.is_file():
        raise ValueError(f"there is no file {shown(path)} with a model of Stable-Baselines3")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # entries that can't be read are missing, which is an error below
            model = MaskablePPO.load(file, device="cpu")
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # unpickling may raise anything
        raise ValueError(
            f"{shown(str(file))} can't be read as a model that MaskablePPO has saved: it {describe_error(error)}"
        ) from None
    try:
        agent = PolicyAgent(model, rules, name)
    except ValueError as error:
        raise ValueError(f"{shown(str(file))} can't play {rules}: {error}") from None
    agent.files = [file]
    return agent


def _width_of(model: Any, rules: Rules) -> int:
    """Read N, the width of a model's observations; raise ValueError if it can't play by these rules."""
    if not isinstance(model, MaskablePPO):
        raise ValueError(f"a policy is a loaded model, as MaskablePPO.load(path) returns it, not {shown(model)}")
    actions, size, with_features = rules.num_actions, rules.observation_size, width_of(rules, True)
    if model.action_space != gym.spaces.Discrete(actions):
        raise ValueError(f"this model chooses from {shown(model.action_space)}, not from {actions} actions")
    for width in (size, with_features):
        if model.observation_space == observation_space(width):
            return width
    raise ValueError(
        f"this model sees {shown(model.observation_space)}, "
        f"not the {size} entries of an observation as int8, or {with_features} with features"
    )
