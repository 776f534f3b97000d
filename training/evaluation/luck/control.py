"""The control variate of a match: the rollouts that value a deal, and their coefficients, fitted to other games.

Coefficients come from a least-squares fit of margins by luck (`notebooks/studies/coefficients.py`), which minimizes
the variance. Rules without an entry use the default, which is fitted to the games of all others.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from krypenv.agents import Agent
from krypenv.agents.champion import shipped_model
from krypenv.agents.neural.model_file import read_card
from krypenv.inputs.files import read_json
from krypenv.inputs.words import one_line
from krypenv.rules import Rules

METHOD = 1  # the version of the measurement; a change of the rollouts or the redeals needs a new one
COEFFICIENTS = Path(__file__).with_name("coefficients.json")
CHOICES = ("auto", "on", "off")
PLAYERS = ("tactician", "network")  # the players of rollouts
REDEALS = 16


@dataclass(frozen=True)
class Control:
    """A control variate for margins: the sum of the luck of all deals, by rollouts of some players.

    >>> control_of(Rules.preset("krypkasino")).redeals
    16
    """

    shares: dict[str, float]  # the coefficient of each player's luck
    redeals: int  # for the mean value of a deal
    digest: str  # of all that determines the luck of a deal

    def __str__(self) -> str:
        """Format the control variate: "rollouts by network x 0.6, 16 redeals, abc123"."""
        players = " and ".join(f"{name} x {share:g}" for name, share in self.shares.items())
        return f"rollouts by {players}, {self.redeals} redeals, {self.digest}"


def control_of(rules: Rules, redeals: int = REDEALS, shares: dict[str, float] | None = None) -> Control:
    """Make the control variate of some rules, by default with their stored coefficients.

    The length of a session is ignored. Coefficients that are 0 are left out.
    """
    if shares is None:
        game, entries = str(dataclasses.replace(rules, games=1, threshold=None)), stored()
        shares = entries["rules"].get(game, entries["default"])["shares"]
    used = {name: shares[name] for name in PLAYERS if shares.get(name)}
    model = shipped_model(rules) if "network" in used else None
    facts = [METHOD, used, redeals, read_card(model)["weights_sha256"] if model else ""]
    return Control(used, redeals, hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12])


@cache
def stored() -> dict[str, Any]:
    """Read the stored coefficients and the facts of their fits."""
    entries: dict[str, Any] = read_json(COEFFICIENTS)
    return entries


def control_for(choice: str, agents: Iterable[Agent], rules: Rules) -> Control | None:
    """Choose the control variate of a match between some agents, or None if luck is not taken out.

    With "auto" it is taken out unless all agents are quicker than rollouts (`is_quick`). Raises ValueError for an
    unknown choice, and with "on" for an agent that sees the deck, since no deal is chance to it.
    """
    made = list(agents)
    if choice not in CHOICES:
        raise ValueError(f"luck is {', '.join(CHOICES[:-1])} or {CHOICES[-1]}, not {choice!r}")
    sees_deck = [agent for agent in made if getattr(agent, "cheats", False) and getattr(agent, "sees_deck", True)]
    if sees_deck and choice == "on":
        raise ValueError(
            f"luck can't be taken out with {one_line(sees_deck[0].name)}: it sees which cards come, so no deal is "
            "chance to it; give --luck off"
        )
    if choice == "off" or sees_deck or (choice == "auto" and all(map(is_quick, made))):
        return None
    return control_of(rules)


def is_quick(agent: Agent) -> bool:
    """Tell whether an agent declares that its decisions are quicker than rollouts; by default it is not quick."""
    return bool(getattr(agent, "is_quick", False))
