"""How many decisions fit into a budget, for trainings whose schedules need to know their length."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from encoding import ask, best, softmax

SHORTEST = 4_096  # decisions by which the speed is measured at first
LONG_ENOUGH = 3.0  # seconds of processor time


def frames_within(seconds: float, run: Callable[[int], Any]) -> int:
    """Count the decisions that a training makes in so many seconds of processor time, by short trainings."""
    torch.set_num_threads(1)
    run(1)  # compiles
    frames, spent = SHORTEST // 2, 0.0
    while spent < min(LONG_ENOUGH, seconds):
        frames *= 2
        begun = time.process_time()
        run(frames)
        spent = time.process_time() - begun
    return max(1, int(frames * seconds / spent))


def policy_of(network: Any, is_greedy: bool = False) -> Callable[[Any, Any], Any]:
    """Make a policy of a network whose first output are logits or values of all actions, (B, A)."""
    shape = best if is_greedy else softmax
    return lambda observations, masks: shape(ask(lambda rows: network(rows)[0], observations), masks)
