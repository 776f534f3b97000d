"""Checkpoints: all that a run needs to resume, in one safetensors file, written whole or not at all. No pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy

from krypenv.agents.neural.network import Arrays
from krypenv.agents.neural.weights import parse_arrays
from krypenv.inputs.files import parse_json, read_file, write_whole
from krypenv.inputs.schema import sentence_of
from krypenv.inputs.words import shown
from krypenv.training.learner.network import CardNetwork, arrays_of, tensors_of
from krypenv.training.learner.ppo import SelfPlayPPO
from krypenv.training.selfplay.checkpoint_checks import check_content, check_progress, digest, part_of
from krypenv.training.selfplay.settings import Settings

CHECKPOINT = "checkpoint.safetensors"
FORMAT = "3"


class Kept(NamedTuple):
    """What a checkpoint holds, checked."""

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
        arrays |= {f"games.{place}.{name}": _signed(array) for name, array in games.items()}
    arrays["opponent_returns"] = np.array(model.opponent_returns, np.float64)
    texts = {"format": FORMAT, "snapshots": str(len(snapshots)), "progress": json.dumps(progress)}
    write_whole(folder / CHECKPOINT, encode_checkpoint(arrays, texts))


def encode_checkpoint(arrays: Arrays, texts: dict[str, str]) -> bytes:
    """Return the bytes of a checkpoint, with a checksum of its contents."""
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return safetensors.numpy.save(arrays, metadata={**texts, "sha256": digest(arrays, texts)})


def _signed(array: np.ndarray) -> np.ndarray:
    """Return an array with unsigned words as signed ones of the same bits, which is how checkpoints store them."""
    return array.view(np.int64) if array.dtype == np.uint64 else array


def read_progress(folder: Path) -> dict[str, Any]:
    """Return the plain values of a run's checkpoint; raises ValueError if there is none or it can't be resumed."""
    return read_checkpoint(folder).progress


def read_checkpoint(folder: Path) -> Kept:
    """Return a run's checkpoint; raises ValueError with the file's name if there is none, or any of it is wrong."""
    path = folder / CHECKPOINT
    if not path.is_file():
        raise ValueError(f"there is no run to resume in {folder}: {CHECKPOINT} is missing")
    data = read_file(path)  # in one read: a run may be writing the next one
    try:
        return parse_checkpoint(data)
    except ValueError as error:
        raise ValueError(f"{path} {sentence_of(error)}") from None


def parse_checkpoint(data: bytes) -> Kept:
    """Return the checkpoint in some bytes; raises ValueError, without the file's name, if any of it is wrong."""
    try:
        arrays = parse_arrays(data)
    except ValueError:
        raise ValueError("is torn or not a checkpoint") from None
    texts: dict[str, str] = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")]).get("__metadata__") or {}
    if texts.get("format") != FORMAT:
        found = shown(texts.get("format")).strip("'")
        raise ValueError(f"is a checkpoint of format {found}; this version reads format {FORMAT}")
    known = texts.pop("sha256", None)  # which older ones lack
    if known is not None and known != digest(arrays, texts):
        raise ValueError("is torn or was changed: it does not agree with its checksum")
    try:
        progress = parse_json(texts.get("progress", ""), infinite=True)
        settings = check_progress(progress)
    except ValueError as error:
        raise ValueError(f"has progress that can't be resumed: {sentence_of(error)}") from None
    arrays = {_with_new_words(name): array for name, array in arrays.items()}
    if texts.get("snapshots") != str(len(progress["snapshots"])):
        raise ValueError(f"is to have {len(progress['snapshots'])} snapshots, not {shown(texts.get('snapshots'))}")
    check_content(arrays, settings, len(progress["snapshots"]))
    return Kept(settings, progress, arrays)


def _with_new_words(name: str) -> str:
    """Return the current name of an array; older versions called the EMA policy slow and the opponents rivals."""
    return name.replace("policy.slow.", "policy.ema.").replace("rival_", "opponent_")


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
