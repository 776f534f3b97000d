"""Runs: what they leave behind, the rules and settings that they learn by, and what is refused."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.commands import settings_of
from support.games import SMALL, some_arrays

from krypenv import Rules, agents
from krypenv.agents.neural.model_file import load_model, save_model
from krypenv.agents.neural.network import Shape, inputs_of
from krypenv.envs.learner import LEARNER
from krypenv.training import TrainSettings, duplicate_match, train
from krypenv.training.evaluation.matches.duplicate import MatchResult
from krypenv.training.learn.network import tensors_of
from krypenv.training.learn.ppo import games_of
from krypenv.training.learn.run import TrainingRun, open_training
from krypenv.training.learn.settings import KRYPKASINO, RELATIVES


def begin(out: Path, **fields: Any) -> TrainingRun:
    """A new small run, whose folder is not held."""
    with open_training(TrainSettings(out=str(out), **{**SMALL, **fields})) as new:
        return new


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "[b]small"  # no markup
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    with redirect_stdout(io.StringIO()) as printed:
        results = train(TrainSettings(out=str(folder), **SMALL))
    assert torch.get_num_threads() == 3, "torch has its threads back"
    torch.set_num_threads(before)
    assert printed.getvalue().replace("\n", "").count(str(folder)) == 4
    assert [result.opponent for result in results] == list(KRYPKASINO.against)
    return folder


def test_a_run_leaves_model_log_picture_and_evaluation(finished: Path) -> None:
    card = json.loads((finished / "model" / "model.json").read_text())
    assert settings_of(card["command"]) == TrainSettings(out=str(finished), **SMALL)
    assert (card["rules"], card["frames"], card["seed"]) == ("krypkasino players=2", 640, 0)
    assert card["settings"]["device"] == ("cuda" if torch.cuda.is_available() else "cpu"), "the one that was used"
    assert set(card) >= {"commit", "observation_version", "features_version", "network", "seconds"}
    assert (finished / "curve.png").read_bytes().startswith(b"\x89PNG")
    curve = json.loads((finished / "curve.json").read_text())
    assert (curve["rules"], curve["yardstick"]) == (card["rules"], "greedy")
    assert [curve["points"][at]["frames"] for at in (0, -1)] == [0, 640]
    assert curve["points"][0]["low"] is curve["points"][0]["high"] is None, "a single deal has no interval"
    assert any((finished / "tensorboard").iterdir())
    readme = (finished / "model" / "README.md").read_text()
    assert all(text in readme for text in (card["rules"], card["weights_sha256"], card["version"], "640 decisions"))
    for match in json.loads((finished / "evaluation.json").read_text())["matches"]:
        assert f"| `{match['opponent']}` | {match['margin']:+.2f} | " in readme
    left = {path.suffix for path in finished.rglob("*") if path.is_file()}
    assert not left & {".part", ".pkl", ".zip", ".pt", ".pth"}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "fields",
    [
        {"players": 6, "teams": 3, "opponent_share": 1.0, "rule": ("games=2",), "dense": False, "critic": False},
        {"reward": "win", "kl_coef": 0.0, "also": ("krypkasino players=3",), "opponents": ("past",)},
        {"rules": "laistokasino custom_points=H:1+QS:13", "opponents": ()},
        {"rules": "mulle-glimne", "reward": "points"},
    ],
    ids=str,
)
@pytest.mark.usefixtures("no_pictures")
def test_other_rules_and_settings_train_too(tmp_path: Path, fields: dict[str, Any]) -> None:
    """A short run changes all weights and leaves a model that plays its rules."""
    folder = tmp_path / "run"
    settings = TrainSettings(out=str(folder), **{**SMALL, "frames": 200, "against": ("random",), **fields})
    before = {name: value.clone() for name, value in begin(tmp_path / "x", **fields).model.network.state_dict().items()}
    (result,) = train(settings, quiet=True)
    assert isinstance(result, MatchResult)
    with open_training(TrainSettings(resume=str(folder))) as again:
        assert again.done == 1
        after = again.model.network.state_dict()
    assert all(torch.isfinite(value).all() for value in after.values())
    assert [name for name in after if not torch.equal(before[name], after[name])] == list(after)
    card = json.loads((folder / "model" / "model.json").read_text())
    assert card["rules"] == str(settings.game_rules())
    for rules in settings.all_rules():
        assert agents.make(str(folder / "model"), rules).rules == rules


def test_parts_of_a_run_play_their_own_rules(tmp_path: Path) -> None:
    also = ("krypkasino players=3", "krypkasino players=4 teams=2")
    new, other_seed = (begin(tmp_path / "run", also=also, seed=seed) for seed in (0, 1))
    assert (new.model.parts[0].observation != other_seed.model.parts[0].observation).any()
    weights, others = (each.model.network.state_dict()["read.weight"] for each in (new, other_seed))
    assert not torch.equal(weights, others)
    assert [str(part.rules) for part in new.model.parts] == [*["krypkasino players=2"] * 2, *also]
    hidden = new.model.decisions().hidden
    assert hidden.shape == (16 * 3, 3 * 52)
    for row, part in enumerate(new.model.parts[0].engine.state.hands[:8]):
        other = 1 - new.model.parts[0].seats[row]
        assert (hidden[row] == [*part[other], *[0] * 104]).all()  # two players: there are no more hands
    assert (hidden[32:].reshape(16, 3, 52).sum(2) > 0).all()


def test_against_opponents_a_whole_side_learns_and_past_selves_share_a_weight(tmp_path: Path) -> None:
    new = begin(tmp_path / "run", players=4, teams=2, opponents=("past", "greedy"))
    everyone, against = new.model.parts
    assert (everyone.players == LEARNER).all()
    learns = against.players == LEARNER
    assert (learns.sum(axis=1) == 2).all()
    assert (learns[:, 0] == learns[:, 2]).all()
    assert learns.any(axis=0).all()
    assert learns[np.arange(len(learns)), against.seats].all()
    new.model.seat_opponents(1, {"update 1": new.model.network, "update 2": new.model.network})
    pool = [(getattr(agent, "name", ""), weight) for agent, weight in against.pool]
    assert pool == [("update 1", 0.5), ("update 2", 0.5), ("greedy", 1)]
    few = TrainSettings(envs=8, opponents=("greedy",), opponent_share=0.01)
    assert [(games.num_games, games.seat) for games in games_of(few)] == [(7, "all"), (1, "random")]
    assert [games.num_games for games in games_of(few.changed(opponents=()))] == [8]


def test_a_warm_start_begins_with_the_weights_of_a_model(finished: Path, tmp_path: Path) -> None:
    model, same = str(finished / "model"), model_of(tmp_path, "overspader")
    for path, fields in ((model, {}), (same, {"rules": "kasino-sweden"})):
        learner = begin(tmp_path / "one", init_from=path, **fields).model
        for start in (learner.network, learner.ema):
            for name, value in tensors_of(load_model(path)[0]).items():
                assert torch.equal(value, start.state_dict()[name])


def test_bad_settings_folders_agents_and_devices_are_refused_before_anything_is_written(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for fields, reason in (
        ({"out": str(finished)}, "is not empty"),
        ({"resume": str(tmp_path)}, "no run to resume"),
        ({"opponents": ("tactican",)}, "unknown agent"),
        ({"yardstick": "tactican"}, "unknown agent"),
        ({"envs": 1_000_000, "steps": 100}, "^envs times steps come to at most 10,000,000 decisions"),
        ({"also": ("krypkasino players=9",)}, "^krypkasino is not played by 9 players"),
        ({"rules": "kasino-sweden", "also": ("mulle",)}, "^one network can't learn 'kasino-sweden players=2' and 'mu"),
        ({"init_from": str(finished / "model"), "card": 9}, "the settings ask for"),
        ({"init_from": model_of(tmp_path, "mulle"), "rules": "kasino-sweden"}, "start from a model of the same game"),
        ({"init_from": str(tmp_path / "nothing")}, "is no model"),
        ({"device": "cuda"}, r"^device is cuda, and torch finds no CUDA here; give cpu, or auto for "),
    ):
        with pytest.raises(ValueError, match=reason):
            train(TrainSettings(**{**SMALL, "out": str(tmp_path / "other"), **fields}), quiet=True)
        assert not (tmp_path / "other").exists()


def model_of(folder: Path, preset: str) -> str:
    """A model folder of an untrained network."""
    rules = Rules.preset(preset)
    return str(save_model(folder / preset, some_arrays(Shape(16, 8, 4), 1, inputs_of(rules)), rules))


def test_little_training_beats_random_play(tmp_path: Path) -> None:
    few = {**SMALL, "envs": 160, "opponents": (), "steps": 16, "frames": 20_000, "batch": 256, "learning_rate": 3e-3}
    train(TrainSettings(out=str(tmp_path / "run"), rules="mini-kasino", **few), quiet=True)
    rules = Rules.preset("mini-kasino")
    player = agents.make(f"learned(model={str(tmp_path / 'run' / 'model')!r}, solver=False)", rules)  # it alone
    assert duplicate_match(player, "random", rules, deals=200, seed=1).low > 0


def test_what_suits_a_family_follows_from_the_rules() -> None:
    main, its = TrainSettings(), TrainSettings(rules="mulle", players=4, teams=2)
    assert (main.against, its.against) == (KRYPKASINO.against, RELATIVES.against)
    assert its.gamma > main.gamma
    given = TrainSettings(rules="mulle", against=("random",), gamma=0.5)
    assert (given.against, given.gamma) == (("random",), 0.5)
