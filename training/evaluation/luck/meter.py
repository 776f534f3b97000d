"""Luck: how much of each side's margin the cards brought, deal by deal, while games are played.

At each deal, luck is the value of the hands dealt, less the mean value over redeals from the same cards. Whatever the
value function, this difference has expectation zero, so subtracting the sum keeps the expectation of a margin (a
control variate, as in AIVAT: Burch, Schmid, Moravcik and Bowling 2018).

The value of a deal is that of rollouts times a coefficient: fitted by least squares to margins of other games
(`notebooks/studies/coefficients.py`), which minimizes the variance. Rules without an entry use the default, which is
fitted to the games of all others.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.agents import Agent
from krypenv.agents.champion import shipped_model
from krypenv.agents.neural.inference import Weights, load_weights
from krypenv.agents.neural.model_file import read_card
from krypenv.agents.neural.playouts import NO_PATH, make_playout_scratch, play_out_network
from krypenv.agents.scripted import Style, tactical_style
from krypenv.agents.search.rollout import final_margin, play_out
from krypenv.agents.workspace import make_workspaces
from krypenv.engine import Engine
from krypenv.inputs.files import read_json
from krypenv.inputs.words import one_line
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.deals import deal, shuffle_deck, shuffle_rest, take_back
from krypenv.kernels.play import begin_game, prepare
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel
from krypenv.state import ACTIONS, DEALS, allocate, mix

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

METHOD = 1  # the version of the measurement; a change of the rollouts or the redeals needs a new one
COEFFICIENTS = Path(__file__).with_name("coefficients.json")
CHOICES = ("auto", "on", "off")
PLAYERS = ("tactician", "network")  # the players of rollouts
REDEALS = 16

Player = Callable[..., None]  # `value_by_tactician` or `value_by_network` with its first arguments
AT_ONCE = 4096  # games and redeals that are valued at once: 4 MB
DIGITS = 3  # decimals of luck: so it is the same on every machine, and short in files


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


# ---------------------------------------------------------------------- the meter


class Meter:
    """Measures luck in the games of an engine.

    Args:
        rules: the rules of the games.
        control: the players whose rollouts value a deal, with their coefficients, and the number of redeals.

    Attributes:
        parts: (B, S, V) float64, the points that the deals so far have added to each side's expected margin, by
            rollouts of each of V players; positive is good luck. The sum over sides is zero.
    """

    def __init__(self, rules: Rules, control: Control) -> None:
        self._control, self._sides = control, rules.num_teams
        self._compiled = compile_rules(rules)
        self._workspaces = make_workspaces()
        self._games = handle(allocate(max(1, AT_ONCE // (1 + control.redeals)) * (1 + control.redeals)))
        self._players = [_player(name, rules) for name in control.shares]

    @property
    def luck(self) -> FloatArray:
        """The luck of each side so far by the control variate, (B, S), in points of margin."""
        luck: FloatArray = (self.parts @ np.array([*self._control.shares.values()])).round(DIGITS)
        return luck

    def begin(self, engine: Engine, first: bool = False) -> None:
        """Begin with the games of a fresh engine, all of which are at their first deal.

        The luck of its cards counts only with `first`, since over all seatings of a deal it sums to zero.
        """
        self.parts = np.zeros((engine.num_games, self._sides, len(self._players)))
        self._number = _deals(engine)
        if first:
            self._add(engine, np.arange(engine.num_games))

    def update(self, engine: Engine, rows: IntArray) -> None:
        """Measure the luck of the games, among (M,) rows, in which the last step began a new deal."""
        number = _deals(engine)
        self._add(engine, rows[number[rows] != self._number[rows]])
        self._number[rows] = number[rows]

    def _add(self, engine: Engine, rows: IntArray) -> None:
        size = 1 + self._control.redeals
        for start in range(0, len(rows), len(self._games) // size):
            batch = rows[start : start + len(self._games) // size]
            games, values = self._games[: len(batch) * size], np.empty((len(batch), size, self._sides))
            for at, player in enumerate(self._players):
                write_redeals(self._compiled, engine._state, batch, size - 1, games, self._workspaces)
                player(self._compiled, games, self._workspaces, values.reshape(-1, self._sides))
                self.parts[batch, :, at] += values[:, 0] - values[:, 1:].mean(axis=1)


def _player(name: str, rules: Rules) -> Player:
    if name == "tactician":
        return partial(value_by_tactician, tactical_style(rules))
    weights = load_weights(str(shipped_model(rules)), rules)[0]
    return partial(value_by_network, weights, make_playout_scratch())


def _deals(engine: Engine) -> IntArray:
    """Number the current deal of each game, uniquely in its session, (B,)."""
    number: IntArray = engine.state.game_number.astype(np.int64) << 16 | engine.state.deal_number
    return number


# ---------------------------------------------------------------------- kernels


@kernel
def redeal(compiled: np.record, game: np.record, seed: np.uint64, scratch: np.record) -> None:
    """Redeal the current deal of a game, before any play of it, from the cards not dealt before it.

    All orders of these cards are equally likely, as they were when the game was shuffled (R4).
    """
    game.rng[DEALS] = mix(seed)
    if game.deal_number == 1:
        shuffle_deck(compiled, game)
        begin_game(compiled, game, scratch)
        return
    take_back(compiled, game)
    shuffle_rest(game, np.int64(game.next_card), compiled.deck_size)
    deal(compiled, game)
    prepare(compiled, game, scratch)


@kernel
def write_redeals(
    compiled: np.ndarray, state: np.ndarray, rows: np.ndarray, redeals: int, out: np.ndarray, workspaces: np.ndarray
) -> None:
    """Write some games that have just been dealt, and `redeals` of each, into `out`, (M * (1 + redeals),) of `GAME`.

    `rows` is (M,). A game is followed by its redeals. They follow from the game's own stream of deals, so all
    seatings of a deal have the same ones.
    """
    size = 1 + redeals
    for at in range(len(rows)):
        for number in range(size):
            game = out[at * size + number]
            out[at * size + number] = state[rows[at]]
            seed = mix(game.rng[DEALS] + np.uint64(game.deal_number * size + number))
            if number > 0:
                redeal(compiled[0], game, seed, workspaces[0].listing.scratch)
            game.rng[ACTIONS] = mix(~seed)


@kernel
def value_by_tactician(
    style: Style, compiled: np.ndarray, games: np.ndarray, workspaces: np.ndarray, out: np.ndarray
) -> None:
    """Play N games to the end of their deal with a scripted player; write all sides' values into `out`, (N, S)."""
    for row in range(len(games)):
        play_out(compiled[0], games[row], games[row].deal_number, style, 0, workspaces[0])
        _write_margins(compiled[0], games[row], out[row])


@kernel
def value_by_network(
    weights: Weights, playouts: np.ndarray, compiled: np.ndarray, games: np.ndarray, workspaces: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Play N games to the end of their deal with a network in every seat; write all sides' values into `out`."""
    for row in range(len(games)):
        last_deal = games[row].deal_number
        play_out_network(compiled[0], weights, games[row], last_deal, NO_PATH, playouts[0])
        _write_margins(compiled[0], games[row], out[row])


@kernel
def _write_margins(compiled: np.record, game: np.record, out: np.ndarray) -> None:
    for side in range(compiled.teams):
        out[side] = final_margin(compiled, game, side)
