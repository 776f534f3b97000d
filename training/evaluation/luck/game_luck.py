"""Luck in one game: each side's luck, deal by deal, as figures and as a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from krypenv.cards import NO_CARD
from krypenv.engine import Engine
from krypenv.game.game import Game
from krypenv.rewards import seat_margins
from krypenv.state import DEALS, allocate
from krypenv.training.evaluation.luck.meter import Meter, control_of
from krypenv.training.evaluation.matches.margins import FloatArray
from krypenv.ui.narrator.luck import tell_luck

REDEALS = 200  # for the mean value of a deal: many, as a single game takes little time


@dataclass(frozen=True, eq=False)
class GameLuck:
    """The margins of a game's D deals, those dealt and finished in its record, and the luck in them; S sides.

    A margin is a side's lead over the mean of the other sides. The rest is play: how all seats played the cards dealt,
    with skill and with chance, as hands are hidden.
    """

    deals: tuple[int, ...]  # (D,) the number of each deal in the game, 1 for the first
    margins: FloatArray  # (D, S) points by which each deal changed the margin
    luck: FloatArray  # (D, S) points of that change due to the cards dealt
    is_over: bool
    control: str  # the rollouts that valued the deals, and their coefficients

    @property
    def is_whole(self) -> bool:
        """Whether these are all deals of a game that is over."""
        return self.is_over and self.deals[:1] == (1,)

    def tell(self, side: int, name: str = "You", whom: str = "you", language: str = "en") -> str:
        """Write a sentence on a side's margin and luck (`tell_luck`).

        Raises ValueError without deals.
        """
        if not self.deals:
            raise ValueError("no deal was dealt and finished in this game, so there is no luck to tell")
        sums = float(self.margins[:, side].sum()), float(self.luck[:, side].sum())
        sentence = tell_luck(*sums, name, whom, self.margins.shape[1], self.is_over, language)
        first, last = self.deals[0], self.deals[-1]
        if first > 1:
            when = f"From deal {first} on" if self.is_over else f"From deal {first} to deal {last}"
        else:
            when = "" if self.is_over else f"After deal {last}"
        return f"{when}, {sentence[0].lower()}{sentence[1:]}" if when else sentence

    def to_json(self) -> dict[str, Any]:
        """Convert the figures to plain JSON values."""
        rows = zip(self.deals, self.margins.tolist(), self.luck.tolist(), strict=True)
        return {
            "control": self.control,
            "deals": [{"deal": deal, "margins": margins, "luck": luck} for deal, margins, luck in rows],
        }


def luck_of_game(game: Game, redeals: int = REDEALS) -> GameLuck:
    """Measure the margin of each deal of a game and the luck in it; a deal that has not ended is left out.

    The luck of a deal is the value of the hands dealt, less the mean value over redeals. Values are rollouts, weighted
    by the coefficients stored for the rules (`control_of`). These are below 1: a rollout exaggerates the value of a
    deal between better players, and the weighted value is the best linear estimate of luck.

    A game from a position begins in the middle of a deal, which is left out too. The same game gives the same figures,
    whether its record has a seed or only a deck.
    """
    rules, twin = game.rules, game.rewound()
    starts, scores = [twin.state.copy()], [twin.scores()]  # at the beginning of each deal
    was_dealt = game.origin is None and starts[0]["deal_number"] == 1 and starts[0]["last_card"] == NO_CARD
    for action in game.actions:
        number = twin.deal_number
        twin.act(action)
        if twin.is_over or twin.deal_number != number:
            starts.append(twin.state.copy())
            scores.append(twin.scores())
    skipped = 0 if was_dealt else 1
    margins = np.diff(seat_margins(rules, scores)[:, : rules.num_teams], axis=0)[skipped:]
    starts = starts[skipped:-1]
    control = control_of(rules, redeals)
    luck = np.zeros_like(margins)
    if starts:
        state = allocate(len(starts))
        state[:] = np.array(starts, state.dtype)
        state.rng[:, DEALS] = 0  # random in a record without a seed
        meter = Meter(rules, control)
        meter.begin(Engine.from_state(rules, state, check=False), first=True)
        luck = meter.luck
    return GameLuck(tuple(int(row["deal_number"]) for row in starts), margins, luck, game.is_over, str(control))
