"""The games of the family as one game of OpenSpiel, with parameters, and its states."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyspiel

from krypenv.cards import NO_SEAT, NUM_KINDS, action_name
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course
from krypenv.envs.course_text import deal_name
from krypenv.envs.openspiel_observer import Observer
from krypenv.envs.resampling import resampled
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.inputs.words import check_text, shown
from krypenv.rewards import illegal_reward
from krypenv.rules import Rules, RulesLike, as_rules

NAME = "krypenv"
PARAMETERS: dict[str, Any] = {
    "preset": "krypkasino",  # `Rules.presets()` lists them
    "players": 2,
    "teams": 0,  # 0 for none
    "rules": "",  # other fields of the rules, as in "goal:high;first_deal:((2,2),(2,2));"
    "sorted_deals": False,  # deal each hand in ascending order only, which makes the tree many times smaller
}
_FIELD = re.compile(r"\s*([^\s;:=]*)\s*[:=]\s*([^\s;]*)\s*(?:[;\s]|\Z)")

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
    """Return the game of some rules, or of their text or fields.

    >>> load(Rules.preset("mini-sweep"), sorted_deals=True).num_players()
    2
    """
    return pyspiel.load_game(NAME, parameters_of(as_rules(rules), sorted_deals))


def parameters_of(rules: Rules, sorted_deals: bool = False) -> dict[str, Any]:
    """Return the parameters of the game of some rules."""
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
    """Return the rules that parameters of the game name; raise ValueError if they make no game."""
    known = {**PARAMETERS, **parameters}
    preset = check_text(known["preset"], "preset").strip()
    Rules.preset(preset)  # an unknown name is refused by itself, before it is read as part of a text
    text, words, at = check_text(known["rules"], "rules"), [], 0
    while at < len(text.rstrip()):
        field = _FIELD.match(text, at)
        if not field:
            raise ValueError(f"{shown(text[at:])} in rules is no field; fields are written goal:high;packs:1")
        words.append(f"{field[1]}={field[2]}")
        at = field.end()
    if known["teams"]:
        words.append(f"teams={known['teams']}")
    return Rules.parse(" ".join([preset, f"players={known['players']}", *words]))


class KrypGame(pyspiel.Game):
    """All games of the family; `plan` has the rules.

    Returns are margins in points: the lead of a seat's side over the mean of the other sides (R14, R16).
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = params or {}
        rules = rules_of(given)
        self.plan = CoursePlan(rules, given.get("sorted_deals", False))
        sides = rules.num_teams
        most = -illegal_reward(rules, "centred", False) * sides / (sides - 1)
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.num_actions,
            max_chance_outcomes=NUM_KINDS,
            num_players=rules.players,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=self.plan.most_decisions,
        )
        super().__init__(_TYPE, info, parameters_of(rules, self.plan.sorted_deals))
        self._start = Course(self.plan)

    def __reduce__(self) -> tuple[Any, ...]:
        return pyspiel.load_game, (str(self),)

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self.plan.rules

    def new_initial_state(self) -> KrypState:
        """Return the state before the first card is dealt."""
        return KrypState(self, self._start)

    def resume(self, state: Any, views: dict[int, str] | None = None) -> KrypState:
        """Return the state of a row of `krypenv.state.GAME` in which a seat is to act.

        Its history begins there, and OpenSpiel can't store it. `views` are what seats remember, as text. Raises
        ValueError for anything but a state of an unfinished game under these rules.
        """
        return KrypState(self, Course.resume(self.plan, state, views))

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Observer:
        """Return what OpenSpiel observes states by."""
        return Observer(self.plan, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def max_chance_nodes_in_history(self) -> int:
        """Return a bound on the cards that chance deals."""
        return self.plan.most_draws


class KrypState(pyspiel.State):
    """A state: its `course` is the session up to it (`krypenv.envs.course.Course`)."""

    def __init__(self, game: KrypGame, course: Course) -> None:
        super().__init__(game)
        self.course = course

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, self.course.__reduce__()[1]

    def current_player(self) -> int:
        """Return the seat to act, or the number that stands for chance or the end."""
        return self.course.turn

    def _legal_actions(self, player: int) -> list[int]:
        return self.course.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the kinds that may be dealt next, with their probabilities."""
        return self.course.chance_outcomes()

    def _apply_action(self, action: int) -> None:
        self.course = self.course.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player >= 0:
            return action_name(action)
        if self.course.turn != CHANCE:
            return deal_name(action)
        seat = self.course.drawing()[1]
        return f"{deal_name(action)} " + ("to the table" if seat == NO_SEAT else f"to seat {seat}")

    def is_terminal(self) -> bool:
        """Return whether the session is over."""
        return self.course.turn == TERMINAL

    def returns(self) -> list[float]:
        """Return each seat's margin, 0 before the end."""
        return self.course.returns()

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> KrypState:
        """Return a state that a seat can't tell from this one: what it has not seen is drawn anew.

        The moves are those of this state. Its history may differ by a `stop`, which only who could have done more says.

        Raises ValueError for a seat that there is not, while chance deals, and at the end.
        """
        number = probability_sampler()
        if not 0 <= number <= 1:
            raise ValueError(f"a probability sampler returns numbers from 0 to 1, not {shown(number)}")
        twin = resampled(self.course, player_id, int(number * 2.0**53))
        state = KrypState(self.get_game(), twin.start)
        for action in twin.path:
            state.apply_action(action)
        return state

    def __str__(self) -> str:
        return str(self.course)


def _revive(rules: str, sorted_deals: bool, path: tuple[int, ...]) -> KrypState:
    state = load(Rules.parse(rules), sorted_deals).new_initial_state()
    for action in path:
        state.apply_action(action)
    return state


pyspiel.register_game(_TYPE, KrypGame)
