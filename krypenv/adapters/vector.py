"""The games for one learner as Gymnasium vector environments: `gymnasium.make_vec("Krypkasino-v0", num_envs=B)`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector.utils import batch_space

from krypenv.arguments import check_options, check_seeds, chosen_rules
from krypenv.engine import IntArray
from krypenv.envs.learner import LearnerGames, check_one_seat
from krypenv.envs.opponents import RANDOM, Opponents
from krypenv.families.variants import KASINO, KRYPKASINO, MULLE, Family
from krypenv.game.core import Core
from krypenv.game.display import TURN, check_render_seat
from krypenv.inputs.words import shown
from krypenv.pictures.rendering import FPS, Pixels, Renderer
from krypenv.rewards import FloatArray
from krypenv.rules import Rules


def observation_space(size: int) -> gym.spaces.Box:
    """Return the space of one seat's observation, (N,) int8."""
    return gym.spaces.Box(-128, 127, (size,), np.int8)


class LearnerVectorEnv(gym.vector.VectorEnv):
    """Many games of one learner at once.

    Row i behaves like a `krypenv.adapters.gym.LearnerEnv` with the seed `seed + i`. When an episode ends, the next one
    is dealt in the same step; the last observation and info are in `infos["final_obs"]` and `infos["final_info"]`.
    `infos["action_mask"]` is (B, 105) int8. An illegal action ends the row's episode with `illegal_reward`.

    Args:
        num_envs: B.
        players, variant, rule_fields: the rules, as the variant's preset with some fields changed.
        rules: complete rules of the same family, in place of all these and of `games`.
        seat, opponents, reward, dense, games, features, threads, history: as in `LearnerGames`.
        render_mode: with "rgb_array" or "ansi", `render()` returns a picture of every row, as pixels or text. The
            learner sits at the bottom.
        render_seat: whose hand rendering shows: by default the learner's ("turn"), one seat (its number), "all" or none
            (None).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": FPS,
        "autoreset_mode": gym.vector.AutoresetMode.SAME_STEP,
    }
    autoreset_mode = metadata["autoreset_mode"]  # where TorchRL looks for it
    family: Family

    def __init__(
        self,
        num_envs: int = 1,
        players: int | None = None,
        variant: str | None = None,
        seat: int | str = 0,
        opponents: Opponents = RANDOM,
        reward: str = "centred",
        dense: bool = False,
        games: int | None = None,
        features: bool = False,
        threads: int = 1,
        render_mode: str | None = None,
        rules: Rules | None = None,
        history: bool = False,
        render_seat: int | str | None = TURN,
        **rule_fields: Any,
    ) -> None:
        check_one_seat(seat)
        rules = chosen_rules(
            type(self).__name__, _PARAMETERS, self.family, rules, variant, rule_fields, players=players, games=games
        )
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.render_seat = check_render_seat(render_seat, rules.players)
        if isinstance(render_mode, str) and render_mode == "human":
            raise ValueError("many games need many windows; render_mode is 'rgb_array', 'ansi' or None")
        self._renderer = None if render_mode is None else Renderer(render_mode, self.family.gym_id)
        self.batch = LearnerGames(
            rules, num_envs, seat, opponents, reward, dense, illegal_ends=True, features=features, threads=threads,
            history=history,
        )  # fmt: skip
        self.single_observation_space = observation_space(self.batch.observation.shape[1])
        self.single_action_space = gym.spaces.Discrete(rules.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @property
    def illegal_reward(self) -> float | None:
        """The reward for an illegal action, which ends the episode."""
        return self.batch.illegal_reward

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.int8], dict[str, Any]]:
        """Begin new episodes in all rows; a number gives row i the seed `seed + i`, a sequence has one seed per row.

        `options["reset_mask"]`, (B,) bool, limits it to some rows; other options are ignored.
        """
        rows = self._rows_of(options)
        if seed is None:
            seeds = self.np_random.integers(1 << 63, size=self.num_envs).astype(np.uint64)
        else:
            seeds = check_seeds(seed)
        if seeds.ndim == 0:
            if int(seeds) > (1 << 64) - self.num_envs:
                raise ValueError(f"row i has the seed {seeds} + i, and a seed is below 2**64")
            super().reset(seed=int(seeds))
            seeds = np.uint64(seeds) + np.arange(self.num_envs, dtype=np.uint64)
        elif seeds.shape != (self.num_envs,):
            raise ValueError(f"{self.num_envs} games need {self.num_envs} seeds, not an array of shape {seeds.shape}")
        self.batch.restart(rows, seeds[rows])
        return self.batch.observation.copy(), self._infos()

    def _rows_of(self, options: Any) -> IntArray:
        """Return the rows that the options select; raise ValueError if their mask is not valid."""
        mask = check_options(options).get("reset_mask")
        if mask is None:
            return np.arange(self.num_envs)
        try:
            chosen = np.asarray(mask)
        except ValueError:
            chosen = np.array(None)
        if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
            raise ValueError(f"reset_mask is an array of {self.num_envs} bools, not {shown(mask)}")
        return np.flatnonzero(chosen)

    def step(self, actions: npt.ArrayLike) -> tuple[npt.NDArray[np.int8], FloatArray, Any, Any, dict[str, Any]]:
        """Carry out one action per row, (B,) ints, then play on to the learner's next decision in each."""
        batch = self.batch
        batch.step(actions)
        infos = self._infos()
        if batch.done.any():
            ended = batch.done.copy()
            final = np.full(self.num_envs, None, object)
            for row in np.flatnonzero(ended):
                final[row] = batch.final_observation[row].copy()
            infos |= {
                "final_obs": final,
                "_final_obs": ended,
                "final_info": {"action_mask": np.zeros_like(batch.action_mask), "_action_mask": ended.copy()},
                "_final_info": ended.copy(),
            }
        return (
            batch.observation.copy(),
            batch.reward.copy(),
            batch.done.copy(),
            np.zeros(self.num_envs, np.bool_),
            infos,
        )

    def render(self) -> tuple[Pixels | str | None, ...] | None:  # type: ignore[override]
        """Return a picture of each row at the learner's next decision, B of them, as the render mode says."""
        if self._renderer is None:
            gym.logger.warn("render() needs a render mode, as in render_mode='rgb_array'")
            return None
        return tuple(
            self._renderer.show(
                Core.at_row(self.batch.rules, state), seat if self.render_seat == TURN else self.render_seat, seat
            )
            for state, seat in zip(self.batch.engine.state, self.batch.seats.tolist(), strict=True)
        )

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self.batch.action_mask.copy(), "_action_mask": np.ones(self.num_envs, np.bool_)}


_PARAMETERS = tuple(inspect.signature(LearnerVectorEnv.__init__).parameters)


class KrypkasinoVectorEnv(LearnerVectorEnv):
    """Krypkasino for one learner, `gymnasium.make_vec("Krypkasino-v0", num_envs=B)`; see `LearnerVectorEnv`."""

    family = KRYPKASINO


class KasinoVectorEnv(LearnerVectorEnv):
    """Kasino for one learner, `gymnasium.make_vec("Kasino-v0", num_envs=B)`; see `LearnerVectorEnv`."""

    family = KASINO


class MulleVectorEnv(LearnerVectorEnv):
    """Mulle for one learner, `gymnasium.make_vec("Mulle-v0", num_envs=B)`; see `LearnerVectorEnv`."""

    family = MULLE
