"""The games for one learner as Gymnasium environments: `gymnasium.make("Krypkasino-v0")`, and many by `make_vec`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from krypenv.arguments import check_action, check_options, check_seed
from krypenv.envs.base import Rendered, observation_space, read_keywords, successive_seeds
from krypenv.envs.learner import ALL, LearnerGames
from krypenv.envs.opponents import RANDOM, Opponents
from krypenv.families.variants import FAMILIES
from krypenv.game.game import Game
from krypenv.inputs.words import check_name, shown
from krypenv.pictures.drawing import Pixels
from krypenv.rewards import FloatArray

Observation = npt.NDArray[np.int8]
MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)
_FAMILIES = {family.module.removesuffix("_v0"): family for family in FAMILIES}


class OneLearner(Rendered):
    """What the environments of one learner share: their keywords, and the games that they step, `batch`."""

    batch: LearnerGames

    def begin(self, num_games: int, family: str, seat: int | str, keywords: dict[str, Any], **own: Any) -> None:
        """Make the games; raise TypeError for an unknown keyword, ValueError for a wrong value.

        Args:
            num_games: B.
            family: "krypkasino", "kasino" or "mulle".
            seat: the learner's seat.
            keywords: fields of rules, terms and view (`krypenv.envs.base.read_keywords`).
            own: further arguments of `LearnerGames`.
        """
        check_name("family", family, _FAMILIES)
        if isinstance(seat, str) and seat == ALL:
            raise ValueError("one learner plays one seat, a number or 'random'; for all seats use LearnerGames")
        rules, terms, view = read_keywords(type(self).__name__, _FAMILIES[family], keywords, ("seat", *own))
        self.begin_view(rules, _FAMILIES[family].gym_id, **view)
        self.batch = LearnerGames(rules, num_games, seat, illegal_ends=True, **own, **vars(terms))
        self.illegal_reward = self.batch.illegal_reward  # for an illegal action, which ends the episode


class LearnerEnv(OneLearner, gym.Env):
    """One seat of a game, played by the learner, with opponents at the other seats.

    The observation is what the learner's seat sees at its own decisions and at the end, (N,) int8. The legal actions
    are in `info["action_mask"]`, (105,) int8, and `action_masks()`. An illegal action ends the episode with the reward
    `illegal_reward`, which is below any legal return.

    Args:
        family: "krypkasino", "kasino" or "mulle"; the registered environments set it.
        seat, opponents: as in `krypenv.envs.learner.LearnerGames`; no `seat="all"`.
        keywords: those of `krypenv.envs.aec.CardGame`: `variant`, fields of rules such as `players`, or `rules`;
            `reward`, `dense`, `features`, `history`; `render_mode`, with which "human" shows each of the learner's
            decisions, and `render_seat`, where "turn" is the learner. The learner sits at the bottom.
    """

    def __init__(
        self, family: str = "krypkasino", seat: int | str = 0, opponents: Opponents = RANDOM, **keywords: Any
    ) -> None:
        self.begin(1, family, seat, keywords, opponents=opponents)
        self.observation_space = observation_space(self.batch.observation.shape[1])
        self.action_space = gym.spaces.Discrete(self.batch.rules.num_actions)
        self._is_dealt = False  # whether the next episode is dealt already, and waits for a reset
        self._is_over = True

    def action_masks(self) -> Observation:
        """Copy the mask of the learner's legal actions, (105,) int8; all zero when the episode is over."""
        return np.zeros(self.batch.rules.num_actions, np.int8) if self._is_over else self.batch.action_mask[0].copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episode; with a seed, the one with the deals of `Game(rules, seed=seed)`."""
        check_options(options)
        seed = None if seed is None else check_seed(seed)
        super().reset(seed=seed)
        if seed is not None:
            self.batch.restart([0], [seed])
        elif not self._is_dealt:
            self.batch.restart([0], [self.np_random.integers(1 << 63)])
        self._is_dealt = self._is_over = False
        if self.render_mode == "human":
            self.render()
        return self.batch.observation[0].copy(), {"action_mask": self.action_masks()}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out an action, then play on to the learner's next decision or the end."""
        if self._is_over:
            raise gym.error.ResetNeeded("the episode is over; call reset() to deal the next one")
        batch = self.batch
        batch.step(np.array([check_action(action, batch.rules.num_actions)]))
        self._is_dealt = self._is_over = bool(batch.done[0])
        if self.render_mode == "human":
            self.render()
        observation = batch.final_observation if self._is_over else batch.observation
        return observation[0].copy(), float(batch.reward[0]), self._is_over, False, {"action_mask": self.action_masks()}

    def render(self) -> Pixels | str | None:
        """Draw the game, as pixels, as text or in a window, by the render mode."""
        batch = self.batch
        states, seats = (batch.ended, batch.acting) if self._is_over else (batch.engine.state, batch.seats)
        return self.show(Game.at_row(batch.rules, states[0]), int(seats[0]))


class LearnerVectorEnv(gym.vector.VectorEnv, OneLearner):
    """Many games of one learner at once.

    Row i behaves like a `LearnerEnv` with the seed `seed + i`. `infos["action_mask"]` is (B, 105)
    int8. An illegal action ends the row's episode with `illegal_reward`.

    What a row shows after its episode depends on `autoreset_mode`:

    - `SAME_STEP`: the next episode. What was seen last is in `infos["final_obs"]` and `infos["final_info"]`.
    - `NEXT_STEP`: what is seen last, with an empty mask. The row's next action is ignored: it begins the next episode.

    Args:
        num_envs: B.
        family: "krypkasino", "kasino" or "mulle"; the registered environments set it.
        seat, opponents, threads: as in `LearnerGames`; no `seat="all"`.
        autoreset_mode: one of these `gymnasium.vector.AutoresetMode`, or its text, "SameStep" or "NextStep".
        keywords: as in `LearnerEnv`. `render()` returns a picture of every row, as pixels or text;
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
