"""The interfaces of agents, and the strings that name them: `greedy`, `tactician(shed=True)`."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from krypenv.game.base_agent import BaseAgent, check_game, sight_of
from krypenv.game.game import Game
from krypenv.inputs.words import did_you_mean, is_whole, shown
from krypenv.kernels.compiled import compile_rules
from krypenv.rules import Rules
from krypenv.state import MAX_DECK

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_PLIES = 32  # plays that a search looks ahead, at most
MAX_SPEC = 10_000  # characters of the string that names an agent
MAX_TEXT = 1000  # characters of a string option
WORDS = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*|{WORDS}:{WORDS}")
_TEXT = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
_NUMBER = r"[-+]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][-+]?[0-9]{1,3})?"
_OPTION = re.compile(
    rf"\s*(?P<key>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>{_TEXT}|{_NUMBER}|True|False|None)\s*(?:,\s*|\Z)"
)

# Bounds of numeric options and what they are: by option for all agents, or by agent and option for one.
LIMITS: dict[str, tuple[float, float, str]] = {
    "worlds": (1, 1_000_000_000, "the worlds sampled for a decision"),
    "champion.worlds": (0, 1_000_000_000, "the worlds sampled for a decision (0 for the network alone)"),
    "ms": (0, 1_000_000_000, "the time limit for a decision in milliseconds (0 for none)"),
    "threads": (0, 1024, "the threads that share the games of a call (0 for all processors)"),
    "plies": (0, MAX_PLIES, "the depth limit in plays (0 for the default)"),
    "deals": (1, MAX_DECK, "the deals to play out"),
    "explore": (0, 1_000_000, "the weight of the exploration term, in points"),
    "oracle-cards.cards": (0, MAX_DECK, "the cards seen of each other hand"),
    "prior": (0, 1_000_000, "the points for each unit of a logit"),
    "proposals": (1, 1000, "the worlds sampled for each one played out"),
    "process.seconds": (0.001, 1_000_000, "the time limit for a decision in seconds"),
    "llm.seconds": (0.001, 1_000_000, "the time limit for a decision in seconds"),
    "llm.temperature": (0, 100, "of sampling"),
    "tokens": (0, 10_000_000, "the most tokens of a reply (0 for the endpoint's limit)"),
    "tries": (1, 100, "the replies to a decision"),
    "parallel": (1, 1024, "the requests at a time"),
    "temperature": (0, 1_000_000, "the divisor of scores (0 for the best one)"),
}
# Upper bounds of options where only a record names the agent, so that it decides within about a second.
RECORDED_LIMITS = {"worlds": 500, "plies": 2, "deals": 2, "threads": 1}


class Agent(Protocol):
    """Maps the observations of the seats to act to their actions, for many games at once.

    Attributes:
        name: the string that `krypenv.agents.make` makes the agent from.
        rules: the rules that it plays by.

    An agent may also have `remembers`, False if earlier calls change nothing; `needs_features` and `needs_history`,
    True if it reads these blocks, which come after the observation; `is_quick`, True if luck is taken out of its
    matches only if asked; `probabilities(observations, action_masks)`, which returns those of its actions, (B, A)
    float64, with `draws`, False if it does not draw its actions by them; and `log_weights`, a belief, with `believes`,
    False if all weights are equal (see `Guided.log_weights`).

    One with `cheats`, True, sees whole games, as a bound on what can be gained: in place of `act` it has
    `act_on(state, action_masks)`, with `state` (B,) of `GAME`. Its `sees_deck` is False if it ignores the cards that
    are still to be dealt.

    All that `make` returns also have `move(game)`, of `BaseAgent`. Several threads may call an agent of the package at
    once: its calls take turns (`krypenv.runtime.threads.in_turn`).
    """

    name: str
    rules: Rules

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Choose a legal action for each row, (B,) int64.

        `observations` are (B, N) int8, where the agent is seated with the blocks that it asks for and no others
        (`krypenv.features.observation_for`), and `action_masks` (B, 105) int8.
        """
        ...


