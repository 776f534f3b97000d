"""The turn-based environment with PettingZoo's AEC interface, which all games share.

From `env.step` to the next observation, in six files:

1. `krypkasino_v0.env()` is a `CardGame` in PettingZoo's three wrappers. Its `step` passes the number to `Game.act`
   (`krypenv/game/game.py`). A game keeps the record of each state since its start, so that moves can be undone.
2. `step_game` (`game/stack.py`) copies the last record and calls `act` (`krypenv/kernels/play.py`). Where the card may
   make one capture only (`kernels/captures.py`), or none, `complete_play` (`kernels/completing.py`) carries the play
   out, and `pass_turn` goes on to the next seat or deal, or ends the game. Else the same seat acts again, to take a
   card.
3. `CardGame` pays by `krypenv/rewards.py`. `observe`, a call of its own, has `write_observation`
   (`kernels/observing.py`) fill a fresh vector.

An `Engine` has no past: `step_rows` (`krypenv/stepping.py`) calls the same `act` on each of its games.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any, ParamSpec

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from krypenv.arguments import check_action, check_options, check_seed
from krypenv.cards import NO_SEAT
from krypenv.envs.base import Rendered, observation_space, read_keywords
from krypenv.families.variants import Family
from krypenv.game.game import Game
from krypenv.pictures.drawing import Pixels
from krypenv.rewards import returns_of
from krypenv.whole_state import state_space, whole_state

Observation = dict[str, npt.NDArray[np.int8]]
Arguments = ParamSpec("Arguments")


class _Direct(wrappers.BaseWrapper):
    """Reads attributes from the environment itself: going through all wrappers of PettingZoo is slower than a step."""

    agents, agent_selection, infos, rewards, terminations, truncations, _cumulative_rewards = (
        property(attrgetter(f"unwrapped.{name}"))
        for name in (
            "agents", "agent_selection", "infos", "rewards", "terminations", "truncations", "_cumulative_rewards",
        )
    )  # fmt: skip
    unwrapped: Any = None

    def __init__(self, env: AECEnv[str, Observation, int], **arguments: Any) -> None:
        self.unwrapped = env.unwrapped
        super().__init__(env, **arguments)

    def __str__(self) -> str:
        return str(self.env)


class _TerminateIllegal(_Direct, wrappers.TerminateIllegalWrapper):
    pass


class _AssertOutOfBounds(_Direct, wrappers.AssertOutOfBoundsWrapper):
    def step(self, action: Any) -> None:
        """Raise AssertionError, with the sentence of `check_action`, for anything but the number of an action."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            super().step(action)
            return
        try:
            number = check_action(action, self.unwrapped.rules.num_actions)
        except ValueError as error:
            raise AssertionError(str(error)) from None
        self.env.step(number)


class _OrderEnforcing(_Direct, wrappers.OrderEnforcingWrapper):
    pass


