"""Files that are read back: JSON and its schemas, and models."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from support.games import some_arrays
from support.places import MODELS

from krypenv import Rules
from krypenv.agents.champion import SHIPPED
from krypenv.agents.neural.inference import MAX_WIDTH
from krypenv.agents.neural.model_file import CARD, WEIGHTS, ModelError, load_model, rules_in, save_model
from krypenv.agents.neural.network import (
    ILLEGAL,
    LARGEST_WEIGHT,
    MAX_UNITS,
    Shape,
    check_network,
    inputs_of,
    shape_of,
)
from krypenv.inputs.files import read_json
from krypenv.observation import LARGEST_SIZE

# ---------------------------------------------------------------------- JSON and schemas


def test_what_is_no_json_is_told_with_the_name_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    for data in (b"[" * 100_000, b'{"a":' * 201 + b"1" + b"}" * 201, b"", b"\xff", b"NaN", b"[Infinity]", b'"\\ud800"'):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"some\.json is not JSON"):
            read_json(path)
    path.write_bytes(b'{"a": [1, -1e999]}')
    with pytest.raises(ValueError, match=r"some\.json has a number that no float can hold"):
        read_json(path)
    path.write_bytes(b'{"a": [1, 1e300, "\xc3\xa9"], "a": 2}')
    assert read_json(path) == {"a": 2}


# ---------------------------------------------------------------------- models


SMALL = Shape(8, 4, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_model(tmp_path / "model", some_arrays(SMALL), Rules.preset())


def test_weights_of_another_type_are_no_model(folder: Path) -> None:
    """Even with their digest on the card."""
    weights = some_arrays(SMALL)
    doubled = {**weights, "judge.weight": weights["judge.weight"].astype("float64")}
    data = safetensors.numpy.save({name: each.astype(np.float16) for name, each in weights.items()})
    end = 8 + int.from_bytes(data[:8], "little")
    header = data[8:end].replace(b'"F16"', b'"BF16"')
    for changed, reason in (
        (safetensors.numpy.save(doubled), r"tensor 'judge.weight' of float64 \(4, 12\), and it is to be of float32"),
        (len(header).to_bytes(8, "little") + header + data[end:], "has a tensor of the type 'BF16', which NumPy"),
    ):
        (folder / WEIGHTS).write_bytes(changed)
        card = json.loads((folder / CARD).read_text())
        (folder / CARD).write_text(json.dumps({**card, "weights_sha256": hashlib.sha256(changed).hexdigest()}))
        with pytest.raises(ModelError, match=reason):
            load_model(folder)


def test_a_network_without_end_is_refused_before_it_is_made(folder: Path) -> None:
    card = json.loads((folder / CARD).read_text())
    units = "network.context should be"
    for size, reason in ((MAX_UNITS, "don't fit"), (MAX_UNITS + 1, units), (-1, units), (True, units)):
        (folder / CARD).write_text(json.dumps({**card, "network": {"context": size, "card": size, "embedding": 2}}))
        with pytest.raises(ModelError, match=reason):
            load_model(folder)


def test_a_pipe_or_a_folder_in_place_of_a_model_card_is_no_model(folder: Path) -> None:
    (folder / CARD).unlink()
    for make in (os.mkdir, os.mkfifo):  # reading a pipe would never end
        make(folder / CARD)
        with pytest.raises(ModelError, match="is no model"):
            load_model(folder)
        (folder / CARD).rename(folder / make.__name__)


def test_models_that_come_with_the_package_are_far_from_the_bound() -> None:
    for name in SHIPPED:
        arrays, card = load_model(MODELS / name)
        check_network({key: array * 100 for key, array in arrays.items()}, shape_of(arrays), inputs_of(rules_in(card)))


def test_the_largest_weights_come_neither_to_the_logit_of_illegal_actions_nor_to_infinity() -> None:
    """In the widest layers, with the largest inputs and all signs alike."""

    def layer(*inputs: tuple[int, float]) -> float:
        return LARGEST_WEIGHT * (1 + sum(entries * value for entries, value in inputs))

    context = layer((LARGEST_SIZE, 128))
    action = layer((MAX_WIDTH, 128), (MAX_UNITS, LARGEST_WEIGHT)) + layer((MAX_UNITS, context))
    hidden = layer((MAX_UNITS, action))
    assert layer((MAX_UNITS, hidden)) < -ILLEGAL / 2
    value = layer((MAX_UNITS, layer((MAX_UNITS, context), (MAX_UNITS, hidden))))
    assert value < np.finfo(np.float32).max
