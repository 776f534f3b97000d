"""Checkpoints: all that a run needs to go on, in one safetensors file, written whole or not at all. No pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open

from krypenv.agents.network import CardNetwork
from krypenv.files import write_whole
from krypenv.training.ppo import SelfPlayPPO

CHECKPOINT = "checkpoint.safetensors"
FORMAT = "1"


def save_checkpoint(folder: Path, model: SelfPlayPPO, snapshots: list[CardNetwork], progress: dict[str, Any]) -> None:
    """Write weights, optimizer, random streams, snapshots and the plain values of `progress`."""
    tensors = {f"network.{name}": tensor for name, tensor in model.network.state_dict().items()}
    for place, snapshot in enumerate(snapshots):
        tensors |= {f"snapshot.{place}.{name}": tensor for name, tensor in snapshot.state_dict().items()}
    for index, state in model.policy.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in state.items()}
    tensors["random.torch"] = torch.get_rng_state()
    data = safetensors.torch.save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        metadata={
            "format": FORMAT,
            "snapshots": str(len(snapshots)),
            "random": json.dumps(model.rollout_buffer.rng.bit_generator.state),
            "progress": json.dumps(progress),
        },
    )
    write_whole(folder / CHECKPOINT, data)


def read_progress(folder: Path) -> dict[str, Any]:
    """Return the plain values of a run's checkpoint; ValueError where there is none or it can't be read."""
    return dict(json.loads(_read(folder)[1]["progress"]))


def _read(folder: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    path = folder / CHECKPOINT
    if not path.is_file():
        raise ValueError(f"there is no run to go on with in {folder}: {CHECKPOINT} is missing")
    try:
        with safe_open(path, "pt") as file:
            facts = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dict)
    except SafetensorError:
        raise ValueError(f"{path} is torn or not a checkpoint") from None
    if facts.get("format") != FORMAT:
        raise ValueError(f"{path} is a checkpoint of format {facts.get('format')}; this version reads format {FORMAT}")
    return tensors, facts


def load_checkpoint(folder: Path, model: SelfPlayPPO) -> list[CardNetwork]:
    """Put a run's checkpoint into a fresh model of the same settings and return the snapshots."""
    tensors, facts = _read(folder)

    def part(prefix: str) -> dict[str, torch.Tensor]:
        return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}

    model.network.load_state_dict(part("network."))
    optimizer = model.policy.optimizer.state_dict()
    optimizer["state"] = {
        index: part(f"optimizer.{index}.")
        for index in optimizer["param_groups"][0]["params"]
        if part(f"optimizer.{index}.")
    }
    model.policy.optimizer.load_state_dict(optimizer)
    snapshots = []
    for place in range(int(facts["snapshots"])):
        snapshot = CardNetwork(model.network.shape).eval()
        snapshot.load_state_dict(part(f"snapshot.{place}."))
        snapshots.append(snapshot)
    torch.set_rng_state(tensors["random.torch"])
    model.rollout_buffer.rng.bit_generator.state = json.loads(facts["random"])
    return snapshots
