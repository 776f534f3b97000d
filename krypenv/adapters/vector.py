"""The games for one learner as Gymnasium vector environments: `gymnasium.make_vec("Krypkasino-v0", num_envs=B)`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from krypenv.adapters.gym import OneLearner
from krypenv.arguments import check_options
from krypenv.engine import IntArray
from krypenv.envs.base import Rendered, observation_space, successive_seeds
from krypenv.envs.opponents import RANDOM, Opponents
from krypenv.game.game import Game
from krypenv.inputs.words import listed, shown
from krypenv.pictures.drawing import Pixels
from krypenv.rewards import FloatArray


class LearnerVectorEnv(gym.vector.VectorEnv, OneLearner):
    """Many games of one learner at once.

    Row i behaves like a `krypenv.adapters.gym.LearnerEnv` with the seed `seed + i`. `infos["action_mask"]` is (B, 105)
    int8. An illegal action ends the row's episode with `illegal_reward`.

    What a row shows after its episode depends on `autoreset_mode`:

    - `SAME_STEP`: the next episode. What was seen last is in `infos["final_obs"]` and `infos["final_info"]`, with the
      return `r`, the length `l` and the time `t` of the episode in `infos["final_info"]["episode"]`.
    - `NEXT_STEP`: what is seen last, with an empty mask. The row's next action is ignored: it begins the next episode.
    - `DISABLED`: the same, until `reset(options={"reset_mask": mask})` begins the next episode.

    Args:
        num_envs: B.
        family: "krypkasino", "kasino" or "mulle"; the registered environments set it.
        seat, opponents, threads: as in `LearnerGames`; no `seat="all"`.
        autoreset_mode: a `gymnasium.vector.AutoresetMode` or its text, "SameStep", "NextStep" or "Disabled".
        keywords: as in `krypenv.adapters.gym.LearnerEnv`. `render()` returns a picture of every row, as pixels or text;
            there is no `render_mode="human"`.
    """

    metadata: dict[str, Any] = {**Rendered.metadata, "render_modes": ["rgb_array", "ansi"]}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        family: str = "krypkasino",
        seat: int | str = 0,
        opponents: Opponents = RANDOM,
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        **keywords: Any,
    ) -> None:
        self.autoreset_mode = _mode(autoreset_mode)  # where TorchRL looks for it
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}  # where Gymnasium does
        self.num_envs = num_envs
        if keywords.get("render_mode") == "human":
            raise ValueError("many games need many windows; render_mode is 'rgb_array', 'ansi' or None")
        self.begin(num_envs, family, seat, keywords, opponents=opponents, threads=threads)
        self.single_observation_space = observation_space(self.batch.observation.shape[1])
        self.single_action_space = gym.spaces.Discrete(self.batch.rules.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._waits = np.zeros(num_envs, np.bool_)  # for its next episode, which is dealt already, to begin
        self._begun = np.full(num_envs, time.perf_counter())

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.int8], dict[str, Any]]:
        """Begin new episodes in all rows; a number gives row i the seed `seed + i`, a sequence has one seed per row.

        `options["reset_mask"]`, (B,) bool, limits it to some rows; other options are ignored. Without a seed, a row
        whose episode is over begins its next one, which follows from its last seed.
        """
        rows = self._rows_of(options)
        if seed is None:
            seeds = self.np_random.integers(1 << 63, size=self.num_envs).astype(np.uint64)
        else:
            seeds = successive_seeds(seed, self.num_envs)
            if np.ndim(seed) == 0:
                super().reset(seed=int(seeds[0]))
        undealt = rows if seed is not None else rows[~self._waits[rows]]
        self.batch.restart(undealt, seeds[undealt])
        self._mark_begun(rows)
        return self._observations(), self._infos()

    def _mark_begun(self, rows: IntArray) -> None:
        """Start the clocks of the episodes in some rows, which are dealt."""
        self._waits[rows], self._begun[rows] = False, time.perf_counter()

    def _rows_of(self, options: Any) -> IntArray:
        """Read the rows that the options select; raise ValueError if their mask is not valid."""
        mask = check_options(options).get("reset_mask")
        if mask is None:
            return np.arange(self.num_envs)
        try:
            selected = np.asarray(mask)
        except ValueError:
            selected = np.array(None)
        if selected.shape != (self.num_envs,) or selected.dtype != np.bool_:
            raise ValueError(f"reset_mask is an array of {self.num_envs} bools, not {shown(mask)}")
        return np.flatnonzero(selected)

    def step(self, actions: npt.ArrayLike) -> tuple[npt.NDArray[np.int8], FloatArray, Any, Any, dict[str, Any]]:
        """Carry out one action per row, (B,) ints, then play on to the learner's next decision in each."""
        batch, waiting = self.batch, np.flatnonzero(self._waits)
        if len(waiting) and self.autoreset_mode is AutoresetMode.DISABLED:
            raise gym.error.ResetNeeded(
                f"the episodes of rows {listed(map(str, waiting))} are over; "
                "call reset(options={'reset_mask': mask}) to begin the next ones"
            )
        batch.step(actions, np.flatnonzero(~self._waits))
        self._mark_begun(waiting)
        final: dict[str, Any] = {}
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._waits |= batch.done
        elif batch.done.any():
            final = self._final()
            self._mark_begun(np.flatnonzero(batch.done))
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._observations(), batch.reward.copy(), batch.done.copy(), truncated, self._infos() | final

    def _observations(self) -> npt.NDArray[np.int8]:
        """Copy the learner's observations, (B, N) int8: the last one of an episode where its row waits."""
        observations = self.batch.observation.copy()
        if self._waits.any():
            observations[self._waits] = self.batch.final_observation[self._waits]
        return observations

    def _final(self) -> dict[str, Any]:
        """Collect the infos of the episodes that have just ended."""
        batch, ended = self.batch, self.batch.done
        observations = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(ended):
            observations[row] = batch.final_observation[row].copy()
        episode: dict[str, Any] = {
            "r": np.where(ended, batch.returns[np.arange(self.num_envs), batch.acting], 0.0),
            "l": np.where(ended, batch.lengths, 0),
            "t": np.where(ended, np.round(time.perf_counter() - self._begun, 6), 0.0),
        }
        info = {"action_mask": np.zeros_like(batch.action_mask), "episode": _marked(episode, ended)}
        return _marked({"final_obs": observations, "final_info": _marked(info, ended)}, ended)

    def render(self) -> tuple[Pixels | str | None, ...] | None:  # type: ignore[override]
        """Draw each row at the learner's next decision, B pictures, by the render mode."""
        if self.render_mode is None:
            self.show(None)
            return None
        rows = zip(self.batch.engine.state, self.batch.seats.tolist(), strict=True)
        return tuple(self.show(Game.at_row(self.batch.rules, state), seat) for state, seat in rows)

    def _infos(self) -> dict[str, Any]:
        mask = self.batch.action_mask * ~self._waits[:, None]
        return _marked({"action_mask": mask}, np.ones(self.num_envs, np.bool_))


def _mode(mode: Any) -> AutoresetMode:
    """Read an autoreset mode; raise ValueError if there is no such mode."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        modes = listed(repr(known.value) for known in AutoresetMode)
        raise ValueError(f"autoreset_mode is one of {modes}, not {shown(mode)}") from None


def _marked(infos: dict[str, Any], rows: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Add to infos the masks by which Gymnasium marks the rows that have them."""
    return infos | {f"_{name}": rows.copy() for name in infos}
