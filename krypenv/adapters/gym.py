"""The games for one learner as Gymnasium environments, as in `gymnasium.make("Krypkasino-v0")`."""

from __future__ import annotations

import inspect
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from krypenv.adapters.vector import observation_space
from krypenv.arguments import check_action, check_options, check_seed, chosen_rules
from krypenv.envs.learner import LearnerGames, check_one_seat
from krypenv.envs.opponents import RANDOM, Opponents
from krypenv.families.variants import KASINO, KRYPKASINO, MULLE, Family
from krypenv.game.core import Core
from krypenv.game.display import TURN, check_render_seat
from krypenv.pictures.rendering import FPS, RENDER_MODES, Pixels, Renderer
from krypenv.rules import RulesLike

Observation = npt.NDArray[np.int8]


class LearnerEnv(gym.Env):
    """One seat of a game, played by the learner, with opponents at the other seats.

    The observation is what the learner's seat sees at its own decisions and at the end, (N,) int8. The legal actions
    are in `info["action_mask"]`, (105,) int8, and `action_masks()`. An illegal action ends the episode with the reward
    `illegal_reward`, which is below any legal return.

    Args:
        players, variant, rule_fields: the rules, as the variant's preset with some fields changed.
        rules: complete rules of the same family, or their text or fields, in place of all these and of `games`.
        seat, opponents, reward, dense, games, features, history: as in `krypenv.envs.learner.LearnerGames`; no
            `seat="all"`.
        render_mode: "human" shows each of the learner's decisions in a window; `render()` returns it as pixels with
            "rgb_array", (720, 960, 3) uint8, and as text for a terminal with "ansi". The learner sits at the bottom.
        render_seat: whose hand rendering shows: by default the learner's ("turn"), one seat (its number), "all" or none
            (None).
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}  # noqa: RUF012
    family: Family

    def __init__(
        self,
        players: int | None = None,
        variant: str | None = None,
        seat: int | str = 0,
        opponents: Opponents = RANDOM,
        reward: str = "centred",
        dense: bool = False,
        games: int | None = None,
        features: bool = False,
        render_mode: str | None = None,
        rules: RulesLike | None = None,
        history: bool = False,
        render_seat: int | str | None = TURN,
        **rule_fields: Any,
    ) -> None:
        check_one_seat(seat)
        rules = chosen_rules(
            type(self).__name__, _PARAMETERS, self.family, rules, variant, rule_fields, players=players, games=games
        )
        self.render_mode = render_mode
        self.render_seat = check_render_seat(render_seat, rules.players)
        self._renderer = None if render_mode is None else Renderer(render_mode, self.family.gym_id)
        self.batch = LearnerGames(
            rules, 1, seat, opponents, reward, dense, illegal_ends=True, features=features, history=history
        )
        self.observation_space = observation_space(self.batch.observation.shape[1])
        self.action_space = gym.spaces.Discrete(rules.num_actions)
        self._is_dealt = False  # whether the next episode is dealt already, and waits for a reset
        self._is_over = True
        self._shown: tuple[Core, int] | None = None  # what is rendered, and the learner's seat

    @property
    def illegal_reward(self) -> float | None:
        """The reward for an illegal action, which ends the episode."""
        return self.batch.illegal_reward

    def action_masks(self) -> Observation:
        """Return the learner's legal actions, (105,) int8; all zero when the episode is over."""
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
        self._look(self.batch.engine.state[0], int(self.batch.seats[0]))
        return self.batch.observation[0].copy(), {"action_mask": self.action_masks()}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out an action, then play on to the learner's next decision or the end."""
        if self._is_over:
            raise gym.error.ResetNeeded("the episode is over; call reset() to deal the next one")
        batch, number = self.batch, check_action(action, self.batch.rules.num_actions)
        before, seat, is_legal = batch.engine.state[0].copy(), int(batch.seats[0]), batch.action_mask[0, number] == 1
        batch.step(np.array([number]))
        self._is_dealt = self._is_over = bool(batch.done[0])
        now = batch.engine.state[0] if not self._is_over else batch.ended[0] if is_legal else before
        self._look(now, seat)
        observation = batch.final_observation if self._is_over else batch.observation
        return observation[0].copy(), float(batch.reward[0]), self._is_over, False, {"action_mask": self.action_masks()}

    def render(self) -> Pixels | str | None:
        """Return a picture of the game, or show it in a window, as the render mode says."""
        if self._renderer is None:
            gym.logger.warn(
                f"render() needs a render mode, as in gymnasium.make({self.family.gym_id!r}, render_mode='ansi')"
            )
            return None
        if self._shown is None:
            raise gym.error.ResetNeeded("there is nothing to render yet; call reset() first")
        game, seat = self._shown
        return self._renderer.show(game, seat if self.render_seat == TURN else self.render_seat, seat)

    def _look(self, state: np.ndarray, seat: int) -> None:
        """Keep what is to be rendered, a state and the learner's seat, and show it if a person watches."""
        if self._renderer is not None:
            self._shown = Core.at_row(self.batch.rules, state), seat
            if self.render_mode == "human":
                self.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._renderer is not None:
            self._renderer.close()


_PARAMETERS = tuple(inspect.signature(LearnerEnv.__init__).parameters)


class KrypkasinoEnv(LearnerEnv):
    """Krypkasino for one learner, `gymnasium.make("Krypkasino-v0")`; see `LearnerEnv`."""

    family = KRYPKASINO


class KasinoEnv(LearnerEnv):
    """Kasino for one learner, `gymnasium.make("Kasino-v0", variant="sweden")`; see `LearnerEnv`."""

    family = KASINO


class MulleEnv(LearnerEnv):
    """Mulle for one learner, `gymnasium.make("Mulle-v0")`; see `LearnerEnv`."""

    family = MULLE
