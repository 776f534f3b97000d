"""Custom agents, `module:Class`, `process(command='...')`, `llm(model='...')` and `sb3(path='...')`.

They can run any code or send requests, so only trusted strings make them: those that a person typed, never those that
a file names. A class is imported here; a program is started and a language model asked in `krypenv.agents.programs`,
and a model of Stable-Baselines3 is loaded in `krypenv.adapters.sb3`.
"""

from __future__ import annotations

import contextlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, cast

from krypenv.agents.base import WORDS, BaseAgent, check_known, format_spec
from krypenv.game.base_agent import move_of
from krypenv.inputs.words import describe_error, one_line, shown, to_install
from krypenv.rules import Rules

_NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
_OWN = re.compile(rf"\s*(?:{WORDS}:{WORDS}|process|llm|sb3)\s*(?:\(.*)?", re.DOTALL)


class Typed(str):
    """A trusted string: a person typed it. Every other string may come from a file.

    A string that is derived from it is not trusted. The mark is pickled, but no file of the package stores it.
    """

    __slots__ = ()


def typed(spec: str) -> str:
    """Mark the string of an agent as typed by a person: trusted to import a class, start a program, send requests."""
    return Typed(spec) if isinstance(spec, str) else spec


def is_own(spec: object) -> bool:
    """Check whether a string names `module:Class`, a program, a language model or a pickled model."""
    return isinstance(spec, str) and bool(_OWN.fullmatch(spec))


def refuse_import(spec: str, how: str = "name it yourself, where you start this") -> NoReturn:
    """Raise ValueError for a custom agent in a string that is not trusted; `how` says what to do instead."""
    raise ValueError(
        f"{shown(spec)} is named in a file, and nothing that a file names is imported or started: {one_line(how, 600)}"
    )


def make_own(name: str, options: dict[str, Any], rules: Rules, seed: int) -> BaseAgent:
    """Import the class of a custom agent, and make `Class(rules, seed, **options)`.

    An agent without `name`, `rules` or `move` gets them. Raises ValueError if any of that fails.
    """
    made_by = _import_class(name)
    try:
        signature = inspect.signature(made_by)
        given = signature.bind_partial(rules, seed).arguments
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} can't be made by Class(rules, seed, **options): {error}") from None
    named = {key: one for key, one in signature.parameters.items() if one.kind in _NAMED and key not in given}
    check_known(name, {key: one.default for key, one in named.items()}, options)
    agent: Any = _tried(name, lambda: made_by(rules, seed, **options), "can't be made")
    for key, value in (("name", format_spec(name, options)), ("rules", rules)):
        if not _tried(name, partial(hasattr, agent, key), "is no agent"):
            _tried(name, partial(setattr, agent, key, value), f"has no {key} and takes none")
    if not hasattr(agent, "move"):
        with contextlib.suppress(AttributeError):  # of a class with slots, say
            agent.move = partial(move_of, agent)
    return cast(BaseAgent, agent)


def load_sb3(rules: Rules, seed: int = 0, *, path: str = "") -> BaseAgent:
    """Load the MaskablePPO model in a file as an agent, which plays the most probable action.

    Args:
        path: the file, a zip that MaskablePPO has saved; it can execute code.
    """
    if not path:
        raise ValueError("sb3 plays with a model that MaskablePPO has saved: name its file, as in sb3(path='mine.zip')")
    try:
        from krypenv.adapters.sb3 import load_policy
    except ModuleNotFoundError as error:
        needed = f"sb3 needs {error.name}, which is not installed; {to_install('train')}"
        raise ModuleNotFoundError(needed, name=error.name) from None
    return load_policy(path, rules, format_spec("sb3", {"path": path}))


def _import_class(name: str) -> Any:
    """Import the class of `module:Class`; raises ValueError if there is none, or it is not an agent."""
    member = _tried(name, lambda: pkgutil.resolve_name(name), "can't be imported")
    if not inspect.isclass(member):
        raise ValueError(f"{name} is no class, and an agent is one")
    if not callable(getattr(member, "act_on" if getattr(member, "cheats", False) else "act", None)):
        raise ValueError(f"{name} is no agent: it has no method act(observations, action_masks)")
    return member


def _tried(name: str, call: Callable[[], Any], fault: str) -> Any:
    try:
        return call()
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, MemoryError)):
            raise
        raise ValueError(f"{name} {fault}: it {describe_error(error)}") from None
