"""Our agents as bots of OpenSpiel, and its bots as agents."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from krypenv.envs.course import Course
from krypenv.envs.openspiel_game import KrypGame, KrypState, load
from krypenv.envs.openspiel_observer import write_plays
from krypenv.envs.opponents import RANDOM, Player, ask_opponent, make_named
from krypenv.features import observation_for
from krypenv.inputs.words import check_whole, shown
from krypenv.kernels.decision_checks import check_decisions
from krypenv.kernels.observing import plays_of_deal
from krypenv.observation import history_shape
from krypenv.rules import Rules
from krypenv.runtime.jit import handle
from krypenv.worlds.determinize import determinize

BOTS = ("ismcts", "mcts", RANDOM)
MOST_SIMULATIONS = 10_000_000


class AgentBot(pyspiel.Bot):
    """An agent of ours as a bot: it plays any seat of `krypenv` games, from what the seat to act sees.

    Args:
        agent: an object with `act(observations, action_masks)`.
    """

    def __init__(self, agent: Player) -> None:
        super().__init__()
        self.agent = agent

    def step(self, state: KrypState) -> int:
        """Return the agent's action for the seat to act."""
        course, masks = state.course, state.course.mask()[None]
        seen = observation_for(self.agent, course.rules, _with_history(course), masks)
        return int(ask_opponent(self.agent, seen, masks)[0])

    def restart(self) -> None:
        """Do nothing: agents go by what they see."""

    def restart_at(self, state: KrypState) -> None:
        """Do nothing: agents go by what they see."""


def _with_history(course: Course) -> npt.NDArray[np.int8]:
    """Return what the seat to act sees, with the plays of the deal that are known, (1, N) int8."""
    rules, plays = course.rules, course.plays[len(course.beginning.plays) :]
    history = np.zeros(history_shape(rules), np.int8)
    write_plays(rules, plays, course.turn, history[plays_of_deal(course.plan.compiled[0], course.state) - len(plays) :])
    return np.concatenate([course.observation(course.turn), history.ravel()])[None]


def make_bot(game: KrypGame, name: str, seed: int = 0) -> AgentBot:
    """Return the named agent as a bot for any seat of a game; names are those of `krypenv.agents.make`.

    Raises ValueError if there is no such agent, or if it has to see what is hidden.

    >>> game = load(Rules.preset("krypkasino"))
    >>> bots = [make_bot(game, "tactician"), make_bot(game, "random", seed=1)]
    >>> margins = pyspiel.evaluate_bots(game.new_initial_state(), bots, 0)
    """
    agent = make_named(name, game.rules, seed)
    return AgentBot(Bot(game.rules, seed, RANDOM) if isinstance(agent, str) else agent)


class Bot:
    """A bot of OpenSpiel as an agent: `krypenv.envs.openspiel:Bot(bot='ismcts', simulations=100)` in an agent string.

    It decides in a state that is consistent with what the seat sees (`determinize`), so it sees no hidden cards.

    Args:
        rules: the rules.
        seed: where its random choices come from.
        bot: "ismcts" (information set MCTS, which samples many worlds), "mcts" (in one sampled world), or "random".
        simulations: games that a search plays out for a decision.
        explore: weight of the exploration term, in points.
    """

    def __init__(
        self, rules: Rules, seed: int, bot: str = "ismcts", simulations: int = 100, explore: float = 10.0
    ) -> None:
        if bot not in BOTS:
            raise ValueError(f"bot is one of {', '.join(BOTS)}, not {shown(bot)}")
        if not 0 <= explore <= 1e6:
            raise ValueError(f"explore is a number of points from 0 to 1000000, not {shown(explore)}")
        self.rules = rules
        self.game = load(rules)
        self._random = np.random.RandomState(seed % 2**32)
        simulations = check_whole("simulations", simulations, 1, MOST_SIMULATIONS)
        evaluator = mcts.RandomRolloutEvaluator(1, self._random)
        self._bot: Any = None
        if bot == "ismcts":
            self._bot = ismcts.ISMCTSBot(self.game, evaluator, explore, simulations, random_state=self._random)
            self._bot.set_resampler(lambda state, seat: state.resample_from_infostate(seat, self._random.uniform))
        elif bot == "mcts":
            self._bot = mcts.MCTSBot(self.game, explore, simulations, evaluator, random_state=self._random)

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Return a legal action for each row, (B,) int64, from (B, N) int8 observations and (B, A) int8 masks."""
        observations, action_masks = check_decisions(self.rules, observations, action_masks)
        return np.array([self._choose(*row) for row in zip(observations, action_masks, strict=True)], np.int64)

    def _choose(self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]) -> int:
        legal = np.flatnonzero(mask)
        if len(legal) == 1 or self._bot is None:
            return int(self._random.choice(legal))
        world = determinize(observation, int(self._random.randint(2**31)), self.rules)
        return int(self._bot.step(self.game.resume(handle(world)[0])))
