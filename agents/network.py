"""The network of learned agents: one small scorer shared by all cards, and a context that all cards see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from krypenv.cards import NUM_ACTIONS, NUM_KINDS, TAKE
from krypenv.features import COLUMNS, WIDTH
from krypenv.observation import LAYOUT, SIZE

_SCALES = {  # what an entry is divided by, so that inputs are of the order of one
    "points": 10.0, "sweeps": 3.0, "hand_size": 4.0, "session_total": 30.0, "deals_left": 6.0, "games_left": 6.0,
}  # fmt: skip
_FEATURE_SCALES = {"least_points": 3.0, "points": 3.0, "chance": 50.0, "sweepers": 4.0}


@dataclass(frozen=True)
class Shape:
    """The sizes of a network."""

    context: int = 128  # units of the layer that reads the whole observation
    card: int = 64  # units of the two layers that score a card
    embedding: int = 8  # entries learned for each action


class Scores(NamedTuple):
    """What the network says of B decisions with at most K legal actions each."""

    actions: Tensor  # (B, K) int64: the legal actions; rows with fewer are filled up with others
    logits: Tensor  # (B, K) float32: -1e9 at the filling
    values: Tensor  # (B,) float32: the expected return


class CardNetwork(nn.Module):
    """Scores each legal action from what it does (`krypenv.features`), its card, and the context; and the position.

    It works for any number of players and any rules, for the observation has one layout.
    """

    feature_scale: Tensor
    base_scale: Tensor

    def __init__(self, shape: Shape | None = None) -> None:
        super().__init__()
        self.shape = shape = shape or Shape()
        base_scale = torch.full((SIZE,), 0.5)
        for name, scale in _SCALES.items():
            base_scale[LAYOUT[name]] = 1 / scale
        feature_scale = torch.ones(WIDTH)
        for name, scale in _FEATURE_SCALES.items():
            feature_scale[COLUMNS[name]] = 1 / scale
        self.register_buffer("base_scale", base_scale, persistent=False)
        self.register_buffer("feature_scale", feature_scale, persistent=False)
        self.read = nn.Linear(SIZE, shape.context)
        self.context = nn.Linear(shape.context, shape.card)
        self.kinds = nn.Embedding(NUM_ACTIONS, shape.embedding)
        self.card = nn.Linear(WIDTH + 2 + shape.embedding, shape.card)
        self.hidden = nn.Linear(shape.card, shape.card)
        self.score = nn.Linear(shape.card, 1)
        self.judge = nn.Linear(shape.context, shape.card)
        self.value = nn.Linear(shape.card, 1)
        nn.init.normal_(self.kinds.weight, std=0.1)
        for layer in (self.score, self.value):
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)

    def forward(self, observations: Tensor, masks: Tensor) -> Scores:
        """Score (B, 1369) int8 observations with features, under (B, 105) masks."""
        context = self._read(observations)
        legal = masks.to(torch.float32)
        most = max(int(legal.sum(1).max()), 1)
        chosen = legal.topk(most, dim=1, sorted=False)
        actions = chosen.indices
        kinds = actions % TAKE
        blocks = observations[:, SIZE:].reshape(-1, NUM_KINDS, WIDTH)
        facts = blocks.gather(1, kinds.unsqueeze(2).expand(-1, -1, WIDTH)).to(torch.float32) * self.feature_scale
        held = observations[:, LAYOUT["hand"]].gather(1, kinds).to(torch.float32)
        seen = observations[:, LAYOUT["seen"]].gather(1, kinds).to(torch.float32)
        card = torch.cat([facts, held.unsqueeze(2), seen.unsqueeze(2), self.kinds(actions)], 2)
        hidden = torch.relu(self.card(card) + self.context(context).unsqueeze(1))
        logits = self.score(torch.relu(self.hidden(hidden))).squeeze(2)
        return Scores(actions, logits.masked_fill(chosen.values < 0.5, -1e9), self._judge(context))

    def values(self, observations: Tensor) -> Tensor:
        """Return the expected returns alone, (B,) float32."""
        return self._judge(self._read(observations))

    def _read(self, observations: Tensor) -> Tensor:
        return torch.relu(self.read(observations[:, :SIZE].to(torch.float32) * self.base_scale))

    def _judge(self, context: Tensor) -> Tensor:
        return self.value(torch.relu(self.judge(context))).squeeze(1)
