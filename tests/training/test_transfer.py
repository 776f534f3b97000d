"""The study of transfer: what is kept of a network, when a curve reaches a margin, and an answer in small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.sampled import TWO

from krypenv.agents.neural.network import ILLEGAL
from krypenv.training.lab.self_play import SelfPlay
from krypenv.training.lab.studying import FIGURE, Setup, run_study
from krypenv.training.research.misere import transfer
from krypenv.training.research.misere.transfer import ARMS, LAST_LAYERS, SCRATCH, Arm

LOW, HIGH = "Krypkasino, low", "Krypkasino, high"
RUNS = 2


@pytest.fixture
def in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two trainings of a few decisions in one game, from two kinds of networks."""
    pairs = (transfer.Pair(LOW, HIGH, ("all weights", "all but both heads"), runs=RUNS),)
    for name, value in (("UPDATES", (0, 1)), ("GAMES", 4), ("PAIRS", pairs)):
        monkeypatch.setattr(transfer, name, value)


def learners() -> tuple[SelfPlay, SelfPlay]:
    """Two learners with other random weights."""
    return SelfPlay(TWO, 1, 1, 4), SelfPlay(TWO, 2, 1, 4)


@pytest.mark.parametrize("arm", ARMS)
def test_what_is_kept_comes_from_the_other_network_and_the_rest_is_fresh(arm: str) -> None:
    source, learner = learners()
    other, fresh = source.weights(), learner.weights()
    learner.start_from(ARMS[arm].of(other))
    for name, weight in learner.weights().items():
        is_kept, is_negated = name.startswith(ARMS[arm].layers), ARMS[arm].negates and name.startswith(LAST_LAYERS)
        expected = other[name] if is_kept else fresh[name]
        assert torch.equal(weight, -expected if is_negated else expected), name
    ema = learner.model.policy.ema.state_dict()
    assert all(torch.equal(ema[name], weight) for name, weight in learner.network.state_dict().items())


def test_negated_outputs_turn_the_preferences_and_the_values_round() -> None:
    source, learner = learners()
    learner.start_from(ARMS["all weights, outputs negated"].of(source.weights()))
    position = source.model.decisions().tensors("cpu")
    theirs, own = (each.network(position.observations, position.choices) for each in (source, learner))
    legal = theirs.logits > ILLEGAL
    assert legal.sum() > len(legal)
    assert torch.allclose(own.logits[legal], -theirs.logits[legal], atol=1e-6)
    with torch.no_grad():  # values follow from what the policy prefers: compare what the critic says of one summary
        summary = torch.cat([theirs.summary, position.hidden.float()], 1)
        assert torch.allclose(learner.model.policy.critic(summary), -source.model.policy.critic(summary), atol=1e-6)


def test_a_training_depends_on_its_seed_alone() -> None:
    found = []
    for _ in range(2):
        learner = SelfPlay(TWO, 3, 2, 4)
        learner.play_to(2)
        found.append(learner.weights())
    start = SelfPlay(TWO, 3, 2, 4).weights()
    assert all(torch.equal(found[1][name], weight) for name, weight in found[0].items())
    assert not torch.equal(found[0]["network.read.weight"], start["network.read.weight"])


def test_a_margin_is_reached_between_two_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "UPDATES", (0, 1, 2, 4))
    curve, step = np.array([-10.0, 0.0, 10.0, 5.0]), transfer.GAMES * transfer.STEPS
    for level, updates in ((-12, 0), (-10, 0), (-5, 0.5), (0, 1), (9, 1.9), (11, 4)):
        assert transfer.crossing(curve, level) == pytest.approx(updates * step)


def made_up(margins: dict[str, list[float]]) -> dict[str, Any]:
    """Results of all trainings of one pair, which differ a little from run to run."""
    return {
        f"{label}: {arm} {run}": {"margins": [each + run / 100 for each in curve], "decisions of a game": 100.0}
        for label in (LOW, HIGH)
        for arm, curve in margins.items()
        for run in range(RUNS)
    }


def test_what_is_saved_follows_from_the_curves(in_small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "UPDATES", (0, 1, 2))
    monkeypatch.setattr(transfer, "GAMES", 256)
    results = made_up(
        {SCRATCH: [-20, 0, 0], "all weights": [-50.0, -40.0, -30.5], "all but both heads": [-20.0, 20.0, 20.0]}
    )
    found = transfer.answer(Setup(TWO, "tactician", 6), results)
    figures = found.figures[HIGH]
    assert figures["levels"] == pytest.approx([-2.0, -1.99])
    assert figures["needed"][SCRATCH] == pytest.approx([0.9 * 8192] * 2)
    assert figures["saved"]["all weights"]["mean"] == pytest.approx(0.9 * 8192 - 16_384)
    assert figures["saved"]["all but both heads"]["mean"] == pytest.approx((0.9 - 18 / 40) * 8192)
    assert figures["gained"]["all but both heads"]["mean"] == pytest.approx(20)
    assert figures["gained"]["all weights"]["mean"] == pytest.approx(-35.25)
    rows = {row[0]: row for row in found.rows}
    assert "reached by 0 of 2" in rows[f"{HIGH}: all weights"][5]
    assert f"{HIGH}: 7 from scratch (74 games); saved: all weights -9 (-9 to -9)" in found.sentence


def test_a_study_in_small(in_small: None, tmp_path: Path) -> None:
    found = run_study(transfer.STUDY, Setup(TWO, "tactician", 4), tmp_path, "krypenv study transfer")
    assert (tmp_path / FIGURE).read_bytes().startswith(b"\x89PNG")
    assert [row[0] for row in found.rows] == [
        f"{label}: {arm}" for label in (LOW, HIGH) for arm in (SCRATCH, "all weights", "all but both heads")
    ]
    margins = found.figures[HIGH]["margins"]
    source = transfer.learner("krypkasino", 0, 0)
    source.play_to(1)
    learner = transfer.learner("krypkasino goal=high", 0, 0)
    learner.start_from(Arm(("network.", "critic.")).of(source.weights()))
    seed = transfer.stream(0, 0, 2)
    assert transfer.measure(learner, 4, seed) == margins["all weights"][0][0]
    assert margins[SCRATCH][0] != margins[SCRATCH][1]  # the runs have seeds of their own
    again = run_study(transfer.STUDY, Setup(TWO, "tactician", 4), tmp_path, "krypenv study transfer")
    assert again.figures == found.figures
