"""Checkpoints of a run: weights, optimizer, games, snapshots and progress, from which it resumes bit by bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from krypenv.agents.neural.network import Arrays
from krypenv.inputs.artifacts import read_artifact, write_artifact
from krypenv.training.learn.learner.ppo import SelfPlayPPO
from krypenv.training.learn.learner.torch_network import CardNetwork, arrays_of, tensors_of
from krypenv.training.learn.selfplay.settings import Settings

CHECKPOINT = "checkpoint.safetensors"
KIND, VERSION = "checkpoint", 4


class Kept(NamedTuple):
    """What a checkpoint holds."""

    settings: Settings
    progress: dict[str, Any]  # the plain values
    arrays: Arrays


def save_checkpoint(folder: Path, model: SelfPlayPPO, snapshots: list[CardNetwork], progress: dict[str, Any]) -> None:
    """Write weights, optimizer, games, snapshots and the plain values of `progress`."""
    arrays = {f"policy.{name}": array for name, array in arrays_of(model.policy.state_dict()).items()}
    for place, snapshot in enumerate(snapshots):
        arrays |= {f"snapshot.{place}.{name}": array for name, array in snapshot.arrays().items()}
    for index, state in model.policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{index}.{name}": array for name, array in arrays_of(state).items()}
    for place, part in enumerate(model.parts):
        games = {**part.save(), "opponent_earned": model.opponent_earned[place]}
        arrays |= {f"games.{place}.{name}": array for name, array in games.items()}
    arrays["opponent_returns"] = np.array(model.opponent_returns, np.float64)
    write_artifact(folder / CHECKPOINT, KIND, VERSION, arrays, {"progress": progress})


def read_checkpoint(folder: Path) -> Kept:
    """Return a run's checkpoint; raises ValueError if there is none, or it is torn, changed or of another version."""
    path = folder / CHECKPOINT
    if not path.is_file():
        raise ValueError(f"there is no run to resume in {folder}: {CHECKPOINT} is missing")
    arrays, about = read_artifact(path, KIND, VERSION)
    return Kept(Settings.from_json(about["progress"]["settings"]), about["progress"], arrays)


def load_checkpoint(kept: Kept, model: SelfPlayPPO) -> dict[str, CardNetwork]:
    """Load a checkpoint into a fresh model of the same settings and return the snapshots by their names.

    The games need the opponents: call `load_games` once these are set.
    """
    model.policy.load_state_dict(tensors_of(part_of(kept.arrays, "policy.")))
    optimizer = model.policy.optimizer.state_dict()
    optimizer["state"] = {
        index: state
        for index in optimizer["param_groups"][0]["params"]
        if (state := tensors_of(part_of(kept.arrays, f"optimizer.{index}.")))
    }
    model.policy.optimizer.load_state_dict(optimizer)
    snapshots = {}
    for place, name in enumerate(kept.progress["snapshots"]):
        snapshots[name] = CardNetwork.of(part_of(kept.arrays, f"snapshot.{place}."), model.network.inputs)
    return snapshots


def load_games(kept: Kept, model: SelfPlayPPO) -> None:
    """Load the games under way into a model whose opponents are set."""
    for place, part in enumerate(model.parts):
        arrays = part_of(kept.arrays, f"games.{place}.")
        model.opponent_earned[place][:] = arrays.pop("opponent_earned")
        part.load(arrays)
    model.opponent_returns.extend(kept.arrays["opponent_returns"].tolist())


def part_of(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
