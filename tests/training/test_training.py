"""Runs: what they leave behind, the rules and settings that they learn by, and what is refused."""

from __future__ import annotations

import io
import json
import math
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

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
from krypenv.training.learn.report import CurvePoint, write_curve
from krypenv.training.learn.run import TrainingRun, open_training
from krypenv.training.learn.settings import KRYPKASINO, RELATIVES

SWEDEN, OVERSPADER, MULLE = (Rules.preset(name) for name in ("kasino-sweden", "overspader", "mulle"))


def begin(out: Path, **fields: Any) -> TrainingRun:
    """A new small run, whose folder is not held."""
    with open_training(TrainSettings(out=str(out), **{**SMALL, **fields})) as new:
        return new


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "[b]small"  # no markup
    with redirect_stdout(io.StringIO()) as printed:
        results = train(TrainSettings(out=str(folder), **SMALL))
    assert printed.getvalue().replace("\n", "").count(str(folder)) == 4
    assert [result.opponent for result in results] == list(KRYPKASINO.against)
    return folder


def test_a_run_leaves_model_log_picture_and_evaluation(finished: Path) -> None:
    card = json.loads((finished / "model" / "model.json").read_text())
    assert card["rules"] == "krypkasino players=2"
    assert settings_of(card["command"]) == TrainSettings(out=str(finished), **SMALL)
    assert card["frames"] == 640
    assert card["settings"]["device"] == ("cuda" if torch.cuda.is_available() else "cpu"), "the one that was used"
    assert set(card) >= {"seed", "commit", "observation_version", "features_version", "network", "settings", "seconds"}
    assert (finished / "curve.png").read_bytes().startswith(b"\x89PNG")
    curve = json.loads((finished / "curve.json").read_text())
    assert (curve["rules"], curve["yardstick"]) == (card["rules"], "greedy")
    assert [curve["points"][at]["frames"] for at in (0, -1)] == [0, card["frames"]]
    assert any((finished / "tensorboard").iterdir())
    matches = json.loads((finished / "evaluation.json").read_text())["matches"]
    readme = (finished / "model" / "README.md").read_text()
    for text in (card["rules"], card["weights_sha256"], card["version"], "640 decisions", "seed"):
        assert text in readme
    for match in matches:
        assert f"| `{match['opponent']}` | {match['margin']:+.2f} | " in readme
    assert not list(finished.rglob("*.part"))
    assert not [path for path in finished.rglob("*") if path.suffix in (".pkl", ".zip", ".pt", ".pth")]


def test_a_curve_of_single_deals_is_kept_without_bounds(tmp_path: Path) -> None:
    write_curve(tmp_path, [CurvePoint(1.5, 0, 2.0, -math.inf, math.inf)], Rules.preset("krypkasino"), "greedy")
    point = {"seconds": 1.5, "frames": 0, "margin": 2.0, "low": None, "high": None}
    assert json.loads((tmp_path / "curve.json").read_text())["points"] == [point]


@pytest.mark.usefixtures("no_pictures")
def test_the_same_settings_make_the_same_weights_and_another_seed_others(finished: Path, tmp_path: Path) -> None:
    train(TrainSettings(out=str(tmp_path / "again"), **SMALL), quiet=True)
    first, again = (load_model(folder / "model")[0] for folder in (finished, tmp_path / "again"))
    assert all((first[name] == again[name]).all() for name in first)
    one, other = (begin(tmp_path / "x", seed=seed).model for seed in (0, 1))
    assert not torch.equal(one.network.state_dict()["read.weight"], other.network.state_dict()["read.weight"])
    assert (one.parts[0].observation != other.parts[0].observation).any()


