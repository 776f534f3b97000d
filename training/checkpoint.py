"""Checkpoints: all that a run needs to go on, in one safetensors file, written whole or not at all. No pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from krypenv.agents.network import CardNetwork
from krypenv.files import write_whole
from krypenv.training.ppo import SelfPlayPPO

CHECKPOINT = "checkpoint.safetensors"
FORMAT = "2"


def save_checkpoint(folder: Path, model: SelfPlayPPO, snapshots: list[CardNetwork], progress: dict[str, Any]) -> None:
    """Write weights, optimizer, games, snapshots and the plain values of `progress`."""
    tensors: dict[str, Tensor] = {f"policy.{name}": value for name, value in model.policy.state_dict().items()}
    for place, snapshot in enumerate(snapshots):
        tensors |= {f"snapshot.{place}.{name}": value for name, value in snapshot.state_dict().items()}
    for index, state in model.policy.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in state.items()}
    for place, part in enumerate(model.parts):
        arrays = {**part.save(), "rival_earned": model.rival_earned[place]}
        tensors |= {f"games.{place}.{name}": _tensor(array) for name, array in arrays.items()}
    tensors["rival_returns"] = torch.tensor(list(model.rival_returns), dtype=torch.float64)
    data = safetensors.torch.save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        metadata={"format": FORMAT, "snapshots": str(len(snapshots)), "progress": json.dumps(progress)},
    )
    write_whole(folder / CHECKPOINT, data)


def _tensor(array: np.ndarray) -> Tensor:
    """Return an array as a tensor; unsigned words as signed ones with the same bits."""
    return torch.from_numpy((array.view(np.int64) if array.dtype == np.uint64 else array).copy())


def read_progress(folder: Path) -> dict[str, Any]:
    """Return the plain values of a run's checkpoint; ValueError where there is none or it can't be read."""
    return dict(json.loads(_read(folder)[1]["progress"]))


def _read(folder: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    path = folder / CHECKPOINT
    if not path.is_file():
        raise ValueError(f"there is no run to go on with in {folder}: {CHECKPOINT} is missing")
    data = path.read_bytes()  # at once: a run may be writing the next one
    try:
        tensors = safetensors.torch.load(data)
    except SafetensorError:
        raise ValueError(f"{path} is torn or not a checkpoint") from None
    facts = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")]).get("__metadata__", {})
    if facts.get("format") != FORMAT:
        raise ValueError(f"{path} is a checkpoint of format {facts.get('format')}; this version reads format {FORMAT}")
    return tensors, facts


def load_checkpoint(folder: Path, model: SelfPlayPPO) -> list[CardNetwork]:
    """Put a run's checkpoint into a fresh model of the same settings and return the snapshots.

    What only exists once the rivals are known, `load_games` puts back after that.
    """
    tensors, facts = _read(folder)
    model.policy.load_state_dict(_part(tensors, "policy."))
    optimizer = model.policy.optimizer.state_dict()
    optimizer["state"] = {
        index: _part(tensors, f"optimizer.{index}.")
        for index in optimizer["param_groups"][0]["params"]
        if _part(tensors, f"optimizer.{index}.")
    }
    model.policy.optimizer.load_state_dict(optimizer)
    snapshots = []
    for place in range(int(facts["snapshots"])):
        snapshot = CardNetwork(model.network.shape).eval()
        snapshot.load_state_dict(_part(tensors, f"snapshot.{place}."))
        snapshots.append(snapshot)
    return snapshots


def load_games(folder: Path, model: SelfPlayPPO) -> None:
    """Put the games under way into a model that knows its rivals already."""
    tensors, _ = _read(folder)
    for place, part in enumerate(model.parts):
        arrays = {name: tensor.numpy() for name, tensor in _part(tensors, f"games.{place}.").items()}
        model.rival_earned[place][:] = arrays.pop("rival_earned")
        part.load(arrays)
    model.rival_returns.extend(tensors["rival_returns"].tolist())


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
