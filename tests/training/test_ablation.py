"""Ablations: which runs are made, the interquartile mean and its interval, and model cards."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from make_pictures import PAGES_OF as DOCS
from make_pictures import draw_ablation

from krypenv.agents.champion import MODELS
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.arena.model_card import limits_of, model_card
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.evaluation.matches.margins import margin_cells
from krypenv.training.learn.selfplay.settings import Settings
from krypenv.training.research.ablation import ablating
from krypenv.training.research.ablation import settings as of_settings
from krypenv.training.research.ablation.ablating import ablate, measure_variant
from krypenv.training.research.ablation.interquartile import (
    Crossed,
    interquartile_gain,
    interquartile_margin,
    p_value,
    summarize,
)
from krypenv.training.research.ablation.presets import TOGETHER, Row, head_to_head, rows_of, sentence
from krypenv.training.research.ablation.settings import ALL, VARIANTS, AblationSettings

TINY = {
    "envs": 16,
    "opponent_envs": 8,
    "steps": 8,
    "curve_every": 1e9,
    "deals": 1,
    "curve_deals": 1,
    "metagame_deals": 1,
}


def test_the_interquartile_gain_leaves_out_the_outer_quarters() -> None:
    scores, whole = [[11.0, 12.0, 110.0, 13.0], [-50.0, 4.0, 5.0, 6.0]], [[9.0, 11.0], [0.0, 0.0]]
    gain, low, high = interquartile_gain(scores, whole)
    assert gain == pytest.approx((2 + 3 + 4 + 5) / 4)
    assert low is not None
    assert high is not None
    assert low <= gain <= high
    assert interquartile_gain([[2.0] * 4, [3.0] * 4], [[1.0] * 3, [2.0] * 3]) == (1.0, 1.0, 1.0)
    assert interquartile_gain([[1.0], [3.0]], [[1.0], [1.0]]) == (1.0, None, None)


def test_the_interval_of_normal_runs_covers_their_gain() -> None:
    """Opponents of unlike strength, runs of like noise: the gain is 1 whatever the opponent."""
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(60):
        scores, whole = ([random.normal(mean + gain, 2, 12).tolist() for mean in (18, 11, -2)] for gain in (1, 0))
        _, low, high = interquartile_gain(scores, whole)
        assert low is not None
        assert high is not None
        covered += low <= 1 <= high
    assert covered >= 50  # of 60 intervals of 95%, by a bootstrap of 12 runs a task


def test_the_stored_ablation_is_that_of_the_page_and_of_its_picture(tmp_path: Path) -> None:
    """The names are today's, and the picture is drawn from the figures of the page."""
    stored = json.loads((DOCS / "results" / "ablation.json").read_text(encoding="utf-8"))
    page = (DOCS / "results" / "training.md").read_text(encoding="utf-8")
    assert list(stored["variants"]) == list(VARIANTS)
    assert f"\n{stored['command']}\n" in page
    for name, each in stored["variants"].items():
        if each["gain"] is not None:
            cells = " | ".join(margin_cells(each["gain"], each["low"], each["high"], 1))
            assert re.search(rf"^\| {name} \|.* \| {re.escape(cells)} \|$", page, re.MULTILINE)
    draw_ablation(tmp_path / "ablation.png")
    for path in (tmp_path / "ablation.png", DOCS / "ablation.png"):
        assert "; ".join(VARIANTS).encode() in path.read_bytes()


def test_every_variant_is_a_valid_run_that_differs_from_the_whole() -> None:
    whole = Settings().changed(init_from="demonstrations")
    for variant, fields in VARIANTS.items():
        assert (whole.changed(**fields) == whole) == (variant == ALL)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"seeds": 0}, "seeds is at least 1"),
        ({"only": ("no luck",)}, "no variant 'no luck'"),
        ({"against": ()}, "at least one"),
    ],
)
def test_bad_settings_are_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        AblationSettings.of(**fields)


@pytest.mark.parametrize("rules", ["krypkasino", "mulle", "kasino-finland players=4 teams=2 goal=low"])
def test_runs_and_opponents_are_those_of_a_training_under_the_same_rules(rules: str) -> None:
    settings = AblationSettings.of(rules=rules)
    its, trained = settings.of_run(ALL, 0), Settings.of(rules=rules, preset="strong")
    assert its.ppo == Settings.of(rules=rules).ppo
    assert its.games.opponents == Settings.of(rules=rules).games.opponents
    assert settings.evaluation.against == trained.evaluation.against
    assert AblationSettings.of(rules=rules, against=("random",)).evaluation.against == ("random",)


def test_summaries_keep_tasks_apart() -> None:
    summary = summarize({"a": [{"x": 1.0, "y": 5.0}, {"x": 2.0, "y": 6.0}], "b": [{"x": 3.0, "y": 9.0}] * 2})
    assert summary["a"] == {"margins": {"x": [1.0, 2.0], "y": [5.0, 6.0]}, "gain": None, "low": None, "high": None}
    assert summary["b"]["margins"] == {"x": [3.0, 3.0], "y": [9.0, 9.0]}
    assert summary["b"]["gain"] == pytest.approx((1.5 + 3.5) / 2)


