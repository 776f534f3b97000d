"""Model files: a folder of weights and JSON; whatever is wrong with it is told in one sentence."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from support.games import decisions_of, some_arrays
from support.places import MODELS

from krypenv import Rules, agents
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
from krypenv.observation import LARGEST_SIZE

SHAPE = Shape(16, 8, 4)


def model_of(folder: Path, rules: Rules, seed: int = 1) -> str:
    """A model folder of an untrained network."""
    return str(save_model(folder / f"model-{seed}", some_arrays(SHAPE, seed, inputs_of(rules)), rules))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_model(tmp_path / "model", some_arrays(SHAPE), Rules.preset(), seed=3)


def test_a_model_comes_back_as_it_was_saved(folder: Path) -> None:
    arrays = some_arrays(SHAPE)
    save_model(folder, arrays, Rules.preset(), seed=5)
    loaded, card = load_model(folder)
    assert card["seed"] == 5
    assert card["network"] == {"context": 16, "card": 8, "embedding": 4}
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert np.array_equal(array, loaded[name])


def test_a_pickle_is_not_executed(folder: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trapped"
    payload = b"cos\nsystem\n(S'touch " + str(trap).encode() + b"'\ntR."
    (folder / "weights.safetensors").write_bytes(payload)
    with pytest.raises(ModelError, match=r"torn or was changed"):
        load_model(folder)
    card = json.loads((folder / "model.json").read_text())
    card["weights_sha256"] = hashlib.sha256(payload).hexdigest()
    (folder / "model.json").write_text(json.dumps(card))
    with pytest.raises(ModelError, match="don't fit"):
        load_model(folder)
    assert not trap.exists()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"observation_version": 0}, "observations of version 0"),
        ({"features_version": None}, "action features of version None"),
        ({"format": 99}, "format 99"),
        ({"format": True}, "is a model of format"),
        ({"network": {"context": 32, "card": 8, "embedding": 4}}, "don't fit"),
        ({"network": {"layers": 3}}, "network.context is missing"),
        ({"network": {"context": MAX_UNITS, "card": MAX_UNITS, "embedding": 2}}, "don't fit"),  # nor is it made
        *(({"network": {"context": size}}, "network.context should be") for size in (MAX_UNITS + 1, -1, True)),
        ({"also": ["whist"]}, r"model\.json: also.* should name rules"),
        ({"also": [3]}, r"model\.json: also.* should be a valid string"),
        ("{", "is not JSON"),
        ("[]", "is a model of format"),
        ("3", "is a model of format 3"),
    ],
)
def test_a_card_that_says_anything_else_is_refused(folder: Path, changed: dict[str, object] | str, reason: str) -> None:
    card = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(changed if isinstance(changed, str) else json.dumps({**card, **changed}))
    with pytest.raises(ModelError, match=reason):
        agents.make(str(folder), Rules.preset())


def test_weights_of_another_type_are_no_model(folder: Path) -> None:
    """Even with their digest on the card."""
    weights = some_arrays(SHAPE)
    doubled = {**weights, "judge.weight": weights["judge.weight"].astype("float64")}
    data = safetensors.numpy.save({name: each.astype(np.float16) for name, each in weights.items()})
    end = 8 + int.from_bytes(data[:8], "little")
    header = data[8:end].replace(b'"F16"', b'"BF16"')
    for changed, reason in (
        (safetensors.numpy.save(doubled), r"tensor 'judge.weight' of float64 \(8, 24\), and it is to be of float32"),
        (len(header).to_bytes(8, "little") + header + data[end:], "has a tensor of the type 'BF16', which NumPy"),
    ):
        (folder / WEIGHTS).write_bytes(changed)
        card = json.loads((folder / CARD).read_text())
        (folder / CARD).write_text(json.dumps({**card, "weights_sha256": hashlib.sha256(changed).hexdigest()}))
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


# ---------------------------------------------------------------------- the games that a model plays


def test_other_rules_are_refused(folder: Path) -> None:
    assert agents.make(str(folder), Rules.preset(games=4)).rules.games == 4
    for rules in (Rules.preset(players=3), Rules.preset(last_capture_points=1)):
        with pytest.raises(ModelError, match=r"was trained for 'krypkasino players=2' and can't play"):
            agents.make(str(folder), rules)
    for spec in (str(folder), f"learned(model={str(folder)!r})", f"guided(model={str(folder)!r})"):
        with pytest.raises(ModelError, match="was trained for 'krypkasino players=2' and can't play 'kasino-sweden"):
            agents.make(spec, Rules.preset("kasino-sweden"))


def test_a_model_of_several_rules_plays_each_of_them(tmp_path: Path) -> None:
    also = ["krypkasino players=3", "howto players=4 teams=2"]
    folder = save_model(tmp_path / "model", some_arrays(SHAPE), Rules.preset(), also=also)
    for text in also:
        assert agents.make(str(folder), Rules.parse(text)).rules == Rules.parse(text)
    with pytest.raises(ModelError, match="and can't play 'krypkasino players=4'"):
        agents.make(str(folder), Rules.preset(players=4))


@pytest.mark.parametrize("preset", ["overspader", "kasino-finland", "mulle"])
def test_a_model_of_single_games_plays_sessions_too(preset: str, tmp_path: Path) -> None:
    rules, session = Rules.preset(preset), Rules.preset(preset, games=0, threshold=16)
    model = model_of(tmp_path, rules)
    player, (observations, masks) = agents.make(model, session), decisions_of(session, 8, 10)
    seen = observations[:, : rules.observation_size]  # the first game of a session has no totals yet
    assert (player.act(observations, masks) == agents.make(model, rules).act(seen, masks)).all()
    its = model_of(tmp_path, session, 2)
    assert agents.make(its, session).rules == session
    if inputs_of(session) != inputs_of(rules):
        with pytest.raises(ModelError, match=r"reads entries that .* lacks; train one for it$"):
            agents.make(its, rules)
