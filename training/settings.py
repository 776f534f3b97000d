"""The settings of a training run: one dataclass, which is also the command line of `krypenv train`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from krypenv.rewards import check_reward
from krypenv.rules import Rules


def _setting(default: Any, text: str) -> Any:
    return dataclasses.field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Settings:
    """All that decides a training run. A new one checks itself and raises ValueError with the reason."""

    rules: str = _setting("krypkasino", "preset of the rules")
    players: int | None = _setting(None, "number of players [default: 2]")
    teams: int | None = _setting(None, "number of teams [default: everyone alone]")
    rule: tuple[str, ...] = _setting((), "a field of the rules to change, as in forced_sweep=False")
    out: str = _setting("", "folder of the run; it must not exist yet [default: runs/ and the time]")
    resume: str = _setting("", "folder of a run to go on with, with its own settings")
    minutes: float = _setting(2.0, "length of the training, with the evaluations on the way")
    frames: int = _setting(
        0, "length in decisions of the learner instead of minutes, so that the result does not depend on the machine"
    )
    seed: int = _setting(0, "seed of deals, weights and batches")
    device: str = _setting("auto", "cpu, cuda, or auto: a GPU where there is one")
    threads: int = _setting(1, "threads of torch; one is fastest for this network")
    rows: int = _setting(384, "games at once in which all seats learn")
    rival_rows: int = _setting(128, "games at once in which one seat learns and rivals play the others")
    rivals: tuple[str, ...] = _setting(("tactician",), "scripted agents among the rivals")
    scripted_share: float = _setting(0.5, "how often a rival is scripted; else it is a snapshot")
    snapshots: int = _setting(6, "past versions of the learner that are kept as rivals")
    snapshot_every: float = _setting(0.1, "part of the run between snapshots")
    steps: int = _setting(32, "decisions of each row between updates")
    batch: int = _setting(4096, "decisions in a minibatch")
    epochs: int = _setting(3, "passes over the decisions in an update")
    learning_rate: float = _setting(2e-3, "of Adam at the start; it falls linearly to a twentieth")
    discount: float = _setting(0.95, "of rewards, per decision of a seat")
    gae_lambda: float = _setting(0.9, "of generalized advantage estimation")
    clip: float = _setting(0.2, "range of PPO's probability ratios")
    entropy: float = _setting(0.01, "weight of the entropy bonus")
    value_weight: float = _setting(0.5, "weight of the value loss")
    reward: str = _setting("centred", "centred, points or win")
    dense: bool = _setting(True, "pay rewards as points fall, not at the end of the game")
    context: int = _setting(128, "units of the network's layer that reads the whole observation")
    card: int = _setting(64, "units of the network's layers that score a card")
    embedding: int = _setting(8, "entries that the network learns for each action")
    checkpoint_every: float = _setting(15.0, "seconds between checkpoints")
    curve_every: float = _setting(15.0, "seconds between points of the learning curve")
    curve_deals: int = _setting(200, "duplicate deals for a point of the learning curve")
    deals: int = _setting(1000, "duplicate deals of the evaluation at the end")
    against: tuple[str, ...] = _setting(("random", "greedy", "tactician"), "opponents in the evaluations")

    def __post_init__(self) -> None:
        for name in (
            "steps",
            "batch",
            "epochs",
            "context",
            "card",
            "embedding",
            "threads",
            "deals",
            "curve_deals",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1, not {getattr(self, name)}")
        for name in ("minutes", "learning_rate", "checkpoint_every", "curve_every", "snapshot_every"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is above 0, not {getattr(self, name)}")
        for name in ("frames", "seed", "rows", "rival_rows", "snapshots", "entropy", "value_weight"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is at least 0, not {getattr(self, name)}")
        for name in ("discount", "gae_lambda", "scripted_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is from 0 to 1, not {getattr(self, name)}")
        if self.rows + self.rival_rows == 0:
            raise ValueError("rows and rival_rows are not both 0")
        if not self.against:
            raise ValueError("against names at least one opponent for the evaluations")
        if self.device not in ("auto", "cpu", "cuda"):
            raise ValueError(f"device is auto, cpu or cuda, not {self.device!r}")
        check_reward(self.reward)
        self.game_rules()

    def game_rules(self) -> Rules:
        """Return the rules that the run is about."""
        words = [f"{name}={getattr(self, name)}" for name in ("players", "teams") if getattr(self, name) is not None]
        return Rules.parse(" ".join([self.rules, *words, *(word.replace(" ", "") for word in self.rule)]))

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Settings:
        """Return settings from the plain values of `dataclasses.asdict`."""
        values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
        return cls(**values)
