"""Custom agents, `module:Class`, `process(command='...')` and `sb3(path='...')`, which can run any code.

They are made if a person typed them, never because a file does. A class is imported here; a program is started in
`krypenv.agents.programs`, and a model of Stable-Baselines3 loaded in `krypenv.adapters.sb3`.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, cast

from krypenv.agents.base import WORDS, BaseAgent, check_known, format_spec, parse_spec
from krypenv.game.base_agent import move_of
from krypenv.inputs.words import describe_error, did_you_mean, one_line, shown, to_install
from krypenv.rules import Rules

PROGRAM = "process"  # what names another program that plays
SB3 = "sb3"  # and a model that Stable-Baselines3 has saved
_OWN = re.compile(rf"\s*(?:{WORDS}:{WORDS}|{PROGRAM}|{SB3})\s*(?:\(.*)?", re.DOTALL)


class Typed(str):
    """A string that a person has typed; every other string may come from a file.

    Any change to the string loses the mark, and files don't store it. Other processes receive it.
    """

    __slots__ = ()


def typed(spec: str) -> str:
    """Mark the string of an agent as typed by a person, so that a class may be imported, say."""
    return Typed(spec) if isinstance(spec, str) else spec


def is_own(spec: object) -> bool:
    """Return whether a string names `module:Class`, a program or a pickled model, with or without options."""
    return isinstance(spec, str) and bool(_OWN.fullmatch(spec))


def refuse_import(spec: str, how: str = "name it yourself, where you start this") -> NoReturn:
    """Raise ValueError for a custom agent that only a file names; `how` says what to do instead."""
    raise ValueError(
        f"{shown(spec)} is named in a file, and nothing that a file names is imported or started: {one_line(how, 600)}"
    )


def make_own(spec: Typed, rules: Rules, seed: int) -> BaseAgent:
    """Import the class of a custom agent and return `Class(rules, seed, **options)`.

    If the agent lacks `name`, `rules` or `move`, it gets them. Raises ValueError if any of that fails.
    """
    name, options = parse_spec(spec)
    made_by = _import_class(name)
    check_known(name, _options_of(name, made_by), options)
    try:
        inspect.signature(made_by).bind(rules, seed, **options)
    except TypeError as error:
        raise ValueError(f"{name} can't be made by Class(rules, seed, **options): {error}") from None
    agent: Any = _tried(name, lambda: made_by(rules, seed, **options), "can't be made")
    for key, value in (("name", format_spec(name, options)), ("rules", rules)):
        if not _tried(name, partial(hasattr, agent, key), "is no agent"):
            _tried(name, partial(setattr, agent, key, value), f"has no {key} and takes none")
    if not hasattr(agent, "move"):
        with contextlib.suppress(AttributeError):  # of a class with slots, say
            agent.move = partial(move_of, agent)
    return cast(BaseAgent, agent)


def load_sb3(rules: Rules, seed: int = 0, *, path: str = "") -> BaseAgent:
    """Return the MaskablePPO model in a file as an agent, which plays the most probable action."""
    if not path:
        raise ValueError("sb3 plays with a model that MaskablePPO has saved: name its file, as in sb3(path='mine.zip')")
    try:
        from krypenv.adapters.sb3 import load_policy
    except ModuleNotFoundError as error:
        needed = f"{SB3} needs {error.name}, which is not installed; {to_install('train')}"
        raise ModuleNotFoundError(needed, name=error.name) from None
    return load_policy(path, rules, format_spec(SB3, {"path": path}))


def _import_class(name: str) -> Any:
    """Return the class of `module:Class`; raises ValueError if there is none, or it is not an agent."""
    path, _, words = name.partition(":")
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name and f"{path}.".startswith(f"{error.name}."):
            raise ValueError(f"there is no module {error.name!r} for the agent {name}") from None
        raise ValueError(f"{path} can't be imported for the agent {name}: it {describe_error(error)}") from None
    except BaseException as error:  # a module may also raise SystemExit
        _raise_stops(error)
        raise ValueError(f"{path} can't be imported for the agent {name}: it {describe_error(error)}") from None
    found: Any = module
    for word in words.split("."):
        lazy = {word: getattr(found, word, None)} if inspect.ismodule(found) else {}  # imported on first use
        members = {**vars(found), **lazy}
        known = [key for key, value in members.items() if inspect.isclass(value)]
        if word not in known:
            hint = did_you_mean(word, known)
            raise ValueError(f"there is no class {word!r}{hint} for the agent {name} in {_file_of(module)}")
        found = members[word]
    if not callable(getattr(found, "act_on" if getattr(found, "cheats", False) else "act", None)):
        raise ValueError(f"{name} is no agent: it has no method act(observations, action_masks)")
    return found


def _options_of(name: str, made_by: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters after rules and seed, with their defaults."""
    try:
        parameters = list(inspect.signature(made_by).parameters.values())
    except (TypeError, ValueError):
        raise ValueError(f"{name} can't be made by Class(rules, seed, **options): it has no signature") from None
    named = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    positional = sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters[:2])
    return {each.name: each.default for each in named if each not in parameters[:positional]}


def _tried(name: str, call: Callable[[], Any], what: str) -> Any:
    try:
        return call()
    except BaseException as error:
        _raise_stops(error)
        raise ValueError(f"{name} {what}: it {describe_error(error)}") from None


def _raise_stops(error: BaseException) -> None:
    if isinstance(error, (KeyboardInterrupt, MemoryError)):
        raise error


def _file_of(module: Any) -> str:
    return shown(getattr(module, "__file__", None) or module.__name__)
