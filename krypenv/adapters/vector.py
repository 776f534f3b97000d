"""The games for one learner as Gymnasium vector environments: `gymnasium.make_vec("Krypkasino-v0", num_envs=B)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from krypenv.adapters.gym import OneLearner
from krypenv.arguments import check_options
from krypenv.envs.base import Rendered, observation_space, successive_seeds
from krypenv.envs.opponents import RANDOM, Opponents
from krypenv.game.game import Game
from krypenv.inputs.words import shown
from krypenv.pictures.drawing import Pixels
from krypenv.rewards import FloatArray

MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)


class LearnerVectorEnv(gym.vector.VectorEnv, OneLearner):
    """Many games of one learner at once.

    Row i behaves like a `krypenv.adapters.gym.LearnerEnv` with the seed `seed + i`. `infos["action_mask"]` is (B, 105)
    int8. An illegal action ends the row's episode with `illegal_reward`.

    What a row shows after its episode depends on `autoreset_mode`:

    - `SAME_STEP`: the next episode. What was seen last is in `infos["final_obs"]` and `infos["final_info"]`.
    - `NEXT_STEP`: what is seen last, with an empty mask. The row's next action is ignored: it begins the next episode.

    Args:
        num_envs: B.
        family: "krypkasino", "kasino" or "mulle"; the registered environments set it.
        seat, opponents, threads: as in `LearnerGames`; no `seat="all"`.
        autoreset_mode: one of these `gymnasium.vector.AutoresetMode`, or its text, "SameStep" or "NextStep".
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
        mode = next((known for known in MODES if autoreset_mode in (known, known.value)), None)
        if mode is None:
            raise ValueError(f"autoreset_mode is 'SameStep' or 'NextStep', not {shown(autoreset_mode)}")
        self.autoreset_mode = mode  # where TorchRL looks for it
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

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.int8], dict[str, Any]]:
        """Begin new episodes in all rows; a number gives row i the seed `seed + i`, a sequence has one seed per row.

        Without a seed, a row whose episode is over begins its next one, which follows from its last seed. No option has
        a meaning.
        """
        check_options(options)
        undealt = np.arange(self.num_envs)
        if seed is None:
            seeds = self.np_random.integers(1 << 63, size=self.num_envs).astype(np.uint64)
            undealt = undealt[~self._waits]
        else:
            seeds = successive_seeds(seed, self.num_envs)
            if np.ndim(seed) == 0:
                super().reset(seed=int(seeds[0]))
        self.batch.restart(undealt, seeds[undealt])
        self._waits[:] = False
        return self._observations(), self._infos()

    def step(self, actions: npt.ArrayLike) -> tuple[npt.NDArray[np.int8], FloatArray, Any, Any, dict[str, Any]]:
        """Carry out one action per row, (B,) ints, then play on to the learner's next decision in each."""
        batch = self.batch
        batch.step(actions, np.flatnonzero(~self._waits))
        is_same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._waits[:] = False if is_same_step else batch.done
        final = self._final() if is_same_step and batch.done.any() else {}
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._observations(), batch.reward.copy(), batch.done.copy(), truncated, self._infos() | final

    def _observations(self) -> npt.NDArray[np.int8]:
        """Copy the learner's observations, (B, N) int8: the last one of an episode where its row waits."""
        observations = self.batch.observation.copy()
        if self._waits.any():
            observations[self._waits] = self.batch.final_observation[self._waits]
        return observations

    def _final(self) -> dict[str, Any]:
        """Collect what was seen last of the episodes that have just ended."""
        ended, observations = self.batch.done, np.full(self.num_envs, None, object)
        for row in np.flatnonzero(ended):
            observations[row] = self.batch.final_observation[row].copy()
        info = _marked({"action_mask": np.zeros_like(self.batch.action_mask)}, ended)
        return _marked({"final_obs": observations, "final_info": info}, ended)

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


def _marked(infos: dict[str, Any], rows: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Add to infos the masks by which Gymnasium marks the rows that have them."""
    return infos | {f"_{name}": rows.copy() for name in infos}