@pytest.mark.parametrize(
    "fields",
    [
        {"players": 6, "teams": 3, "opponent_share": 1.0, "rule": ("games=2",), "dense": False},
        {"rules": "howto", "players": 3, "opponents": (), "reward": "win"},
        {"reward": "points", "dense": False, "critic": False, "kl_coef": 0.0, "opponents": ("past",)},
        {"also": ("krypkasino players=3", "krypkasino players=4 teams=2")},
        {"rules": "kasino-finland", "players": 4, "teams": 2},
        {"rules": "kasino-sweden", "also": ("overspader players=2",)},
        {"rules": "laistokasino custom_points=H:1+QS:13"},
        {"rules": "mulle-glimne"},
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
    new = begin(tmp_path / "run", also=also)
    assert [str(part.rules) for part in new.model.parts] == [*["krypkasino players=2"] * 2, *also]
    decisions = new.model.decisions()
    assert decisions.hidden.shape == (16 * 3, 3 * 52)
    assert (decisions.hidden[:16, 52:] == 0).all()  # two players: there are no more hands
    held = decisions.hidden.reshape(48, 3, 52).sum(2)
    assert (held[16:32, :2] > 0).all()
    assert (held[32:] > 0).all()


def test_against_opponents_a_whole_side_learns_and_past_selves_are_drawn_alike(tmp_path: Path) -> None:
    new = begin(tmp_path / "run", players=4, teams=2, opponents=("past", "greedy"))
    everyone, against = new.model.parts
    assert (everyone.players == LEARNER).all()
    learns = against.players == LEARNER
    assert (learns.sum(axis=1) == 2).all()
    assert (learns[:, 0] == learns[:, 2]).all()
    assert [weight for _, weight in against.pool] == [1, 1]
    new.past_selves = {"update 1": new.model.network, "update 2": new.model.network}
    new._seat_opponents()
    assert [(getattr(agent, "name", ""), weight) for agent, weight in against.pool] == [
        ("update 1", 0.5), ("update 2", 0.5), ("greedy", 1),
    ]  # fmt: skip
    assert len(begin(tmp_path / "alone", opponents=()).model.parts) == 1
    few = games_of(TrainSettings(envs=8, opponents=("greedy",), opponent_share=0.01))
    assert [(games.num_games, games.seat) for games in few] == [(7, "all"), (1, "random")]


def test_a_warm_start_begins_with_the_weights_of_a_model(finished: Path, tmp_path: Path) -> None:
    weights, model = tensors_of(load_model(finished / "model")[0]), str(finished / "model")
    learner = begin(tmp_path / "one", init_from=model).model
    for start in (learner.network, learner.ema):
        assert all(torch.equal(value, start.state_dict()[name]) for name, value in weights.items())
    same, mulle = model_of(tmp_path, OVERSPADER), model_of(tmp_path, MULLE, 2)
    read = begin(tmp_path / "three", rules="kasino-sweden", init_from=same).model.network.arrays()["read.weight"]
    assert (read == load_model(same)[0]["read.weight"]).all()
    for wrong, reason in (
        ({"init_from": model, "card": 9}, "the settings ask for"),
        ({"init_from": mulle, "rules": "kasino-sweden"}, "start from a model of the same game"),
        ({"init_from": str(tmp_path / "nothing")}, "is no model"),
    ):
        with pytest.raises(ValueError, match=reason):
            begin(tmp_path / "four", **wrong)
    assert not (tmp_path / "four").exists()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"envs": 0}, "envs should be greater than or equal to 1, not 0"),
        ({"envs": 1_000_000, "steps": 100}, "envs times steps come to at most 10,000,000 decisions"),
        ({"players": 9}, "krypkasino is not played by 9 players"),
        ({"rules": "krypcasino"}, "unknown preset"),
        ({"also": ("krypkasino players=9",)}, "krypkasino is not played by 9 players"),
        (
            {"rules": "kasino-sweden", "also": ("mulle",)},
            "one network can't learn 'kasino-sweden players=2' and 'mulle",
        ),
        ({"reward": "money"}, "reward should be 'centred', 'points' or 'win', not 'money'"),
        ({"device": "abacus"}, "device should be 'auto', 'cpu' or 'cuda', not 'abacus'"),
        ({"against": ()}, "against should have at least 1 item"),
    ],
)
def test_bad_settings_are_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=rf"^{reason}[^\n]*$"):
        TrainSettings(**fields)


def test_bad_folders_agents_and_devices_are_refused_before_anything_is_written(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for fields, reason in (
        ({"out": str(finished)}, "is not empty"),
        ({"resume": str(tmp_path)}, "no run to resume"),
        ({"opponents": ("tactican",)}, "unknown agent"),
        ({"yardstick": "tactican"}, "unknown agent"),
        ({"device": "cuda"}, r"^device is cuda, and torch finds no CUDA here; give cpu, or auto for "),
    ):
        with pytest.raises(ValueError, match=reason):
            train(TrainSettings(**{**SMALL, "out": str(tmp_path / "other"), **fields}), quiet=True)
        assert not (tmp_path / "other").exists()


@pytest.mark.usefixtures("no_pictures")
def test_a_training_gives_torch_its_threads_back(tmp_path: Path) -> None:
    before, nothing = torch.get_num_threads(), str(tmp_path / "nothing")
    torch.set_num_threads(3)
    try:
        train(TrainSettings(**{**SMALL, "frames": 64}, out=str(tmp_path / "run")), quiet=True)
        assert torch.get_num_threads() == 3
        with pytest.raises(ValueError, match="is no model"):
            train(TrainSettings(**SMALL, out=str(tmp_path / "other"), init_from=nothing))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def model_of(folder: Path, rules: Rules, seed: int = 1) -> str:
    """A model folder of an untrained network."""
    return str(save_model(folder / f"model-{seed}", some_arrays(Shape(16, 8, 4), seed, inputs_of(rules)), rules))


def test_little_training_beats_random_and_plays_for_many_points(tmp_path: Path) -> None:
    few = {**SMALL, "envs": 160, "opponents": (), "steps": 16, "frames": 30_000, "batch": 256, "learning_rate": 3e-3}
    train(TrainSettings(out=str(tmp_path / "run"), rules="kasino-sweden", **few), quiet=True)
    player, untrained = (  # the networks alone
        agents.make(f"learned(model={model!r}, solver=False)", SWEDEN)
        for model in (str(tmp_path / "run" / "model"), model_of(tmp_path, SWEDEN))
    )
    assert duplicate_match(player, "random", SWEDEN, deals=200, seed=1).low > 1
    assert duplicate_match(player, untrained, SWEDEN, deals=200, seed=1).low > 1


def test_what_suits_a_family_follows_from_the_rules() -> None:
    main, its = TrainSettings(), TrainSettings(rules="mulle", players=4, teams=2)
    assert (main.against, its.against) == (KRYPKASINO.against, RELATIVES.against)
    assert its.gamma > main.gamma
    given = TrainSettings(rules="mulle", against=("random",), gamma=0.5)
    assert (given.against, given.gamma) == (("random",), 0.5)
