"""Players of a match: agents made of names, objects and functions, their names in files, and their weights."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from krypenv import agents
from krypenv.adapters.policy import Function, PolicyFunction
from krypenv.agents import Agent
from krypenv.agents.neural.model_file import read_card
from krypenv.inputs.words import describe_error, one_line, shown
from krypenv.rules import Rules

AgentLike: TypeAlias = Agent | str | Function  # an agent, its string, or a policy as a function


def make_player(agent: AgentLike, rules: Rules, seed: int) -> Agent:
    """Make the agent of a string or a function; an agent object is checked, and stays itself.

    Raises ValueError for what is no agent, and for one made for other rules.
    """
    if isinstance(agent, str):
        return agents.make(agent, rules, seed)
    is_agent = isinstance(agent, type) or any(hasattr(type(agent), name) for name in ("act", "act_on"))
    if callable(agent) and not is_agent:
        name = getattr(agent, "__name__", type(agent).__name__)
        return PolicyFunction(agent, rules, name if name.isidentifier() else "policy")
    player: Any = agent
    try:
        parts = (player.act_on if getattr(player, "cheats", False) else player.act), player.name, player.rules
    except BaseException as error:
        if type(error) is KeyboardInterrupt:
            raise
        raise ValueError(f"{shown(agent)} is no agent: it {describe_error(error)}") from None
    if not (callable(parts[0]) and isinstance(parts[1], str) and isinstance(parts[2], Rules)):
        act, name, its_rules = map(shown, parts)
        needs = "it has a method act, a string as name and Rules as rules"
        raise ValueError(f"{shown(agent)} is no agent: {needs}, and these are {act}, {name} and {its_rules}")
    if parts[2] != rules:
        raise ValueError(f"{one_line(parts[1])} was made for other rules: {parts[2]}, not {rules}")
    checked: Agent = player
    return checked


def make_fresh_player(source: AgentLike, rules: Rules, seed: int) -> Agent:
    """Make an agent for one chunk of deals; an agent object is copied, so that no chunk depends on earlier ones.

    A string is trusted only if it is typed. Raises ValueError as `make_player` does.
    """
    if isinstance(source, str):
        return agents.make_known(source, rules, seed)
    agent = make_player(source, rules, seed)
    try:
        return copy.deepcopy(agent)
    except Exception as error:
        name = one_line(agent.name)
        raise ValueError(f"{name} can't be copied for each chunk: copying it {describe_error(error)}") from None


def seed_of(*numbers: int) -> int:
    """Derive the seed of an agent's random choices from the numbers of its task."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def name_of(source: AgentLike, agent: Agent) -> str:
    """Name an agent made from a source in full, with its options."""
    if isinstance(source, str) and agents.is_own(source):
        return agents.format_spec(*agents.parse_spec(source))
    return agent.name


def facts_of(source: AgentLike, agent: Agent) -> dict[str, Any]:
    """Describe an agent in a header: its name in full, whether it cheats, and the weights of its models."""
    cheats = bool(getattr(agent, "cheats", False))
    return {"name": name_of(source, agent), "cheats": cheats, "weights_sha256": weights_of(source, agent)}


def weights_of(source: AgentLike, agent: Agent) -> list[str]:
    """List the SHA-256 of the weights of the models that an agent uses or its string names."""
    return [card["weights_sha256"] for card in cards_of(source, agent)]


def cards_of(source: AgentLike, agent: Agent) -> list[dict[str, Any]]:
    """Read model.json of each model that an agent uses or its string names."""
    words = list(getattr(agent, "models", ()))
    if isinstance(source, str):
        words += [source] if os.path.isdir(source) else agents.parse_spec(source)[1].values()
    cards = [Path(word) / "model.json" for word in dict.fromkeys(words) if isinstance(word, str)]
    return [read_card(card.parent) for card in cards if os.path.isfile(card)]  # an option need not name a file
