"""The coefficients of luck: those of least variance, for each of the fitted rules and for all others."""

import json
from pathlib import Path

import numpy as np
import pytest

from krypenv import Rules
from krypenv.training.evaluation.luck import control
from krypenv.training.evaluation.luck.control import control_of
from krypenv.training.research import coefficients
from krypenv.training.research.coefficients import Sample, fit, fit_default, fitted_rules, main

MAIN = Rules.preset("krypkasino")
RULES = [Rules.parse(text) for text in ("mini-low", "krypkasino", "krypkasino players=3")]


def sample(share: float, size: float, deals: int, noise: float = 0.0) -> Sample:
    """Deals whose margins are a share of the tactician's luck, of some size, and noise."""
    random = np.random.default_rng(deals)
    luck = random.normal(1, size, (deals, 2))
    return Sample(share * luck[:, 0] + noise * random.normal(3, size, deals), luck)


def test_the_fit_finds_the_share_of_luck() -> None:
    shares, saved = fit(sample(0.5, 3.0, 4000, noise=0.5))
    assert shares == pytest.approx([0.5, 0], abs=0.03)
    assert saved == pytest.approx(2, abs=0.15)


def test_the_default_leaves_the_least_share_of_the_variance_in_the_mean_over_the_rules() -> None:
    samples = [sample(0.3, 1.0, 100, 0.2), sample(0.6, 20.0, 500, 0.4), sample(0.2, 4.0, 300, 0.8)]

    def left(share: float) -> float:
        return float(np.mean([(each.margins - share * each.luck[:, 0]).var() / each.margins.var() for each in samples]))

    (share,), saved = fit_default(samples)
    assert share == pytest.approx(min(np.arange(0, 1, 0.01), key=left))
    assert saved == pytest.approx(1 / left(share))


def test_all_rules_count_the_same_for_the_default_whatever_their_points_and_deals() -> None:
    for size, deals in ((1.0, 50), (30.0, 50), (1.0, 2000)):
        (share,), _ = fit_default([sample(0.5, size, deals), sample(0.25, 1.0, 50)])
        assert share == pytest.approx(0.3, abs=0.03)  # (1 / 0.5 + 1 / 0.25) / (1 / 0.5^2 + 1 / 0.25^2)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that a fit of three rule sets writes."""
    monkeypatch.setattr(coefficients, "fitted_rules", lambda: RULES)
    monkeypatch.setattr(coefficients, "COEFFICIENTS", tmp_path / "coefficients.json")
    return tmp_path / "coefficients.json"


def test_a_fit_of_all_rules_stores_the_default_with_how_it_was_fitted(file: Path) -> None:
    main(games=48)
    found = json.loads(file.read_text())
    samples = [coefficients.play(rules, 48 // rules.num_teams) for rules in RULES]
    (share,), saved = fit_default([each for _, each in samples])
    assert found["default"] == {
        "shares": {"tactician": share}, "pooled": list(map(str, RULES)), "games": 48, "seed": coefficients.SEED,
        "saved": round(saved, 2),
    }  # fmt: skip
    for rules, (names, each) in zip(RULES, samples, strict=True):
        assert found["rules"][str(rules)]["shares"] == dict(zip(names, fit(each)[0], strict=True))
    assert found["rules"].keys() == control.stored()["rules"].keys() | set(map(str, RULES))


def test_a_fit_of_some_rules_leaves_the_others_and_the_default(file: Path) -> None:
    main("mini-low", 24)
    found, before = json.loads(file.read_text()), control.stored()
    assert found["rules"].pop(str(RULES[0]))["deals"] == 12
    assert found == before


def test_every_stored_coefficient_is_of_rules_that_are_fitted() -> None:
    entries = control.stored()["rules"]
    assert set(entries) <= set(map(str, fitted_rules()))
    for text, entry in entries.items():
        assert control_of(Rules.parse(text)).shares == {k: v for k, v in entry["shares"].items() if v}
        assert all(0 <= share <= 1.2 for share in entry["shares"].values())
    assert control_of(Rules.parse("krypkasino games=3")) == control_of(MAIN)
    assert control_of(Rules.parse("mini-low")).shares == control.stored()["default"]["shares"]
