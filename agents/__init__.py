"""Agents: functions from what one seat may see to an action; imported as `krypenv.agents`."""

if __name__ != "krypenv.agents":
    raise ImportError(f"this package is krypenv.agents, not {__name__}: import it under its full name")

import contextlib
import os
from collections.abc import Callable, Iterable
from typing import Any

from krypenv.agents.base import (
    RECORDED_LIMITS,
    Agent,
    BaseAgent,
    check_options,
    check_seed,
    format_spec,
    options_of,
    parse_spec,
)
from krypenv.agents.champion import label_of, make_champion
from krypenv.agents.neural.guided import Guided
from krypenv.agents.neural.learned import load_agent
from krypenv.agents.neural.model_file import read_card, refuse_zip, rules_in
from krypenv.agents.oracle import OracleCards, OracleDeck, OracleHand
from krypenv.agents.own import Typed, is_own, load_sb3, make_own, refuse_import, typed
from krypenv.agents.programs.llm import Llm
from krypenv.agents.programs.player import Program
from krypenv.agents.scripted import Greedy, Random, Tactician
from krypenv.agents.search.ismcts import Ismcts
from krypenv.agents.search.rollout import Rollout
from krypenv.agents.search.search import Search
from krypenv.agents.solved import StrategyPlayer, is_strategy, load_strategy
from krypenv.inputs.words import did_you_mean, shown
from krypenv.rules import Rules, RulesLike, as_rules

__all__ = [
    "Agent",
    "BaseAgent",
    "check_recorded",
    "format_spec",
    "is_known",
    "is_own",
    "label_of",
    "make",
    "make_known",
    "names",
    "parse_spec",
    "rules_for",
    "rules_of",
    "typed",
]


def __dir__() -> list[str]:
    return __all__


_AGENTS: dict[str, Callable[..., BaseAgent]] = {
    "random": Random,
    "greedy": Greedy,
    "tactician": Tactician,
    "rollout": Rollout,
    "ismcts": Ismcts,
    "search": Search,
    "learned": load_agent,
    "guided": Guided,
    "champion": make_champion,
    "oracle-cards": OracleCards,
    "oracle-hand": OracleHand,
    "oracle-deck": OracleDeck,
}

_OWN: dict[str, Callable[..., BaseAgent]] = {  # only for trusted strings
    "process": Program,
    "llm": Llm,
    "sb3": load_sb3,
}
# Options that searches had, at their only value now: protocol 1 of the score names its agents with them.
_FORMER = (
    *((name, "value", "sweep") for name in ("search", "rollout", "ismcts")),
    ("ismcts", "guided", True),
)


def names() -> list[str]:
    """List the names of the agents that need no model. (A path to a model's folder names an agent too.)"""
    return [name for name, agent in _AGENTS.items() if "model" not in options_of(agent)]


def make(spec: str, rules: RulesLike | None = None, seed: int = 0) -> BaseAgent:
    """Make the agent that a string names: a name with its options, a model's folder, or one of your own.

    The rules may be their text, or left out for those of the model's folder, or else Krypkasino's for two. All
    randomness of the agent comes from `seed`. `module:Class` is imported and called as `Class(rules, seed, **options)`,
    `process(command='...')` starts a program, `llm(model='...')` asks a language model, and `sb3(path='...')` unpickles
    a model: use `make_known` for strings
    that come from files. Raises ValueError for an unknown name or option, and for a folder, file, module, class or
    program that does not exist.

    >>> make("tactician(shed=True)", "krypkasino players=4")
    <tactician(shed=True) for krypkasino players=4>
    """
    return make_known(typed(spec), rules, seed)


def make_known(spec: str, rules: RulesLike | None = None, seed: int = 0) -> BaseAgent:
    """Make the agent that a string from a file names: as `make`, but without importing or starting anything.

    A string that `typed` has marked is trusted, as in `make`.
    """
    seed = check_seed(seed)
    if not isinstance(spec, str) or not spec.isprintable():
        raise ValueError(f"an agent is named by a printable text, as in 'greedy', not by {shown(spec)}")
    rules = rules_for([spec], rules)
    if spec not in _AGENTS and (_is_path(spec) or _is_folder(spec)):
        if not _is_folder(spec):
            refuse_zip(spec)
            raise ValueError(f"there is no model folder {shown(spec)}; the agents with a name are {', '.join(_AGENTS)}")
        return StrategyPlayer(spec, rules, seed) if is_strategy(spec) else load_agent(rules, seed, model=str(spec))
    if spec not in _AGENTS:
        refuse_zip(spec)
    name, options = parse_spec(spec)
    if is_own(name) and not isinstance(spec, Typed):
        refuse_import(spec)
    if is_own(name) and name not in _OWN:
        return make_own(name, options, rules, seed)
    makers = _AGENTS | _OWN
    if name not in makers:
        raise ValueError(
            f"unknown agent {shown(name)}{did_you_mean(name, _AGENTS)}; the agents are {', '.join(_AGENTS)}, "
            "and a path to a model's folder, module:Class, process(command='...'), llm(model='...') and "
            "sb3(path='...') are agents too"
        )
    options = {key: value for key, value in options.items() if (name, key, value) not in _FORMER}
    check_options(name, makers[name], options)
    return makers[name](rules, seed, **options)


def check_recorded(spec: str) -> None:
    """Raise ValueError for an agent that a record may not seat at a table, unless its string is trusted.

    A record may come from anybody: it seats agents of the package that need no file and decide within about a second.
    Paths are refused unread.
    """
    if isinstance(spec, Typed):
        return
    if is_own(spec):
        refuse_import(spec)
    name, options = spec, dict[str, Any]()
    with contextlib.suppress(ValueError):
        name, options = parse_spec(spec)
    if name not in names():
        raise ValueError(
            f"{shown(spec)} is named in a record, and is none of the agents that need no file"
            f"{did_you_mean(name, names())}; name it yourself, where you start this"
        )
    for key, most in RECORDED_LIMITS.items():
        if isinstance(value := options.get(key, 0), (int, float)) and value > most:
            raise ValueError(
                f"{name}({key}={shown(value)}) is named in a record, where {key} is {most} at most; name it yourself, "
                "where you start this"
            )


def is_known(spec: str) -> bool:
    """Check whether a string names an agent of the package, or a path. Options are not checked."""
    if spec in _AGENTS or _is_path(spec) or _is_folder(spec):
        return True
    try:
        return parse_spec(spec)[0] in _AGENTS
    except ValueError:
        return False


def rules_of(agent: object) -> Rules | None:
    """Find the rules of an agent: an object, or the folder of a model or a strategy; None for any other."""
    if not isinstance(agent, str):
        rules = getattr(agent, "rules", None)
        return rules if isinstance(rules, Rules) else None
    if agent in _AGENTS or not _is_folder(agent):
        return None
    return Rules.parse(load_strategy(agent)[1]["rules"]) if is_strategy(agent) else rules_in(read_card(agent))


def rules_for(players: Iterable[object], rules: RulesLike | None = None) -> Rules:
    """Choose rules: those given, as text or not, else those of the first of some agents that has any.

    If none has, they are Krypkasino's for two. Raises ValueError for text that names no rules.
    """
    if rules is not None:
        return as_rules(rules)
    return next(filter(None, map(rules_of, players)), None) or Rules.preset("krypkasino", players=2)


def _is_folder(spec: str) -> bool:
    with contextlib.suppress(ValueError):  # raised for a name that no file can have
        return os.path.isdir(spec)
    return False


def _is_path(spec: str) -> bool:
    name = spec.partition("(")[0]  # options may hold paths too
    return os.sep in name or "/" in name