class CardGame(Rendered, AECEnv[str, Observation, int]):
    """A game of the family as an environment without wrappers; an illegal action raises IllegalMove.

    Args:
        players, variant, games: the variant's preset, for so many players and games; a session is one episode (R15).
        render_mode: "human" shows each state in a window; `render()` returns it as pixels with "rgb_array",
            (720, 960, 3) uint8, and as text for a terminal with "ansi" (`krypenv.pictures`).
        reward: "centred", "points" or "win", see `krypenv.rewards.returns_of`.
        fields: further keywords. Fields of `Rules` change the preset; `rules`, complete rules of the same family, or
            their text or fields, take its place. `dense`, `features` and `history` are those of
            `krypenv.envs.base.Terms`. `render_seat` says whose hand rendering shows: the seat to act ("turn"), one seat
            (its number), "all" or none (None); of the other hands it shows the size only.

    Attributes:
        game: the `Game` behind the environment: for referees and rendering, never for players.
        actions: the actions since the reset, a list of ints.
    """

    game: Game

    def __init_subclass__(cls, family: Family, **more: Any) -> None:
        """Name the games that a subclass plays."""
        super().__init_subclass__(**more)
        cls.family = family
        cls.metadata = {"name": family.module, "is_parallelizable": False, **Rendered.metadata}

    def __init__(
        self,
        players: int | None = None,
        variant: str | None = None,
        render_mode: str | None = None,
        reward: str = "centred",
        games: int | None = None,
        **fields: Any,
    ) -> None:
        super().__init__()
        named = {"players": players, "variant": variant, "render_mode": render_mode, "reward": reward, "games": games}
        self.rules, self.terms, view = read_keywords("env", self.family, named | fields)
        self.begin_view(self.rules, self.family.module, **view)
        self.state_space = state_space(self.rules)
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self.seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        actions = self.rules.num_actions
        self.observation_spaces = {
            agent: Dict(
                observation=observation_space(self.terms.width(self.rules)),
                action_mask=Box(0, 1, (actions,), np.int8),
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: Discrete(actions) for agent in self.possible_agents}
        self._seeds: np.random.Generator | None = None

    def observation_space(self, agent: str) -> Dict:
        """Return the space of an agent's observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of an agent's actions, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal the cards of `Game(rules, seed=seed)`; without a seed, cards that follow from the last seed given.

        `options["deck"]`, the names of all cards in deal order (R4), stacks the first game; other options are ignored.
        """
        deck = check_options(options).get("deck")
        seed = None if seed is None else check_seed(seed)
        seeds = np.random.default_rng(seed) if seed is not None or self._seeds is None else self._seeds
        deal = int(seeds.integers(1 << 63)) if seed is None else seed
        self.game = Game(self.rules, seed=deal, deck=deck)
        self._seeds = seeds
        self.actions: list[int] = []
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": self.game.action_mask(seat)} for agent, seat in self.seats.items()}
        self.agent_selection = self.possible_agents[self.game.turn]
        self._paid = np.zeros(self.rules.players)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Observe the game as an agent, in fresh arrays; the mask is all zero unless the agent is to act."""
        seat = self.seats[agent]
        observation = self.game.observation(seat, self.terms.features, self.terms.history)
        return {"observation": observation, "action_mask": self.game.action_mask(seat)}

    def state(self) -> npt.NDArray[np.int32]:
        """Encode the whole state for critics that see everything, (792,) int32 in Krypkasino, a fresh array.

        `krypenv.whole_state.layout_of(rules)` names its parts.
        """
        return whole_state(self.rules, self.game.state)

    def step(self, action: int) -> None:
        """Carry out the action of the agent to act; the action is None if the agent's episode is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = check_action(action, self.rules.num_actions)
        self.game.act(number)
        self.actions.append(number)
        self._cumulative_rewards[agent] = 0.0
        if self.render_mode == "human":
            self.render()
        turn = self.game.turn
        if turn == NO_SEAT:
            turn = self._end_game()
        elif self.terms.dense:
            self._pay()
        self.infos[agent] = {"action_mask": np.zeros(self.rules.num_actions, np.int8)}
        self.agent_selection = agent = self.possible_agents[turn]
        self.infos[agent] = {"action_mask": self.game.action_mask(turn)}

    def _end_game(self) -> int:
        """Pay, then begin the session's next game or end the episode; return the next seat."""
        is_over = self.game.session_over
        if is_over or self.terms.dense:
            self._pay(is_over)
        if is_over:
            self.terminations = dict.fromkeys(self.agents, True)
            return 0
        self.game = self.game.next_game()
        if self.render_mode == "human":
            self.render()
        return self.game.turn

    def _pay(self, is_final: bool = False) -> None:
        """Pay each agent the change of its return since the last payment.

        Tie breaks between equal scores count at the end of the session only (K6, F7).
        """
        scores = np.array(self.game.totals)
        if not self.game.is_over:
            scores += self.game.scores()
        tie_breaks = np.array(self.game.tie_breaks()) if is_final else None
        worth = returns_of(self.rules, scores, self.terms.reward, tie_breaks)
        self.rewards = dict(zip(self.agents, (worth - self._paid).tolist(), strict=True))
        self._paid = worth
        self._accumulate_rewards()

    def render(self) -> Pixels | str | None:
        """Draw the game, as pixels, as text or in a window, by the render mode."""
        return self.show(self.game)


def wrapping(raw_env: Callable[Arguments, CardGame]) -> Callable[Arguments, AECEnv[str, Observation, int]]:
    """Make the function `env` of a module, which takes the arguments of `raw_env` and adds the usual wrappers."""

    def env(*args: Arguments.args, **kwargs: Arguments.kwargs) -> AECEnv[str, Observation, int]:
        """Make the environment with the usual wrappers; the arguments are those of `raw_env`.

        An illegal action ends the episode: the agent gets `krypenv.rewards.illegal_reward`, which is less than any
        legal episode returns, and the others get 0. Anything that is not an action raises AssertionError.
        """
        raw = raw_env(*args, **kwargs)
        wrapped = _TerminateIllegal(raw, illegal_reward=raw.terms.illegal_reward(raw.rules))
        return _OrderEnforcing(_AssertOutOfBounds(wrapped))

    env.__module__, env.__qualname__ = raw_env.__module__, "env"
    env.__signature__ = inspect.signature(raw_env)  # type: ignore[attr-defined]
    return env
