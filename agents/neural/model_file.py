"""Models on disk: a folder with `weights.safetensors` and `model.json`. Nothing in it is executed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from krypenv.agents.neural.action_features import features_of
from krypenv.agents.neural.network import MAX_UNITS, Arrays, Shape, check_network, inputs_of, shape_of
from krypenv.inputs.files import parse_json, read_file, write_whole
from krypenv.inputs.words import shown
from krypenv.observation import VERSION
from krypenv.rules import Rules

FORMAT = 2
WEIGHTS, CARD = "weights.safetensors", "model.json"


class ModelError(ValueError):
    """A model that can't be loaded or used; the message says why."""


def save_model(folder: str | Path, arrays: Arrays, rules: Rules, **facts: Any) -> Path:
    """Write the weights of a network as a model folder, and return the folder.

    `facts` (command, seed, commit ...) go into model.json.
    """
    folder = Path(folder)
    weights = safetensors.numpy.save({name: np.asarray(array, order="C") for name, array in arrays.items()})
    card = {
        "format": FORMAT,
        "observation_version": VERSION,
        "features_version": features_of(rules).version,
        "rules": str(rules),
        "network": dataclasses.asdict(shape_of(arrays)),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        **facts,
    }
    write_whole(folder / WEIGHTS, weights)
    write_whole(folder / CARD, (json.dumps(card, indent=2) + "\n").encode())
    return folder


def load_model(folder: str | Path) -> tuple[Arrays, dict[str, Any]]:
    """Read the weights of the network in a model folder, and its model.json, the card.

    Raises ModelError with one sentence if the folder is no model, is torn, was changed or is of another version, and if
    the weights are no numbers or too large.
    """
    card, path = read_card(folder), Path(folder) / WEIGHTS
    weights = _read(path)
    if card["weights_sha256"] != hashlib.sha256(weights).hexdigest():
        raise ModelError(f"{path} is not the file that {CARD} was written for; the model is torn or was changed")
    try:
        arrays = _parse_arrays(weights)
        check_network(arrays, Shape(**card["network"]), inputs_of(rules_in(card)))
    except ValueError as error:
        raise ModelError(
            f"the weights in {folder} don't fit the network that {CARD} describes: {WEIGHTS} {error}"
        ) from None
    return arrays, card


def _parse_arrays(data: bytes) -> Arrays:
    """Parse the bytes of a safetensors file; raises ValueError for other bytes."""
    try:
        return safetensors.numpy.load(data)
    except KeyError as error:
        raise ValueError(f"has a tensor of the type {error}, which NumPy does not know") from None
    except (SafetensorError, AssertionError, TypeError, ValueError, RuntimeError, OverflowError, MemoryError):
        raise ValueError("is torn, or no file of tensors") from None


@cache
def _card_schema() -> Any:
    """Make the schema of model.json. Pydantic is not imported before a model is read."""
    from pydantic import AfterValidator

    from krypenv.inputs.schema import a_list, a_record, matching, sentence_of, whole

    def check_rules(text: str) -> str:
        try:
            Rules.parse(text)
        except ValueError as error:
            raise ValueError(f"should name rules: {sentence_of(error)}") from None
        return text

    units, rules = whole(1, MAX_UNITS), Annotated[str, AfterValidator(check_rules)]
    network = a_record(dict.fromkeys(("context", "card", "embedding"), units), more=False)
    sha256 = matching("[0-9a-f]{64}", "64 hexadecimal digits")
    return a_record({"rules": rules, "network": network, "weights_sha256": sha256}, {"also": a_list(rules) | None})


def read_card(folder: str | Path) -> dict[str, Any]:
    """Read the model.json in a folder; raises ModelError unless it is a card of this version."""
    from krypenv.inputs.schema import check

    path = Path(folder) / CARD
    text = _read(path)
    try:
        card: dict[str, Any] = parse_json(text)
    except ValueError as error:
        raise ModelError(f"{path} {error}") from None
    number = card.get("format") if isinstance(card, dict) else card
    if not isinstance(card, dict) or number != FORMAT:
        raise ModelError(f"{folder} is a model of format {shown(number)}; this version reads format {FORMAT}")
    try:
        check(_card_schema(), card)
    except ValueError as error:
        raise ModelError(f"{path}: {error}") from None
    for inputs, key, version in (
        ("observations", "observation_version", VERSION),
        ("action features", "features_version", features_of(rules_in(card)).version),
    ):
        if card.get(key) != version:
            raise ModelError(
                f"{folder} was trained on {inputs} of version {shown(card.get(key))}, "
                f"and this krypenv gives version {shown(version)}; train it anew"
            )
    return card


def _read(path: Path) -> bytes:
    try:
        return read_file(path)
    except (OSError, ValueError):
        refuse_zip(str(path.parent))
        raise ModelError(f"{path.parent} is no model; a model is a folder with {CARD} and {WEIGHTS}") from None


def refuse_zip(name: str) -> None:
    """Raise ModelError for the name of a model that Stable-Baselines3 has saved, with or without its .zip."""
    path = name if name.lower().endswith(".zip") else f"{name}.zip"
    if path == name or os.path.isfile(path):
        raise ModelError(
            f"{shown(path)} is a model of Stable-Baselines3, and not read: it holds a pickle, which can run any code; "
            f"if it is yours, name the agent sb3(path={shown(path)})"
        )


def rules_in(card: dict[str, Any]) -> Rules:
    """Parse the rules that a model was trained for: the main ones."""
    return Rules.parse(card["rules"])


def check_rules(card: dict[str, Any], rules: Rules, folder: str | Path) -> None:
    """Raise ModelError unless a model was trained for these rules; the length of a session doesn't matter.

    A model of single games plays sessions too, without a look at the totals; one of sessions reads them.
    """
    trained = [Rules.parse(text) for text in (card["rules"], *(card.get("also") or ()))]
    texts = " and ".join(f"'{known}'" for known in trained)
    if _one_game(rules) not in map(_one_game, trained):
        raise ModelError(f"{folder} was trained for {texts} and can't play '{rules}'")
    if not inputs_of(trained[0]).are_in(inputs_of(rules)):
        raise ModelError(f"{folder} was trained for {texts} and reads entries that '{rules}' lacks; train one for it")


def _one_game(rules: Rules) -> Rules:
    return dataclasses.replace(rules, games=1, threshold=None)
