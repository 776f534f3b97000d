"""OpenSpiel: all games of the family as one game there, its states, and bots both ways (docs/openspiel.md).

Importing this module registers the game: `pyspiel.load_game("krypenv(preset=kasino-sweden,players=3)")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.arguments import check_whole
from krypenv.cards import NO_SEAT, NUM_KINDS
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course, action_text
from krypenv.envs.opponents import Player, ask_opponent, make_named
from krypenv.envs.resampling import resampled
from krypenv.envs.seen import Struct, StructState, history_of
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.features import observation_for
from krypenv.game.stack import most_actions
from krypenv.inputs.words import check_text, shown, to_install
from krypenv.kernels.decision_checks import check_decisions
from krypenv.kernels.observing import plays_of_deal
from krypenv.observation import history_shape
from krypenv.rewards import illegal_reward
from krypenv.rules import Rules, RulesLike, as_rules
from krypenv.worlds.determinize import determinize

try:
    import pyspiel
    from open_spiel.python.algorithms import ismcts, mcts
except ImportError as error:
    raise ImportError(f"krypenv.envs.openspiel needs OpenSpiel; {to_install('openspiel')}") from error

from krypenv.envs.openspiel_observer import Observer, write_plays

BOTS = ("ismcts", "mcts", "random")
MOST_SIMULATIONS = 10_000_000
NAME = "krypenv"
PARAMETERS: dict[str, Any] = {
    "preset": "krypkasino",  # `Rules.presets()` lists them
    "players": 2,
    "teams": 0,  # 0 for none
    "rules": "",  # other fields of the rules, as in "goal:high;first_deal:((2,2),(2,2));"
    "sorted_deals": False,  # deal each hand in ascending order only, which makes the tree many times smaller
}

_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Krypkasino, Kasino and Mulle",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=PARAMETERS,
)


def load(rules: RulesLike, sorted_deals: bool = False) -> KrypGame:
    """Load the game of some rules, or of their text or fields.

    >>> load(Rules.preset("mini-sweep"), sorted_deals=True).num_players()
    2
    """
    return pyspiel.load_game(NAME, parameters_of(as_rules(rules), sorted_deals))


def parameters_of(rules: Rules, sorted_deals: bool = False) -> dict[str, Any]:
    """Write rules as parameters of the game."""
    preset, *words = str(rules).split()
    others = [word.replace("=", ":") for word in words if not word.startswith(("players=", "teams="))]
    # a parameter that ends with a parenthesis would be read as a game
    fields = ";".join(others) + (";" if others and others[-1].endswith(")") else "")
    return {
        "preset": preset,
        "players": rules.players,
        "teams": rules.teams or 0,
        "rules": fields,
        "sorted_deals": bool(sorted_deals),
    }


def rules_of(parameters: dict[str, Any]) -> Rules:
    """Read the rules from the parameters of the game; raise ValueError if they make no game."""
    values = {**PARAMETERS, **parameters}
    preset = check_text(values["preset"], "preset").strip()
    Rules.preset(preset)  # refuses an unknown name by itself, before it is read as part of a text
    fields = check_text(values["rules"], "rules").replace(";", " ").split()
    words = [field if "=" in field else field.replace(":", "=", 1) for field in fields]
    words += [f"teams={values['teams']}"] if values["teams"] else []
    return Rules.parse(" ".join([preset, f"players={values['players']}", *words]))


class KrypGame(pyspiel.Game):
    """All games of the family, by their `rules` and the `plan` of their deals.

    Returns are margins in points: the lead of a seat's side over the mean of the other sides (R14, R16).
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        self.rules = rules = rules_of(params)
        self.plan = CoursePlan(rules, params.get("sorted_deals", False))
        sides = rules.num_teams
        most = -illegal_reward(rules, "centred", False) * sides / (sides - 1)
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.num_actions,
            max_chance_outcomes=NUM_KINDS,
            num_players=rules.players,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=self.plan.most_games * most_actions(rules),
        )
        super().__init__(_TYPE, info, parameters_of(rules, self.plan.sorted_deals))
        self._start = Course(self.plan)

    def __reduce__(self) -> tuple[Any, ...]:
        return pyspiel.load_game, (str(self),)

    def new_initial_state(self, struct: Struct | dict[str, Any] | str | None = None) -> KrypState:
        """Start before the first card is dealt, or in the state of a struct or of its JSON."""
        state = KrypState(self, self._start)
        if struct is not None:
            for action in history_of(self.rules, struct if isinstance(struct, Struct) else Struct(struct)):
                state.apply_action(action)
        return state

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Observer:
        """Make an observer of states, by default without perfect recall."""
        return Observer(self.plan, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def max_chance_nodes_in_history(self) -> int:
        """Bound the number of cards that chance deals."""
        return self.plan.most_games * self.rules.deck_size


class KrypState(StructState, pyspiel.State):
    """A state: its `course` is the session up to it (`krypenv.envs.course.Course`)."""

    def __init__(self, game: KrypGame, course: Course) -> None:
        super().__init__(game)
        self.course = course

    def current_player(self) -> int:
        """Name the seat to act, by its number, or by those of OpenSpiel for chance and the end."""
        return self.course.turn

    def _legal_actions(self, player: int) -> list[int]:
        return self.course.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """List the kinds that may be dealt next, with their probabilities."""
        return self.course.chance_outcomes()

    def _apply_action(self, action: int) -> None:
        self.course = self.course.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        name = action_text(player, action)
        if player >= 0 or self.course.turn != CHANCE:
            return name
        seat = self.course.drawing()[1]
        return f"{name} to the table" if seat == NO_SEAT else f"{name} to seat {seat}"

    def is_terminal(self) -> bool:
        """Test whether the session is over."""
        return self.course.turn == TERMINAL

    def returns(self) -> list[float]:
        """Compute the margin of each seat, 0 before the end."""
        return self.course.returns()

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> KrypState:
        """Sample a state of a seat's information set, by drawing anew what the seat has not seen.

        The moves are those of this state. The history may differ by a `stop`, which a play needs only if it could go
        on. Raises ValueError for an unknown seat, while chance deals, and at the end.
        """
        twin = resampled(self.course, player_id, int(probability_sampler() * 2.0**53))
        state = self.get_game().new_initial_state()
        for action in twin.path:
            state.apply_action(action)
        return state

    def __str__(self) -> str:
        return str(self.course)


class AgentBot(pyspiel.Bot):
    """An agent of ours as a bot: it plays any seat of `krypenv` games, from what the seat to act sees.

    Args:
        agent: an object with `act(observations, action_masks)`.
    """

    def __init__(self, agent: Player) -> None:
        super().__init__()
        self.agent = agent

    def step(self, state: KrypState) -> int:
        """Ask the agent for the action of the seat to act."""
        course = state.course
        masks = np.zeros((1, course.rules.num_actions), np.int8)
        masks[0, course.legal_actions()] = 1
        observations = observation_for(self.agent, course.rules, _with_history(course), masks)
        return int(ask_opponent(self.agent, observations, masks)[0])

    def restart_at(self, state: KrypState) -> None:
        """Reset nothing: agents decide by observations alone."""


def _with_history(course: Course) -> npt.NDArray[np.int8]:
    """Encode what the seat to act observes, with the history block, (1, N) int8."""
    rules, plays = course.rules, course.plays[len(course.beginning.plays) :]
    history = np.zeros(history_shape(rules), np.int8)
    write_plays(rules, plays, course.turn, history[plays_of_deal(course.plan.compiled[0], course.state) - len(plays) :])
    return np.concatenate([course.observation(course.turn), history.ravel()])[None]


def make_bot(game: KrypGame, name: str, seed: int = 0) -> AgentBot:
    """Make the named agent a bot for any seat of a game; names are those of `krypenv.agents.make`.

    Raises ValueError if there is no such agent, or if it has to see what is hidden.

    >>> game = load(Rules.preset("krypkasino"))
    >>> bots = [make_bot(game, "tactician"), make_bot(game, "random", seed=1)]
    >>> margins = pyspiel.evaluate_bots(game.new_initial_state(), bots, 0)
    """
    return AgentBot(make_named(name, game.rules, seed))


class Bot:
    """A bot of OpenSpiel as an agent: `krypenv.envs.openspiel:Bot(bot='ismcts', simulations=100)` in an agent string.

    It searches worlds that are consistent with what the seat sees (`determinize`), so it sees no hidden cards.

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
            raise ValueError(f"bot is {' or '.join(map(repr, BOTS))}, not {shown(bot)}")
        if not 0 <= explore <= 1e6:
            raise ValueError(f"explore is a number of points from 0 to 1000000, not {shown(explore)}")
        self.rules = rules
        self.game = load(rules)
        self._random = np.random.RandomState(seed % 2**32)
        simulations = check_whole("simulations", simulations, 1, MOST_SIMULATIONS)
        evaluator = mcts.RandomRolloutEvaluator(1, self._random)
        self._bot: Any = None  # without a search
        if bot == "ismcts":
            self._bot = ismcts.ISMCTSBot(self.game, evaluator, explore, simulations, random_state=self._random)
            self._bot.set_resampler(lambda state, seat: self._world(state.course.observation(seat)))
        elif bot == "mcts":
            self._bot = mcts.MCTSBot(self.game, explore, simulations, evaluator, random_state=self._random)

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Choose a legal action for each row, (B,) int64, from (B, N) int8 observations and (B, A) int8 masks."""
        observations, action_masks = check_decisions(self.rules, observations, action_masks)
        return np.array([self._choose(*row) for row in zip(observations, action_masks, strict=True)], np.int64)

    def _choose(self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]) -> int:
        legal = np.flatnonzero(mask)
        if len(legal) == 1:
            return int(legal[0])
        if self._bot is None:
            return int(self._random.choice(legal))
        return int(self._bot.step(self._world(observation)))

    def _world(self, observation: npt.NDArray[np.int8]) -> KrypState:
        """Draw a state that is consistent with an observation, (N,) int8, for the root of a search."""
        world = determinize(observation, int(self._random.randint(2**31)), self.rules)
        return KrypState(self.game, Course.search_root(self.game.plan, world))


pyspiel.register_game(_TYPE, KrypGame)
