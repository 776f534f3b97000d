"""Models on disk: a folder with `weights.safetensors` and `model.json`. Nothing in it is executed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError

from krypenv.agents.facts import VERSION as FACTS_VERSION
from krypenv.agents.network import CardNetwork, Shape
from krypenv.files import write_whole
from krypenv.observation import VERSION
from krypenv.rules import Rules

FORMAT = 2
WEIGHTS, CARD = "weights.safetensors", "model.json"


class ModelError(ValueError):
    """A model that can't be loaded or used; the message says why."""


def save_model(folder: str | Path, network: CardNetwork, rules: Rules, **facts: Any) -> Path:
    """Write a network as a model folder; `facts` (command, seed, commit ...) go into model.json. Returns the folder."""
    folder = Path(folder)
    weights = safetensors.torch.save({name: tensor.contiguous() for name, tensor in network.state_dict().items()})
    card = {
        "format": FORMAT,
        "observation_version": VERSION,
        "facts_version": FACTS_VERSION,
        "rules": str(rules),
        "network": dataclasses.asdict(network.shape),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        **facts,
    }
    write_whole(folder / WEIGHTS, weights)
    write_whole(folder / CARD, (json.dumps(card, indent=2) + "\n").encode())
    return folder


def load_model(folder: str | Path) -> tuple[CardNetwork, dict[str, Any]]:
    """Return the network of a model folder and what its model.json says.

    Raises ModelError with one sentence for a folder that is no model, is torn, was changed, or is of another version.
    """
    folder = Path(folder)
    try:
        card = json.loads((folder / CARD).read_text())
        weights = (folder / WEIGHTS).read_bytes()
    except OSError:
        raise ModelError(f"{folder} is no model; a model is a folder with {CARD} and {WEIGHTS}") from None
    except ValueError:
        raise ModelError(f"{folder / CARD} is not JSON; the model was not written whole or was changed") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        found = card.get("format") if isinstance(card, dict) else card
        raise ModelError(f"{folder} is a model of format {found!r}; this version reads format {FORMAT}")
    if card.get("observation_version") != VERSION:
        raise ModelError(
            f"{folder} was trained on observations of version {card.get('observation_version')}, "
            f"and this krypenv gives version {VERSION}; train it anew"
        )
    if card.get("facts_version") != FACTS_VERSION:
        raise ModelError(
            f"{folder} was trained on facts of version {card.get('facts_version')}, "
            f"and this krypenv gives version {FACTS_VERSION}; train it anew"
        )
    if card.get("weights_sha256") != hashlib.sha256(weights).hexdigest():
        raise ModelError(
            f"{folder / WEIGHTS} is not the file that {CARD} was written for; the model is torn or was changed"
        )
    try:
        network = CardNetwork(Shape(**card["network"]))
        network.load_state_dict(safetensors.torch.load(weights))
    except (KeyError, TypeError, ValueError, RuntimeError, SafetensorError):
        raise ModelError(f"the weights in {folder} don't fit the network that {CARD} describes") from None
    network.eval()
    return network, card


def rules_in(card: dict[str, Any], folder: str | Path) -> Rules:
    """Return the rules that a model was trained for; raises ModelError where its model.json names none."""
    return _all_rules_in(card, folder)[0]


def _all_rules_in(card: dict[str, Any], folder: str | Path) -> list[Rules]:
    """Return the rules that a model was trained for, and then those that it learned too."""
    try:
        return [Rules.parse(text) for text in (card["rules"], *card.get("also", ()))]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ModelError(f"{Path(folder) / CARD} does not say for which rules the model was trained") from None


def check_rules(card: dict[str, Any], rules: Rules, folder: str | Path) -> None:
    """Raise ModelError unless a model was trained for these rules; the length of a session doesn't matter."""
    trained = _all_rules_in(card, folder)
    if _one_game(rules) not in map(_one_game, trained):
        texts = " and ".join(f"'{each}'" for each in trained)
        raise ModelError(f"{folder} was trained for {texts} and can't play '{rules}'")


def _one_game(rules: Rules) -> Rules:
    return dataclasses.replace(rules, games=1, threshold=None)
