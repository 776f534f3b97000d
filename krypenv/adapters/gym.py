"""The games for one learner as Gymnasium environments, as in `gymnasium.make("Krypkasino-v0")`."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from krypenv.arguments import check_action, check_options, check_seed
from krypenv.envs.base import Rendered, observation_space, read_keywords
from krypenv.envs.learner import ALL, LearnerGames
from krypenv.envs.opponents import RANDOM, Opponents
from krypenv.families.variants import FAMILIES
from krypenv.game.game import Game
from krypenv.inputs.words import check_name
from krypenv.pictures.drawing import Pixels

Observation = npt.NDArray[np.int8]
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
