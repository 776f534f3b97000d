"""Luck in one game: what the cards brought each side, deal by deal, as figures and as a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import NO_CARD
from krypenv.engine import Engine
from krypenv.game.game import Game
from krypenv.kernels.scoring import leads, side_scores
from krypenv.state import DEALS, allocate
from krypenv.training.evaluation.luck.control import control_of
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.ui.narrator.luck import tell_luck

FloatArray = npt.NDArray[np.float64]

REDEALS = 200  # for the mean value of a deal: many, as a single game takes little time


@dataclass(frozen=True, eq=False)
class GameLuck:
    """The margins of a game's deals, and the luck in them: of D deals, those dealt and finished in its record; S sides.

    A margin is a side's lead over the mean of the other sides. What is not luck is play: how all seats played the cards
    that came, with skill and with chance, as hands are hidden.
    """

    deals: tuple[int, ...]  # (D,) the number of each deal in the game, 1 for the first
    margins: FloatArray  # (D, S) points by which each deal changed the margin
    luck: FloatArray  # (D, S) points of it that the cards brought
    is_over: bool
    control: str  # the rollouts that valued the deals, and their coefficients

    @property
    def play(self) -> FloatArray:
        """The rest of each margin, (D, S): luck + play = margin."""
        return self.margins - self.luck

    @property
    def is_whole(self) -> bool:
        """Whether these are all deals of a game that is over."""
        return self.is_over and self.deals[:1] == (1,)

    def tell(self, side: int, name: str = "You", whom: str = "you", language: str = "en") -> str:
        """Return how a side came off and what the cards brought it, in a sentence (`tell_luck`).

        Raises ValueError without deals.
        """
        if not self.deals:
            raise ValueError("no deal was dealt and finished in this game, so there is no luck to tell")
        sums = float(self.margins[:, side].sum()), float(self.luck[:, side].sum())
        told = tell_luck(*sums, name, whom, self.margins.shape[1], self.is_over, language)
        first, last = self.deals[0], self.deals[-1]
        if first > 1:
            when = f"From deal {first} on" if self.is_over else f"From deal {first} to deal {last}"
        else:
            when = "" if self.is_over else f"After deal {last}"
        return f"{when}, {told[0].lower()}{told[1:]}" if when else told

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        rows = zip(self.deals, self.margins.tolist(), self.luck.tolist(), strict=True)
        return {
            "control": self.control,
            "deals": [{"deal": deal, "margins": margins, "luck": luck} for deal, margins, luck in rows],
        }


def luck_of_game(game: Game, redeals: int = REDEALS) -> GameLuck:
    """Return the margin of each deal of a game and the luck in it; a deal that has not ended is left out.

    The luck of a deal is the value of the hands that came, less the mean value over hands dealt anew. Values are
    rollouts, weighted by the coefficients that are stored for the rules (`control_of`). These are below 1: a rollout
    exaggerates what a deal is worth between better players, and the weighted value is the best linear estimate of what
    the cards brought.

    A game from a position begins in the middle of a deal, which is left out too. The same game gives the same figures,
    whether its record has a seed or only a deck.
    """
    rules, twin = game.rules, game.rewound()
    begun, scores = [twin.state.copy()], [twin.scores()]  # at the beginning of each deal
    was_dealt = game.origin is None and begun[0]["deal_number"] == 1 and begun[0]["last_card"] == NO_CARD
    for action in game.actions:
        number = twin.deal_number
        twin.act(action)
        if twin.is_over or twin.deal_number != number:
            begun.append(twin.state.copy())
            scores.append(twin.scores())
    skipped = 0 if was_dealt else 1
    own = side_scores(rules, scores)[:, : rules.num_teams]
    others = (own.sum(axis=1, keepdims=True) - own) / (rules.num_teams - 1)
    begun, gained = begun[skipped:-1], np.diff(leads(rules, own, others), axis=0)[skipped:]
    control = control_of(rules, redeals)
    luck = np.zeros_like(gained)
    if begun:
        state = allocate(len(begun))
        state[:] = np.array(begun, state.dtype)
        state.rng[:, DEALS] = 0  # what a record without a seed has is drawn at random
        meter = Meter(rules, control)
        meter.begin(Engine.from_state(rules, state, check=False), first=True)
        luck = meter.luck
    return GameLuck(tuple(int(row["deal_number"]) for row in begun), gained, luck, game.is_over, str(control))
