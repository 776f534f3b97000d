"""The network of learned agents: one small scorer shared by all actions, and a context that all of them see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from krypenv.agents.facts import COLUMNS, WIDTH, Facts
from krypenv.cards import NUM_ACTIONS
from krypenv.observation import LAYOUT, SIZE

_SCALES = {  # what an entry is divided by, so that inputs are of the order of one
    "points": 10.0, "sweeps": 3.0, "hand_size": 4.0, "session_total": 30.0, "deals_left": 6.0, "games_left": 6.0,
}  # fmt: skip
_FACT_SCALES = {
    "least_points": 3.0, "points": 3.0, "chance": 50.0, "sweepers": 4.0, "left": 2.0, "takers": 4.0, "price": 3.0,
    "taker_chance": 50.0, "risk_chance": 50.0,
}  # fmt: skip
ILLEGAL = -(2.0**100)  # the logit of a place without an action: beyond what any network comes to


@dataclass(frozen=True)
class Shape:
    """The sizes of a network."""

    context: int = 128  # units of the layer that reads the whole observation
    card: int = 64  # units of the two layers that score an action
    embedding: int = 8  # entries learned for each action


class Choices(NamedTuple):
    """The legal actions of B decisions as tensors, L in all, at most K in a row; see `krypenv.agents.facts.Facts`."""

    row: Tensor  # (L,) int64: the decision that an action belongs to
    place: Tensor  # (L,) int64: which of its actions it is
    actions: Tensor  # (L,) int64
    facts: Tensor  # (L, WIDTH) int8

    @classmethod
    def of(cls, facts: Facts, device: torch.device | str = "cpu") -> Choices:
        """Return facts as tensors."""
        counts = torch.from_numpy(facts.counts)
        row = torch.repeat_interleave(counts)
        place = torch.arange(len(row)) - (torch.cumsum(counts, 0) - counts)[row]
        actions, values = torch.from_numpy(facts.actions), torch.from_numpy(facts.facts)
        return cls(*(each.to(device) for each in (row, place, actions, values)))

    def spread(self, values: Tensor, rows: int, filling: float) -> Tensor:
        """Return values of the legal actions, (L,), as a row for each decision, (B, K)."""
        most = int(self.place.max()) + 1
        table = torch.full((rows, most), filling, dtype=values.dtype, device=values.device)
        return table.index_put((self.row, self.place), values)


class Scores(NamedTuple):
    """What the network says of B decisions with at most K legal actions each, in the order of their numbers."""

    logits: Tensor  # (B, K) float32: ILLEGAL where a row has fewer
    values: Tensor  # (B,) float32: the expected return
    summary: Tensor  # (B, context + card) float32: what the value is judged from


class CardNetwork(nn.Module):
    """Scores each legal action from what is known of it (`krypenv.agents.facts`) and the context; and the position.

    It works for any number of players and any rules, for the observation has one layout.
    """

    fact_scale: Tensor
    base_scale: Tensor

    def __init__(self, shape: Shape | None = None) -> None:
        super().__init__()
        self.shape = shape = shape or Shape()
        base_scale = torch.full((SIZE,), 0.5)
        for name, scale in _SCALES.items():
            base_scale[LAYOUT[name]] = 1 / scale
        fact_scale = torch.ones(WIDTH)
        for name, scale in _FACT_SCALES.items():
            fact_scale[COLUMNS[name]] = 1 / scale
        self.register_buffer("base_scale", base_scale, persistent=False)
        self.register_buffer("fact_scale", fact_scale, persistent=False)
        self.read = nn.Linear(SIZE, shape.context)
        self.context = nn.Linear(shape.context, shape.card)
        self.kinds = nn.Embedding(NUM_ACTIONS, shape.embedding)
        self.card = nn.Linear(WIDTH + shape.embedding, shape.card)
        self.hidden = nn.Linear(shape.card, shape.card)
        self.score = nn.Linear(shape.card, 1)
        self.judge = nn.Linear(shape.context + shape.card, shape.card)
        self.value = nn.Linear(shape.card, 1)
        nn.init.normal_(self.kinds.weight, std=0.1)
        for layer in (self.score, self.value):
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)

    def forward(self, observations: Tensor, choices: Choices) -> Scores:
        """Score the legal actions of (B, N >= 433) int8 observations."""
        context = torch.relu(self.read(observations[:, :SIZE].to(torch.float32) * self.base_scale))
        facts = choices.facts.to(torch.float32) * self.fact_scale
        card = self.card(torch.cat([facts, self.kinds(choices.actions)], 1))
        hidden = torch.relu(self.hidden(torch.relu(card + self.context(context)[choices.row])))
        logits = choices.spread(self.score(hidden).squeeze(1), len(context), ILLEGAL)
        weights = torch.softmax(logits.detach(), 1)[choices.row, choices.place]
        pooled = torch.zeros(len(context), self.shape.card, device=hidden.device)
        summary = torch.cat([context, pooled.index_add(0, choices.row, hidden * weights.unsqueeze(1))], 1)
        return Scores(logits, self.value(torch.relu(self.judge(summary))).squeeze(1), summary)
