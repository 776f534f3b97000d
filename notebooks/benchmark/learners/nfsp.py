"""Neural fictitious self-play of OpenSpiel in PyTorch (Heinrich and Silver 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encoding import Encoder, ask, play, softmax
from open_spiel.python.pytorch.nfsp import NFSP

from krypenv import Rules


def train(
    rules: Rules, seed: int, seconds: float, rate: float = 1e-3, units: int = 128, every: int = 32, share: float = 0.1
) -> Iterator[Any]:
    """Yield the average policy after each few games; `share` of the games are played by the best response."""
    encode = Encoder(rules)

    def make(player: int, size: int, actions: int, seed: int) -> NFSP:
        return NFSP(
            player, size, actions, (units, units), 500_000, anticipatory_param=share, rl_learning_rate=rate,
            sl_learning_rate=rate, learn_every=every, seed=seed, batch_size=128, optimizer_str="adam",
            replay_buffer_capacity=100_000, update_target_network_every=500, epsilon_decay_duration=50_000,
            epsilon_start=0.06, epsilon_end=0.01,
            epsilon_decay_schedule_str="linear",
        )  # fmt: skip

    for agent in play(rules, seed, make):
        yield lambda rows, masks, network=agent._avg_network: softmax(ask(network, encode(rows)), masks)