def test_luck_is_taken_out_of_the_margin_and_the_raw_one_kept() -> None:
    raw = measure_variant("tactician", "krypkasino", "greedy", 5)
    both = measure_variant("tactician", "krypkasino", "greedy", 5, "on")
    found = duplicate_match("tactician", "greedy", Rules.preset(), 5, deals_from="dev", luck="on")
    assert (raw, both) == (found.margin, {"raw": found.margin, "adjusted": found.adjusted.margin})
    assert [ablating._pick(played, "raw") for played in (raw, both)] == [found.margin] * 2
    assert [ablating._pick(played, "adjusted") for played in (raw, both)] == [found.margin, found.adjusted.margin]


def test_gains_are_told_with_luck_taken_out_and_left_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = AblationSettings.of(out=str(tmp_path), against=("greedy",), only=("no imitation",))
    margins = {ALL: [{"greedy": 2.0}, {"greedy": 4.0}], "no imitation": [{"greedy": 1.5}] * 2}
    raw = {ALL: [{"greedy": 9.0}, {"greedy": 9.0}], "no imitation": [{"greedy": 8.0}] * 2}
    told = ablating._tell(settings, margins, raw)["variants"]
    assert told["no imitation"] == {**summarize(margins)["no imitation"], "raw": summarize(raw)["no imitation"]}
    assert json.loads((tmp_path / "ablation.json").read_text())["variants"] == told
    out = capsys.readouterr().out
    assert "-1.5" in out
    assert "-1.0" in out
    assert "raw" not in ablating._tell(settings, margins, None)["variants"][ALL]


@pytest.fixture(scope="module", params=["krypkasino", "kasino-sweden"])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ablation")
    settings = AblationSettings.of(
        rules=request.param, out=str(out), seeds=2, frames=400, games=2, bc_epochs=1, workers=1, deals=2,
        against=("tactician",),
        only=("no imitation",), context=16, card=8,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_settings, "WHOLE", TINY)
        ablate(settings)
        done = {path: path.stat().st_mtime_ns for path in out.rglob("model.json")}
        ablate(settings)
        ablate(settings.changed(against=("tactician", "greedy"), luck="on"))
        with pytest.raises(ValueError, match="holds an ablation with frames 400, not 500; give another --out"):
            ablate(settings.changed(frames=500))
    assert done == {path: path.stat().st_mtime_ns for path in out.rglob("model.json")}, "finished runs are left alone"
    assert len(done) == 5  # two variants with two seeds each, and the demonstrations
    return out


@pytest.mark.slow
def test_an_ablation_leaves_figures_and_a_picture(finished: Path) -> None:
    result = json.loads((finished / "ablation.json").read_text())
    assert set(result["variants"]) == {ALL, "no imitation"}
    for variant in result["variants"].values():
        assert len(variant["margins"]["tactician"]) == len(variant["margins"]["greedy"]) == 2
        assert variant["raw"]["margins"]["greedy"] != variant["margins"]["greedy"]
    without = result["variants"]["no imitation"]
    assert without["low"] <= without["gain"] <= without["high"]
    assert result["variants"][ALL]["gain"] is None
    assert (finished / "ablation.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_model_card_says_how_the_model_was_made_and_how_it_does(finished: Path, tmp_path: Path) -> None:
    model = next((finished / "runs").glob("*/model"))
    facts = json.loads((model / "model.json").read_text())
    rules = Rules.parse(facts["rules"])
    run_arena(ArenaSettings((str(model), "greedy", "random"), rules, tmp_path / "arena", deals=4))
    text = model_card(model, tmp_path / "arena", [], "A small model")
    for part in (
        "# A small model",
        facts["weights_sha256"],
        facts["rules"],
        "`greedy`",
        "`random`",
        "Not measured",
    ):
        assert part in text
    run_arena(ArenaSettings(("greedy", "random"), rules, tmp_path / "other", deals=2))
    with pytest.raises(ValueError, match="did not play in the arena"):
        model_card(model, tmp_path / "other", [], "A small model")
    (tmp_path / "torn.json").write_text("{")
    with pytest.raises(ValueError, match="is not what krypenv exploit --json writes"):
        model_card(model, tmp_path / "arena", [tmp_path / "torn.json"], "A small model")


@pytest.mark.parametrize("name", [path.stem for path in sorted((DOCS / "models").glob("*.md"))])
def test_the_cards_of_the_docs_are_those_of_the_models(name: str) -> None:
    text = (DOCS / "models" / f"{name}.md").read_text(encoding="utf-8")
    facts = json.loads((MODELS / name / "model.json").read_text(encoding="utf-8"))
    sections = [line for line in text.splitlines() if line.startswith("## ")]
    assert sections == ["## Training", "## Results", "## Exploitability", "## Limits"]
    assert text.endswith(f"\n\n## Limits\n\n{limits_of(facts)}\n")
    command = next(line for line in text.splitlines() if line.startswith("| command |")).split("`")[1]
    assert command == facts["command"]
    assert facts["weights_sha256"] in text
