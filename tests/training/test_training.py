"""Runs: their settings, what they leave behind, the rules that they learn, and models on disk."""

from __future__ import annotations

import io
import json
import math
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import torch
from support.commands import krypenv, settings_of
from support.games import SMALL, some_arrays

from krypenv import Rules, agents
from krypenv.agents.neural.model_file import load_model, save_model
from krypenv.agents.neural.network import Shape, inputs_of
from krypenv.training import duplicate_match
from krypenv.training.evaluation.matches.duplicate import MatchResult
from krypenv.training.learn.imitation.imitate import ImitationSettings, make_policy, run_imitation, save_start
from krypenv.training.learn.ladder import KRYPKASINO, OTHERS
from krypenv.training.learn.learner.torch_network import tensors_of
from krypenv.training.learn.selfplay import selfplay
from krypenv.training.learn.selfplay.curve import CurvePoint, write_curve
from krypenv.training.learn.selfplay.selfplay import TrainingRun, open_training, train
from krypenv.training.learn.selfplay.settings import PRESETS, Settings
from krypenv.training.runs.parts import Length, Network

SWEDEN, OVERSPADER, MULLE = (Rules.preset(name) for name in ("kasino-sweden", "overspader", "mulle"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "[b]small"  # no markup
    with redirect_stdout(io.StringIO()) as printed:
        results = train(Settings.of(out=str(folder), **SMALL))
    assert printed.getvalue().replace("\n", "").count(str(folder)) == 4
    assert [result.opponent for result in results] == list(Settings().evaluation.against)
    return folder


def test_a_run_leaves_model_log_pictures_and_evaluation(finished: Path) -> None:
    card = json.loads((finished / "model" / "model.json").read_text())
    assert card["rules"] == "krypkasino players=2"
    assert settings_of(card["command"]) == Settings.of(out=str(finished), **SMALL)
    assert card["frames"] == 640
    assert card["settings"]["device"] == ("cuda" if torch.cuda.is_available() else "cpu"), "the one that was used"
    assert set(card) >= {"seed", "commit", "observation_version", "features_version", "network", "settings", "seconds"}
    for name in ("curve.png", "metagame.png"):
        assert (finished / name).read_bytes().startswith(b"\x89PNG")
    names = json.loads((finished / "metagame.json").read_text())["names"]
    assert names == [*Settings().games.opponents, "update 3", "update 6", "update 9"]
    curve = json.loads((finished / "curve.json").read_text())
    assert curve["rules"] == card["rules"]
    assert [curve["points"][at]["frames"] for at in (0, -1)] == [0, card["frames"]]
    assert all(list(point["margins"]) == list(Settings().evaluation.against) for point in curve["points"])
    assert any((finished / "tensorboard").iterdir())
    matches = json.loads((finished / "evaluation.json").read_text())["matches"]
    assert len(matches) == len(Settings().evaluation.against)
    readme = (finished / "model" / "README.md").read_text()
    for text in (card["rules"], card["weights_sha256"], card["version"], "640 decisions", "seed"):
        assert text in readme
    for match in matches:
        assert f"| `{match['opponent']}` | {match['margin']:+.2f} | " in readme
    assert not list(finished.rglob("*.part"))
    assert not [path for path in finished.rglob("*") if path.suffix in (".pkl", ".zip", ".pt", ".pth")]


def test_a_curve_of_single_deals_is_kept_without_bounds(tmp_path: Path) -> None:
    write_curve(tmp_path, [CurvePoint(1.5, 0, {"greedy": [2.0, -math.inf, math.inf]})], Rules.preset("krypkasino"))
    kept = json.loads((tmp_path / "curve.json").read_text())
    point = {"seconds": 1.5, "frames": 0, "margins": {"greedy": [2.0, None, None]}}
    assert kept == {"rules": str(Rules.preset("krypkasino")), "points": [point]}


@pytest.mark.usefixtures("no_pictures")
def test_the_same_settings_make_the_same_weights_and_another_seed_others(finished: Path, tmp_path: Path) -> None:
    train(Settings.of(out=str(tmp_path / "again"), **SMALL), quiet=True)
    first, again = (load_model(folder / "model")[0] for folder in (finished, tmp_path / "again"))
    assert all((first[name] == again[name]).all() for name in first)
    one, other = (open_training(Settings.of(out=str(tmp_path / "x"), **SMALL, seed=seed)).model for seed in (0, 1))
    assert not torch.equal(one.network.state_dict()["read.weight"], other.network.state_dict()["read.weight"])
    assert (one.parts[0].observation != other.parts[0].observation).any()


@pytest.mark.parametrize(
    "fields",
    [
        {"players": 6, "teams": 3, "envs": 0, "rule": ("games=2",), "dense": False},
        {"rules": "howto", "players": 3, "opponent_envs": 0, "reward": "win"},
        {"reward": "win", "dense": False, "critic": False, "kl_coef": 0.0, "snapshots": 0, "opponents": ()},
        {"also": ("krypkasino players=3", "krypkasino players=4 teams=2")},
        {"demonstrations": 2, "teacher": "rollout(worlds=1)", "critic": False, "also": ("krypkasino players=3",)},
    ],
    ids=str,
)
@pytest.mark.usefixtures("no_pictures")
def test_other_rules_and_settings_train_too(tmp_path: Path, fields: dict[str, Any]) -> None:
    """A few updates, with opponents, snapshots and a resumed checkpoint."""
    trains(tmp_path, against=("random",), **fields)


@pytest.mark.parametrize(
    "fields",
    [{"rules": "kasino-finland", "players": 4, "teams": 2}, {"rules": "laistokasino"}, {"rules": "mulle-glimne"}],
    ids=str,
)
@pytest.mark.usefixtures("no_pictures")
def test_kasino_and_mulle_train_and_meet_their_ladder(tmp_path: Path, fields: dict[str, Any]) -> None:
    results = trains(tmp_path, **fields)
    assert [result.opponent for result in results] == list(OTHERS.against)


def trains(tmp_path: Path, **fields: Any) -> list[MatchResult]:
    """Assert that a short run changes all weights and leaves a model that plays its rules; return its evaluation.

    Of demonstrations there is a file for each of its rules.
    """
    folder = tmp_path / "run"
    settings = Settings.of(out=str(folder), **{**SMALL, "frames": 200, **fields})
    before = {name: value.clone() for name, value in open_training(settings).model.network.state_dict().items()}
    results = train(settings, quiet=True)
    again = open_training(Settings(resume=str(folder)))
    assert again.done == 1
    after = again.model.network.state_dict()
    assert all(torch.isfinite(value).all() for value in after.values())
    changed = [name for name in after if not torch.equal(before[name], after[name])]
    assert changed == list(after)
    card = json.loads((folder / "model" / "model.json").read_text())
    assert card["rules"] == str(settings.game_rules())
    for rules in settings.all_rules():
        assert agents.make(str(folder / "model"), rules).rules == rules
    files = len(settings.all_rules()) if settings.start.demonstrations else 0
    assert len(list((folder / "imitation").glob("demonstrations-*"))) == files
    return results


def test_parts_of_a_run_play_their_own_rules(tmp_path: Path) -> None:
    also = ("krypkasino players=3", "krypkasino players=4 teams=2")
    session = open_training(Settings.of(out=str(tmp_path / "run"), **SMALL, also=also))
    assert [str(part.rules) for part in session.model.parts] == [*["krypkasino players=2"] * 2, *also]
    decisions = session.model.decisions()
    assert decisions.hidden.shape == (8 * 4, 3 * 52)
    assert (decisions.hidden[:16, 52:] == 0).all()  # two players: there are no more hands
    held = decisions.hidden.reshape(32, 3, 52).sum(2)
    assert (held[16:24, :2] > 0).all()
    assert (held[24:] > 0).all()


def test_optimizer_and_snapshots_are_all_there(finished: Path) -> None:
    session = open_training(Settings(resume=str(finished)))
    states = session.model.policy.optimizer.state_dict()["state"]
    trained = [each for each in session.model.policy.parameters() if each.requires_grad]
    assert (
        len(states)
        == len(trained)
        == len(list(session.model.policy.parameters())) - len(list(session.model.policy.ema.parameters()))
    )
    assert all(float(state["step"]) > 0 for state in states.values())
    assert list(session.pool.snapshots) == ["update 3", "update 9"]
    assert abs(sum(weight for _, weight in session.pool.drawn) - 1) < 1e-9


def test_a_warm_start_begins_with_the_weights_of_a_model(finished: Path, tmp_path: Path) -> None:
    def begin(place: str, **fields: Any) -> TrainingRun:
        return open_training(Settings.of(out=str(tmp_path / place), **{**SMALL, **fields}))

    weights, model = tensors_of(load_model(finished / "model")[0]), str(finished / "model")
    policy = begin("one", init_from=model).model.policy
    for start in (policy.network, policy.ema):
        assert all(torch.equal(value, start.state_dict()[name]) for name, value in weights.items())
    cloned = make_policy(ImitationSettings(network=Network(16, 8, 4), seed=7))
    save_start(tmp_path / "start", cloned, Rules.preset())
    found = begin("two", init_from=str(tmp_path / "start")).model.policy.state_dict()
    assert all(torch.equal(value, found[name]) for name, value in cloned.state_dict().items())
    same, mulle = model_of(tmp_path, OVERSPADER), model_of(tmp_path, MULLE, 2)
    read = begin("three", rules="kasino-sweden", init_from=same).model.network.arrays()["read.weight"]
    assert (read == load_model(same)[0]["read.weight"]).all()
    for wrong, reason in (
        ({"init_from": model, "card": 9}, "the settings ask for"),
        ({"init_from": mulle, "rules": "kasino-sweden"}, "start from a model of the same game"),
        ({"init_from": str(tmp_path / "nothing")}, "is no model"),
    ):
        with pytest.raises(ValueError, match=reason):
            begin("four", **wrong)
    assert not (tmp_path / "four").exists()


def test_bad_settings_and_folders_are_refused(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for fields, reason in (
        ({"envs": 0, "opponent_envs": 0}, "envs and opponent_envs can't both be 0"),
        ({"players": 9}, "not played by 9 players"),
        ({"rules": "krypcasino"}, "unknown preset"),
        ({"also": ("krypkasino players=9",)}, "not played by 9 players"),
        ({"reward": "money"}, "unknown reward"),
        ({"device": "abacus"}, "device is auto, cpu or cuda"),
        ({"against": ()}, "at least one opponent"),
        ({"init_from": "model", "demonstrations": 5}, "init_from and demonstrations are two ways to begin"),
    ):
        with pytest.raises(ValueError, match=reason):
            Settings.of(**{"preset": "", **fields})
    with pytest.raises(ValueError, match="is not empty"):
        open_training(Settings(out=str(finished)))
    with pytest.raises(ValueError, match="no run to resume"):
        open_training(Settings(resume=str(tmp_path)))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for fields, reason in (
        ({"opponents": ("tactican",)}, "unknown agent"),
        ({"demonstrations": 4, "teacher": "tactician"}, "can't teach"),
        ({"device": "cuda"}, r"^device is cuda, and torch finds no CUDA here; give cpu, or auto for "),
    ):
        with pytest.raises(ValueError, match=reason):
            train(Settings.of(**{**SMALL, "out": str(tmp_path / "other"), **fields}))
        assert not (tmp_path / "other").exists()


@pytest.mark.usefixtures("no_pictures")
def test_a_training_gives_torch_its_threads_back(tmp_path: Path) -> None:
    before, nothing = torch.get_num_threads(), str(tmp_path / "nothing")
    torch.set_num_threads(3)
    try:
        train(Settings.of(**{**SMALL, "frames": 64}, out=str(tmp_path / "run")), quiet=True)
        assert torch.get_num_threads() == 3
        with pytest.raises(ValueError, match="is no model"):
            train(Settings.of(**SMALL, out=str(tmp_path / "other"), init_from=nothing))
        assert torch.get_num_threads() == 3
        with pytest.raises(ValueError, match="is no model"):
            run_imitation(ImitationSettings(out=str(tmp_path / "start"), init_from=nothing))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


# ---------------------------------------------------------------------- Kasino and Mulle


def model_of(folder: Path, rules: Rules, seed: int = 1) -> str:
    """A model folder of an untrained network."""
    return str(save_model(folder / f"model-{seed}", some_arrays(Shape(16, 8, 4), seed, inputs_of(rules)), rules))


def test_little_training_beats_random_and_plays_for_many_points(tmp_path: Path) -> None:
    few = {
        **SMALL,
        "envs": 128,
        "opponent_envs": 32,
        "steps": 16,
        "frames": 30_000,
        "batch": 256,
        "learning_rate": 3e-3,
    }
    train(Settings.of(out=str(tmp_path / "run"), rules="kasino-sweden", **few), quiet=True)
    player, untrained = (  # the networks alone
        agents.make(f"learned(model={model!r}, solver=False)", SWEDEN)
        for model in (str(tmp_path / "run" / "model"), model_of(tmp_path, SWEDEN))
    )
    assert duplicate_match(player, "random", SWEDEN, deals=200, seed=1).low > 1
    assert duplicate_match(player, untrained, SWEDEN, deals=200, seed=1).low > 1


def test_the_agents_around_a_learner_follow_from_the_rules() -> None:
    main, its = Settings.of(), Settings.of(rules="mulle", players=4, teams=2)
    assert main.games.opponents == KRYPKASINO.opponents
    assert main.start.demonstrations > 0
    assert its.games.opponents == OTHERS.opponents
    assert its.evaluation.against == OTHERS.against
    assert its.start.demonstrations > 0
    assert its.ppo.gamma > main.ppo.gamma
    hard = Settings.of(rules="mulle", preset="strong")
    assert hard.games.opponents == OTHERS.hard_opponents
    assert hard.length.frames == Settings.of(preset="strong").length.frames
    given = Settings.of(rules="mulle", opponents=("random",), against=("random",), gamma=0.5)
    assert (given.games.opponents, given.evaluation.against, given.ppo.gamma) == (("random",), ("random",), 0.5)


def test_one_network_learns_games_that_show_the_same(tmp_path: Path) -> None:
    also = ("overspader players=2",)
    session = open_training(Settings.of(out=str(tmp_path / "run"), rules="kasino-sweden", **SMALL, also=also))
    session.write_model("krypenv train")
    for rules in (SWEDEN, OVERSPADER):
        assert agents.make(str(tmp_path / "run" / "model"), rules).rules == rules
    for other in ("mulle players=2", "krypkasino players=2"):
        with pytest.raises(ValueError, match=r"one network can't learn 'kasino-sweden players=2' and '.*'"):
            Settings.of(rules="kasino-sweden", also=(other,))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fills_what_is_not_given_and_nothing_else(preset: str) -> None:
    assert Settings.of(preset=preset).flat() == {**Settings().flat(), **PRESETS[preset], "preset": preset}
    assert Settings.of(preset=preset, frames=7, card=3, envs=1) == Settings().changed(
        **{**PRESETS[preset], "preset": preset, "frames": 7, "card": 3, "envs": 1}
    )


def test_a_length_in_minutes_and_a_warm_start_are_heard() -> None:
    """They would be silently lost, or refused, beside the preset's own length and demonstrations."""
    settings = Settings.of(preset="quick", minutes=1.0, init_from="model")
    assert settings.length == Length(minutes=1.0, frames=0)
    assert (settings.start.init_from, settings.start.demonstrations) == ("model", 0)
    assert Settings.of(preset="quick", minutes=1.0, frames=9).length.frames == 9
    assert Settings.of() == Settings.of(preset="quick")


def test_the_command_line_asks_for_a_preset_and_what_differs_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Settings] = []
    monkeypatch.setattr(selfplay, "train", seen.append)
    strong = "--preset", "strong", "--set", "card=64", "--opponents", "greedy"  # 64 is the default: given all the same
    for words in ((), strong):
        assert krypenv("train", *words).exit_code == 0
    assert seen == [Settings.of(), Settings.of(preset="strong", card=64, opponents=("greedy",))]
    done = krypenv("train", "--preset", "slow")
    assert (done.exit_code, done.stderr) == (2, "krypenv: preset is quick, good, strong or not given, not 'slow'\n")