class Policy(BaseAgent):
    """An agent with known probabilities of its actions."""

    def probabilities(
        self, observations: npt.ArrayLike | Game, action_masks: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Compute the probability of each action: (B, A) float64 from (B, N) and (B, A) int8, or (A,) for a `Game`.

        Raises ValueError as `act` does, and as `move` does for a game.

        >>> agent = agents.make("random")
        >>> len(agent.probabilities(Game(agent.rules, seed=7)))
        105
        """
        if isinstance(observations, Game):
            check_game(self, observations)
            return self._probabilities(*sight_of(self, observations))[0]
        return self._probabilities(np.asarray(observations), np.asarray(action_masks))

    def _probabilities(self, observations: np.ndarray, action_masks: np.ndarray) -> FloatArray:
        """Compute the probability of each action, (B, A)."""
        raise NotImplementedError


def is_main(rules: Rules) -> bool:
    """Check whether rules are like the main game's: one maximal capture, and no counts but Krypkasino's.

    Fields such as the deck, the deals, the goal and the points of cards may have any value.
    """
    return bool(compile_rules(rules)[0]["is_main"])


def draw_actions(probabilities: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw an action of each row, (B,) int64, by probabilities, (B, A)."""
    rising = probabilities.cumsum(axis=1)
    actions: IntArray = (rising > rng.random((len(rising), 1)) * rising[:, -1:]).argmax(axis=1)
    return actions


def parse_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """Parse an agent's string into its name and options. Values are numbers, strings, True, False and None.

    Raises ValueError for any other string.

    >>> parse_spec("tactician(shed=True)")
    ('tactician', {'shed': True})
    """
    if isinstance(spec, str) and len(spec) <= MAX_SPEC:
        name, bracket, rest = spec.strip().partition("(")
        if _NAME.fullmatch(name.rstrip()) and rest.endswith(")" if bracket else ""):
            with contextlib.suppress(ValueError, SyntaxError):
                return name.rstrip(), _parse_options(rest[:-1])
    raise ValueError(
        f"{shown(spec)} names no agent; write a name, with options as in tactician(shed=True), a model's folder, or "
        "module:Class, process(command='...'), llm(model='...') or sb3(path='...') for an agent of your own"
    )


def _parse_options(text: str) -> dict[str, Any]:
    """Parse the options between the parentheses; raises ValueError if they are malformed."""
    options: dict[str, Any] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text):
        option = _OPTION.match(text, at)
        if not option or option["key"] in options:
            raise ValueError("an option is key=value, and given once")
        options[option["key"]] = ast.literal_eval(option["value"])
        at = option.end()
    return options


def format_spec(name: str, options: dict[str, Any]) -> str:
    """Write the string that `parse_spec` reads.

    >>> format_spec("tactician", {"shed": True})
    'tactician(shed=True)'
    """
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})" if options else name


def name_of(name: str, maker: Callable[..., Agent], options: dict[str, Any]) -> str:
    """Make the string of an agent from the values of its options; `threads` and defaults are left out.

    Raises ValueError for a value that an option can't have.
    """
    defaults = options_of(maker)
    values = {key: options[key] for key in defaults}
    values = {key: value.item() if isinstance(value, np.generic) else value for key, value in values.items()}
    check_options(name, maker, values)
    named = {key: values[key] for key in defaults if key != "threads" and values[key] != defaults[key]}
    return format_spec(name, named)


def options_of(agent: Callable[..., Agent]) -> dict[str, Any]:
    """List the options of an agent's class or function, its keyword-only arguments, with their defaults."""
    parameters = inspect.signature(agent).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def check_options(name: str, agent: Callable[..., Agent], options: dict[str, Any]) -> None:
    """Raise ValueError for an option that an agent does not have, or a value of the wrong type or beyond `LIMITS`."""
    check_known(name, options_of(agent), options)
    for key, value in options.items():
        limited = f"{name}.{key}" if f"{name}.{key}" in LIMITS else key
        if limited in LIMITS and value is not None:
            check_limit(limited, value)


def check_known(name: str, known: dict[str, Any], options: dict[str, Any]) -> None:
    """Raise ValueError for an option that is not in `known`, or whose type differs from the default there.

    An option without a default, or with None, takes any type.
    """
    for key, value in options.items():
        if key not in known:
            listed = ", ".join(_shown_option(*option) for option in known.items()) or "none"
            raise ValueError(f"{name} has no option {shown(key)}{did_you_mean(key, known)}; its options are: {listed}")
        default, wanted = known[key], type(known[key])
        is_open = default is None or default is inspect.Parameter.empty
        if not is_open and type(value) is not wanted and not (wanted is float and type(value) is int):
            raise ValueError(
                f"{name}({key}={shown(value)}): {key} is of type {wanted.__name__}, as in {key}={shown(default)}"
            )
        if isinstance(value, str) and not (value.isprintable() and len(value) <= MAX_TEXT):
            raise ValueError(f"{name}({key}={shown(value)}): {key} is at most {MAX_TEXT} characters, all printable")


def _shown_option(name: str, default: Any) -> str:
    return name if default is inspect.Parameter.empty else f"{name}={shown(default)}"


def check_limit(key: str, value: Any) -> None:
    """Raise ValueError for a number outside its `LIMITS`."""
    low, high, what = LIMITS[key]
    if not (isinstance(value, (int, float)) and low <= value <= high):
        raise ValueError(f"{key.rpartition('.')[2]}, {what}, is from {low} to {high}, not {shown(value)}")


def check_seed(seed: int) -> int:
    """Convert a seed to a Python int; raises ValueError unless it is a whole number from 0 to 2**64 - 1."""
    if not is_whole(seed, 0, (1 << 64) - 1):
        raise ValueError(f"a seed is a whole number from 0 to 2**64 - 1, not {shown(seed)}")
    return int(seed)
