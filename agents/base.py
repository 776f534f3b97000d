"""What every agent is, and how one string names it: `greedy`, `tactician(shed=True)`."""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from krypenv.rules import Rules
from krypenv.state import State

IntArray = npt.NDArray[np.int64]


class Agent(Protocol):
    """A function from what the seats to act may see to their actions, for many games at once.

    Attributes:
        name: the string that `krypenv.agents.make` makes the agent from.
        rules: the rules that it plays by.
    """

    name: str
    rules: Rules

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return a legal action for each row, (B,) int64.

        `observations` are (B, N) int8, with or without the features block, and `action_masks` (B, 105) int8.
        """
        ...


class Cheater(Agent, Protocol):
    """An agent that is shown the whole game, hidden hands and deck included: a bound on what can be gained."""

    cheats: bool  # True

    def act_on(self, state: State, action_masks: np.ndarray) -> IntArray:
        """Return a legal action for each row, (B,) int64, from whole games, (B,) of `GAME`, and (B, 105) int8 masks."""
        ...


def parse_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of an agent's string; the values are Python literals.

    Raises ValueError where it is no such string.

    >>> parse_spec("tactician(shed=True)")
    ('tactician', {'shed': True})
    """
    name, bracket, rest = spec.strip().partition("(")
    with contextlib.suppress(ValueError, SyntaxError):
        node = ast.parse(f"options({rest}" if bracket else "options()", mode="eval").body
        is_name = re.fullmatch(r"[A-Za-z_]\w*(-\w+)*", name.rstrip())
        if is_name and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            return name.rstrip(), {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
    raise ValueError(
        f"{spec!r} names no agent; write a name, with options as in tactician(shed=True), or a model's folder"
    )


def format_spec(name: str, options: dict[str, Any]) -> str:
    """Return the string that `parse_spec` reads.

    >>> format_spec("tactician", {"shed": True})
    'tactician(shed=True)'
    """
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})" if options else name


def options_of(agent: Callable[..., Agent]) -> dict[str, Any]:
    """Return the options of what makes an agent with their defaults: its keyword-only arguments."""
    parameters = inspect.signature(agent).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}


def check_options(name: str, agent: Callable[..., Agent], options: dict[str, Any]) -> None:
    """Raise ValueError for an option that an agent does not have, or whose value is not of its default's type."""
    known = options_of(agent)
    for key, value in options.items():
        if key not in known:
            listed = ", ".join(f"{option}={default!r}" for option, default in known.items()) or "none"
            raise ValueError(f"{name} has no option {key!r}{did_you_mean(key, known)}; its options are: {listed}")
        wanted = type(known[key])
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise ValueError(f"{name}({key}={value!r}): {key} is of type {wanted.__name__}, as in {key}={known[key]!r}")


def load_module(name: str) -> Any:
    """Return a module of the package that needs torch; raises ValueError where that is not installed."""
    try:
        return importlib.import_module(f"krypenv.agents.{name}")
    except ImportError:
        raise ValueError('learned agents need more than the bare package: pip install "krypenv[train]"') from None


def did_you_mean(word: str, known: dict[str, Any]) -> str:
    """Return a hint at the known name closest to a word, or nothing."""
    close = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
