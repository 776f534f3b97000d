"""OpenSpiel: all games of the family as one game there, its states, and agents as bots (docs/openspiel.md).

Importing this module registers the game: `pyspiel.load_game("krypenv(preset=kasino-sweden,players=3)")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import NO_SEAT, NUM_KINDS
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course, action_text
from krypenv.envs.opponents import Player, ask_opponent, make_named
from krypenv.envs.resampling import resampled
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.features import observation_for
from krypenv.game.stack import most_actions
from krypenv.inputs.words import check_text, to_install
from krypenv.kernels.observing import plays_of_deal
from krypenv.observation import history_shape
from krypenv.rewards import illegal_reward
from krypenv.rules import Rules, RulesLike, as_rules

try:
    import pyspiel
except ImportError as error:
    raise ImportError(f"krypenv.envs.openspiel needs OpenSpiel; {to_install('openspiel')}") from error

from krypenv.envs.openspiel_observer import Observer, write_plays

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

    def new_initial_state(self) -> KrypState:
        """Start before the first card is dealt."""
        return KrypState(self, self._start)

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Observer:
        """Make an observer of states, by default without perfect recall."""
        return Observer(self.plan, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def max_chance_nodes_in_history(self) -> int:
        """Bound the number of cards that chance deals."""
        return self.plan.most_games * self.rules.deck_size


class KrypState(pyspiel.State):
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


pyspiel.register_game(_TYPE, KrypGame)
