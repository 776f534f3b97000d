"""The network of learned agents in torch, for training: `krypenv.agents.neural.network` has its sizes and layers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from krypenv.agents.neural.action_features import ActionFeatures
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.network import ILLEGAL, MAIN, Arrays, Inputs, Shape, layers_of, shape_of
from krypenv.rules import Rules


class Choices(NamedTuple):
    """The legal actions of B decisions as tensors, L in all, at most K in a row; see `ActionFeatures`."""

    row: Tensor  # (L,) int64: the decision that an action belongs to
    place: Tensor  # (L,) int64: the rank of the action within its row
    actions: Tensor  # (L,) int64
    features: Tensor  # (L, W) int8

    @classmethod
    def of(cls, features: ActionFeatures, device: torch.device | str = "cpu") -> Choices:
        """Convert features to tensors."""
        counts = torch.from_numpy(features.counts)
        row = torch.repeat_interleave(counts)
        place = torch.arange(len(row)) - (torch.cumsum(counts, 0) - counts)[row]
        actions, values = torch.from_numpy(features.actions), torch.from_numpy(features.features)
        return cls(*(tensor.to(device) for tensor in (row, place, actions, values)))

    def spread(self, values: Tensor, rows: int, filling: float) -> Tensor:
        """Arrange values of the legal actions, (L,), in a row for each decision, (B, K)."""
        most = int(self.place.max()) + 1
        table = torch.full((rows, most), filling, dtype=values.dtype, device=values.device)
        return table.index_put((self.row, self.place), values)


class Scores(NamedTuple):
    """The network's outputs for B decisions with at most K legal actions each, in the order of their numbers."""

    logits: Tensor  # (B, K) float32: ILLEGAL where a row has fewer
    values: Tensor  # (B,) float32: the state values
    summary: Tensor  # (B, context + card) float32: the input of the value head


class CardNetwork(nn.Module):
    """Scores each legal action from its features (`neural.action_features`) and the context, and values the state.

    It works for any number of players, and for all rules with the same `inputs`.
    """

    base_scale: Tensor  # of the entries of an observation
    card_scale: Tensor  # of the features of an action, and of its embedding

    def __init__(self, shape: Shape | None = None, inputs: Inputs = MAIN) -> None:
        super().__init__()
        self.shape = shape = shape or Shape()
        self.inputs = inputs
        self.register_buffer("base_scale", torch.tensor(inputs.observation_scales), persistent=False)
        scales = [*inputs.feature_scales, *[1.0] * shape.embedding]
        self.register_buffer("card_scale", torch.tensor(scales), persistent=False)
        layers = layers_of(shape, inputs)
        self.read = nn.Linear(*layers["read"])
        self.context = nn.Linear(*layers["context"])
        self.kinds = nn.Embedding(*layers["kinds"])
        self.card = nn.Linear(*layers["card"])
        self.hidden = nn.Linear(*layers["hidden"])
        self.score = nn.Linear(*layers["score"])
        self.judge = nn.Linear(*layers["judge"])
        self.value = nn.Linear(*layers["value"])
        nn.init.normal_(self.kinds.weight, std=0.1)
        for layer in (self.score, self.value):
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)

    def forward(self, observations: Tensor, choices: Choices) -> Scores:
        """Score the legal actions of (B, N or more) int8 observations."""
        seen, features = observations[:, : self.inputs.observation].float(), choices.features.float()
        context = torch.relu(
            linear(seen, self.read.weight * self.base_scale, self.read.bias)
        )  # fewer scales than entries
        inputs = torch.cat([features, self.kinds(choices.actions)], 1)
        card = linear(inputs, self.card.weight * self.card_scale, self.card.bias)
        hidden = torch.relu(self.hidden(torch.relu(card + self.context(context)[choices.row])))
        logits = choices.spread(self.score(hidden).squeeze(1), len(context), ILLEGAL)
        weights = torch.softmax(logits.detach(), 1)[choices.row, choices.place]
        pooled = torch.zeros(len(context), self.shape.card, device=hidden.device)
        summary = torch.cat([context, pooled.index_add(0, choices.row, hidden * weights.unsqueeze(1))], 1)
        return Scores(logits, self.value(torch.relu(self.judge(summary))).squeeze(1), summary)

    def arrays(self) -> Arrays:
        """Convert the weights to arrays for `neural.model_file` and `neural.inference`."""
        return arrays_of(self.state_dict())

    def player(self, rules: Rules, name: str, seed: int = 0, temperature: float = 0.0) -> LearnedAgent:
        """Make an agent that plays without torch, with a copy of the weights."""
        return LearnedAgent(Weights.of(self.arrays(), self.inputs), rules, name, seed, temperature)

    @classmethod
    def of(cls, arrays: Arrays, inputs: Inputs = MAIN) -> CardNetwork:
        """Make the network of some weights, which reads these inputs."""
        network = cls(shape_of(arrays), inputs).eval()
        network.load_state_dict(tensors_of(arrays))
        return network


@contextlib.contextmanager
def torch_threads_kept() -> Iterator[None]:
    """Restore torch's number of threads at the end of the block."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def arrays_of(tensors: Mapping[str, Tensor]) -> Arrays:
    """Convert tensors to arrays."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def tensors_of(arrays: Arrays) -> dict[str, Tensor]:
    """Convert arrays to tensors that share their memory."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
