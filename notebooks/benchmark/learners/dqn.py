"""Independent DQN of OpenSpiel in PyTorch (Mnih et al. 2015); in self-play it need not converge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encoding import Encoder, ask, best, play
from open_spiel.python.pytorch.dqn import DQN

from krypenv import Rules


def train(
    rules: Rules, seed: int, seconds: float, rate: float = 1e-3, units: int = 128, every: int = 8
) -> Iterator[Any]:
    """Yield the greedy policy after each few games; a minibatch is learned every `every` decisions."""
    encode = Encoder(rules)

    def make(player: int, size: int, actions: int, seed: int) -> DQN:
        return DQN(
            player, size, actions, (units, units), learning_rate=rate, learn_every=every, seed=seed, batch_size=128,
            optimizer_str="adam", replay_buffer_capacity=100_000, update_target_network_every=500,
            epsilon_decay_duration=50_000, epsilon_start=1.0, epsilon_end=0.02,
            epsilon_decay_schedule_str="linear",
        )  # fmt: skip

    for agent in play(rules, seed, make):
        yield lambda rows, masks, network=agent._q_network: best(ask(network, encode(rows)), masks)
