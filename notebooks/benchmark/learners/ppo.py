"""PPO by self-play as `krypenv train` does it: MaskablePPO, with a critic that sees the hidden hands."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pace import frames_within

from krypenv import Rules, agents
from krypenv.training import TrainSettings, train as train_network

DEFAULTS: dict[str, Any] = {  # tuned, and with as few measurements of the network as can be
    "learning_rate": 0.003, "curve_every": 1e9, "checkpoint_every": 1e9, "curve_deals": 2, "yardstick": "random",
    "deals": 2, "against": ("random",),
}  # fmt: skip


def train(rules: Rules, seed: int, seconds: float, **options: Any) -> Any:
    """Return the trained network; `options` are those of `krypenv train`."""

    def run(frames: int) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            settings = TrainSettings(rules=str(rules), frames=frames, seed=seed, out=str(out), **(DEFAULTS | options))
            train_network(settings, quiet=True)
            return agents.make(str(out / "model"), rules, seed)

    return run(frames_within(seconds, run))
