"""Runs: their folder, checkpoints and resuming, models on disk, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from krypenv import Engine, Rules, agents
from krypenv.agents.model_file import ModelError, load_model, save_model
from krypenv.agents.network import CardNetwork, Shape
from krypenv.cards import NUM_ACTIONS
from krypenv.training.checkpoint import read_progress
from krypenv.training.selfplay import open_run, run
from krypenv.training.settings import Settings

SMALL = {
    "rows": 16, "rival_rows": 8, "steps": 8, "batch": 128, "epochs": 1, "frames": 2000, "curve_deals": 2, "deals": 4,
    "curve_every": 1e9, "context": 16, "card": 8, "snapshot_every": 0.3, "snapshots": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "small"
    results = run(Settings(out=str(folder), **SMALL), command="krypenv train --frames 2000")
    assert [result.opponent for result in results] == ["random", "greedy", "tactician"]
    return folder


def test_a_run_leaves_model_log_picture_and_evaluation(finished: Path) -> None:
    card = json.loads((finished / "model" / "model.json").read_text())
    assert card["rules"] == "krypkasino players=2"
    assert card["command"] == "krypenv train --frames 2000"
    assert card["frames"] >= 2000
    assert set(card) >= {"seed", "commit", "observation_version", "network", "settings", "seconds"}
    assert (finished / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert any((finished / "tensorboard").iterdir())
    assert len(json.loads((finished / "evaluation.json").read_text())["matches"]) == 3
    assert not list(finished.rglob("*.part"))
    assert not [path for path in finished.rglob("*") if path.suffix in (".pkl", ".zip", ".pt", ".pth")]


def test_the_model_is_an_agent_by_its_path(finished: Path) -> None:
    rules = Rules.preset()
    agent = agents.make(str(finished / "model"), rules)
    engine = Engine(rules, 64, seed=1, features=True)
    base = Engine(rules, 64, seed=1)
    for _ in range(120):
        actions = agent.act(engine.observation, engine.action_mask)
        assert (actions == agent.act(base.observation, base.action_mask)).all()
        engine.step(actions)
        base.step(actions)


def test_training_is_reproducible(tmp_path: Path) -> None:
    weights = []
    for name in ("one", "two"):
        run(Settings(out=str(tmp_path / name), **SMALL))
        weights.append((tmp_path / name / "model" / "weights.safetensors").read_bytes())
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    "fields", [{"players": 4, "teams": 2}, {"players": 3, "rules": "howto"}, {"rule": ("games=2",)}]
)
def test_other_rules_train_too(tmp_path: Path, fields: dict[str, object]) -> None:
    run(Settings(out=str(tmp_path / "run"), **{**SMALL, "frames": 500, **fields}))  # type: ignore[arg-type]


def test_resume_goes_on_from_the_checkpoint(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    session = open_run(Settings(out=str(folder), **{**SMALL, "frames": 4000}))
    session.model.num_timesteps, session.model.games_played = 1500, 12
    session.save()
    again = open_run(Settings(resume=str(folder)))
    assert again.settings == session.settings
    assert (again.model.num_timesteps, again.model.games_played) == (1500, 12)
    assert 0.3 < again.done < 0.5
    for old, new in zip(session.model.network.parameters(), again.model.network.parameters(), strict=True):
        assert torch.equal(old, new)
    run(Settings(resume=str(folder)))
    assert read_progress(folder)["frames"] >= 4000
    assert read_progress(folder)["resumes"] == 1


def test_resume_restores_optimizer_and_snapshots(finished: Path) -> None:
    session = open_run(Settings(resume=str(finished)))
    states = session.model.policy.optimizer.state_dict()["state"]
    assert len(states) == len(list(session.model.policy.parameters()))
    assert all(float(state["step"]) > 0 for state in states.values())
    assert len(session.snapshots) == 2


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "krypenv.training.cli", "train", "--out", str(folder), "--checkpoint-every", "0.2"]
    for name, value in {**SMALL, "frames": 10**9, "minutes": 5.0}.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
    try:
        deadline = time.monotonic() + 120
        while not (folder / "checkpoint.safetensors").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    frames = read_progress(folder)["frames"]
    session = open_run(Settings(resume=str(folder)))
    assert session.model.num_timesteps == frames > 0


def test_bad_settings_and_folders_are_refused(finished: Path, tmp_path: Path) -> None:
    for fields, reason in (
        ({"steps": 0}, "steps is at least 1"),
        ({"rows": -1}, "rows is at least 0"),
        ({"rows": 0, "rival_rows": 0}, "rows and rival_rows are not both 0"),
        ({"minutes": 0.0}, "minutes is above 0"),
        ({"discount": 1.5}, "discount is from 0 to 1"),
        ({"players": 9}, "not played by 9 players"),
        ({"rules": "krypcasino"}, "unknown preset"),
        ({"reward": "money"}, "unknown reward"),
        ({"device": "abacus"}, "device is auto, cpu or cuda"),
        ({"against": ()}, "at least one opponent"),
    ):
        with pytest.raises(ValueError, match=reason):
            Settings(**fields)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is not empty"):
        open_run(Settings(out=str(finished)))
    with pytest.raises(ValueError, match="no run to go on with"):
        open_run(Settings(resume=str(tmp_path)))
    with pytest.raises(ValueError, match="unknown agent"):
        run(Settings(out=str(tmp_path / "other"), **{**SMALL, "rivals": ("tactican",)}))  # type: ignore[arg-type]
    assert not (tmp_path / "other").exists()


def test_a_torn_checkpoint_is_refused(finished: Path, tmp_path: Path) -> None:
    data = (finished / "checkpoint.safetensors").read_bytes()
    (tmp_path / "checkpoint.safetensors").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="torn or not a checkpoint"):
        read_progress(tmp_path)


class TestModelFiles:
    """A model is a folder of weights and JSON; whatever is wrong with it is told in one sentence."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        return save_model(tmp_path / "model", CardNetwork(Shape(16, 8, 4)), Rules.preset(), seed=3)

    def test_round_trip(self, folder: Path) -> None:
        torch.manual_seed(0)
        network = CardNetwork(Shape(16, 8, 4))
        save_model(folder, network, Rules.preset(), seed=5)
        loaded, card = load_model(folder)
        assert card["seed"] == 5
        for name, tensor in network.state_dict().items():
            assert torch.equal(tensor, loaded.state_dict()[name])

    def test_tampered_weights_are_refused(self, folder: Path) -> None:
        data = bytearray((folder / "weights.safetensors").read_bytes())
        data[-1] ^= 1
        (folder / "weights.safetensors").write_bytes(bytes(data))
        with pytest.raises(ModelError, match=r"torn or was changed"):
            load_model(folder)

    def test_a_pickle_is_not_executed(self, folder: Path, tmp_path: Path) -> None:
        trap = tmp_path / "trapped"
        payload = b"cos\nsystem\n(S'touch " + str(trap).encode() + b"'\ntR."
        (folder / "weights.safetensors").write_bytes(payload)
        card = json.loads((folder / "model.json").read_text())
        import hashlib

        card["weights_sha256"] = hashlib.sha256(payload).hexdigest()
        (folder / "model.json").write_text(json.dumps(card))
        with pytest.raises(ModelError, match="don't fit"):
            load_model(folder)
        assert not trap.exists()

    @pytest.mark.parametrize(
        ("key", "value", "reason"),
        [
            ("observation_version", 0, "observations of version 0"),
            ("format", 99, "format 99"),
            ("network", {"context": 32, "card": 8, "embedding": 4}, "don't fit"),
            ("network", {"layers": 3}, "don't fit"),
        ],
    )
    def test_another_version_is_refused(self, folder: Path, key: str, value: object, reason: str) -> None:
        card = json.loads((folder / "model.json").read_text())
        (folder / "model.json").write_text(json.dumps({**card, key: value}))
        with pytest.raises(ModelError, match=reason):
            load_model(folder)

    def test_other_rules_are_refused(self, folder: Path) -> None:
        assert agents.make(str(folder), Rules.preset(games=4)).rules.games == 4
        for rules in (Rules.preset(players=3), Rules.preset("howto"), Rules.preset(last_capture_points=1)):
            with pytest.raises(ModelError, match=r"was trained for 'krypkasino players=2' and can't play"):
                agents.make(str(folder), rules)

    def test_no_model_and_no_json_are_refused(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="no model"):
            agents.make(str(tmp_path / "nothing"), Rules.preset())
        (folder / "model.json").write_text("{")
        with pytest.raises(ModelError, match="is not JSON"):
            load_model(folder)


def test_the_network_scores_legal_actions_only() -> None:
    """Different masks in each row: no row's scores depend on another's."""
    torch.manual_seed(1)
    network = CardNetwork(Shape(16, 8, 4))
    engine = Engine(Rules.preset(), 200, seed=5, features=True)
    for _ in range(37):
        engine.step(engine.sample_actions())
    observations, masks = torch.from_numpy(engine.observation.copy()), torch.from_numpy(engine.action_mask.copy())
    scores = network(observations, masks)
    legal = scores.logits > -1e8
    assert (legal.sum(1) == masks.sum(1)).all()
    assert (masks.gather(1, scores.actions)[legal] == 1).all()
    for row in range(0, 200, 23):
        alone = network(observations[row : row + 1], masks[row : row + 1])
        together = dict(zip(scores.actions[row].tolist(), scores.logits[row].tolist(), strict=True))
        for action, logit in zip(alone.actions[0].tolist(), alone.logits[0].tolist(), strict=True):
            assert abs(together[action] - logit) < 1e-5
        assert abs(float((alone.values[0] - scores.values[row]).detach())) < 1e-5
    assert scores.actions.max() < NUM_ACTIONS
    assert np.isfinite(scores.values.detach().numpy()).all()
