"""Ablations: which runs are made, the interquartile mean and its interval, and model cards."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from make_pictures import PAGES_OF as DOCS
from make_pictures import draw_ablation, draw_trained
from scipy.stats import bootstrap, trim_mean, ttest_1samp, ttest_ind
from support.commands import krypenv

from krypenv.agents.champion import MODELS
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.arena.model_card import limits_of, model_card
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.evaluation.matches.margins import format_margin, holm
from krypenv.training.learn.selfplay.settings import PRESETS, Settings
from krypenv.training.research.ablation import ablating
from krypenv.training.research.ablation import settings as of_settings
from krypenv.training.research.ablation.ablating import Player, ablate, measure_variant
from krypenv.training.research.ablation.interquartile import (
    Crossed,
    interquartile_gain,
    interquartile_margin,
    p_value,
    summarize,
)
from krypenv.training.research.ablation.presets import HEAD_TO_HEAD, TOGETHER, Row, head_to_head, rows_of, sentence
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


def test_the_interquartile_mean_of_runs_leaves_out_the_outer_quarters() -> None:
    assert interquartile_margin([[1.0], [100.0], [2.0], [6.0], [-50.0]]).mean == pytest.approx((1 + 2 + 6) / 3)
    assert interquartile_margin([[0.0, 1.0], [2.0, 100.0]]).mean == pytest.approx((1 + 2) / 2)
    assert interquartile_margin([[3.0, 3.0]] * 4)[1:] == (3.0, 3.0, 3.0)
    assert interquartile_margin([[2.0]]) == Crossed([[2.0]], 2.0, None, None)


def test_the_interval_over_an_agent_is_that_of_a_bootstrap_over_runs() -> None:
    runs = np.random.default_rng(1).normal(10, 2, 20)
    by_scipy = bootstrap(
        (runs,), lambda each, axis: trim_mean(each, 0.25, axis=axis), method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    found = interquartile_margin(runs[:, None].tolist())
    assert (found.low, found.high) == pytest.approx(tuple(by_scipy), abs=0.1)


def width(found: Crossed) -> float:
    """The width of an interval."""
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def test_more_opponents_do_not_stand_in_for_more_runs() -> None:
    """Where all that differs is the runs, matches against many others tell no more than one of each run does."""
    runs = np.random.default_rng(3).normal(0, 1, (8, 1))
    for margins in (np.tile(runs, (1, 8)), np.tile(runs.T, (8, 1))):
        assert width(interquartile_margin(margins.tolist())) == pytest.approx(
            width(interquartile_margin(runs.tolist())), rel=0.2
        )


def test_p_values_are_those_of_t_tests() -> None:
    random = np.random.default_rng(4)
    one, other = random.normal(1, 1, 5), random.normal(0, 3, 4)
    assert p_value(one[:, None].tolist()) == pytest.approx(ttest_1samp(one, 0).pvalue)
    assert p_value(one[None, :].tolist()) == pytest.approx(ttest_1samp(one, 0).pvalue)
    by_welch = ttest_ind(one, other, equal_var=False).pvalue
    assert p_value((one[:, None] - other).tolist()) == pytest.approx(by_welch)
    assert [p_value(cells) for cells in ([[5.0]], [[0.0], [0.0]], [[1.0], [1.0]])] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("others", [1, 5])
def test_equal_trainings_are_seldom_told_apart(others: int) -> None:
    """Five runs, with noise of the runs and of the deals alike: of 200 tests at 5%, ten are expected to fail."""
    random, told = np.random.default_rng(5), 0
    for _ in range(200):
        runs, theirs = random.normal(0, 1, (5, 1)), random.normal(0, 1, others) * (others > 1)
        told += p_value((runs - theirs + random.normal(0, 1, (5, others))).tolist()) < 0.05
    assert told <= 19  # more has a probability below 1%


def test_bootstrap_intervals_of_five_runs_are_too_narrow_for_a_test() -> None:
    """Which is why p values are those of t tests: of 200 intervals of 95%, 190 would cover the truth."""
    random = np.random.default_rng(6)
    found = [interquartile_margin(random.normal(0, 1, (5, 1)).tolist()) for _ in range(200)]
    bounds = [(each.low, each.high) for each in found if each.low is not None and each.high is not None]
    assert 160 <= sum(low <= 0 <= high for low, high in bounds) <= 186


def test_the_stored_ablation_is_that_of_the_page_and_of_its_picture(tmp_path: Path) -> None:
    """The names are today's, and the picture is drawn from the figures of the page."""
    stored = json.loads((DOCS / "results" / "ablation.json").read_text(encoding="utf-8"))
    page = (DOCS / "results" / "training.md").read_text(encoding="utf-8")
    assert list(stored["variants"]) == list(VARIANTS)
    assert f"\n{stored['command']}\n" in page
    for name, each in stored["variants"].items():
        if each["gain"] is not None:
            gains = [format_margin(gain["gain"], gain["low"], gain["high"], 1) for gain in (each, each["raw"])]
            assert f"\n| {name} | {' | '.join(gains)} |\n" in page
    draw_ablation(tmp_path / "ablation.png")
    for path in (tmp_path / "ablation.png", DOCS / "ablation.png"):
        assert "; ".join(VARIANTS).encode() in path.read_bytes()


def test_the_stored_presets_are_told_and_drawn_as_today(tmp_path: Path) -> None:
    stored = json.loads((DOCS / "results" / "presets.json").read_text(encoding="utf-8"))
    rows = [
        Row(
            each["training"], each["against"],
            *(interquartile_margin(one["margins"]) for one in (each, each["raw"])), each["p"],
        )
        for each in stored["matches"]
    ]  # fmt: skip
    assert sentence(rows) == stored["answer"]
    assert [row.to_json() for row in rows] == stored["matches"]
    draw_trained(tmp_path / "presets.png")
    panels = "; ".join(dict.fromkeys(HEAD_TO_HEAD if row.p is not None else f"over {row.against}" for row in rows))
    for path in (tmp_path / "presets.png", DOCS / "presets.png"):
        assert panels.encode() in path.read_bytes()


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
        ({"preset": ("swift",)}, "there is no preset 'swift'; there are quick, good, strong"),
        ({"preset": ("quick",), "only": (ALL,)}, "^only is for variants of one training, and preset .*; give one$"),
        ({"preset": ("quick",), "frames": 5}, "^frames is for variants"),
        ({"beside": ("greedy",)}, "give at least one preset, too"),
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


def test_runs_of_presets_are_those_of_a_training() -> None:
    """Only what is measured on the way differs, and the number of processes; no weight depends on either."""
    its = AblationSettings.of(preset=("good",), out="o", rules="mulle", players=3).of_run("good", 2)
    trained = Settings.of(preset="good", seed=2, out="o/runs/good-2", rules="mulle", players=3)
    measured = {name: its.flat()[name] for name in ("curve_every", "curve_deals", "deals", "workers")}
    assert its == trained.changed(**measured)
    assert its.start.demonstrations == 4000


COMPARED = AblationSettings.of(preset=("good", "quick"), beside=("greedy",), against=("random", "tactician"), seeds=2)


def test_the_longer_training_is_the_first_of_a_pair() -> None:
    assert COMPARED.trainings == ["quick", "good"]
    assert head_to_head(COMPARED) == [("good", "quick"), ("greedy", "quick"), ("greedy", "good")]
    assert head_to_head(AblationSettings.of()) == []


def test_presets_are_told_by_opponent_and_together_and_head_to_head() -> None:
    margins = {
        ("quick", "random"): [[30.0], [34.0]],
        ("quick", "tactician"): [[10.0], [8.0]],
        ("good", "random"): [[32.0], [32.0]],
        ("good", "tactician"): [[11.0], [11.0]],
        ("good", "quick"): [[1.0, 2.0], [3.0, 2.0]],
        ("greedy", "quick"): [[-20.0, -20.1]],
        ("greedy", "good"): [[-25.0, -20.0]],
    }
    rows = {(row.training, row.against): row for row in rows_of(COMPARED, margins, None)}
    assert {pair: row.found.margins for pair, row in rows.items() if pair[1] != TOGETHER} == margins
    assert rows["quick", TOGETHER].found.margins == [[20.0], [21.0]]
    assert rows["good", TOGETHER].found.mean == pytest.approx(21.5)
    duels = head_to_head(COMPARED)
    assert [rows[pair].p for pair in duels] == pytest.approx(holm([p_value(margins[pair]) for pair in duels]))
    assert all(row.p is None for pair, row in rows.items() if pair not in duels)
    assert all(row.raw is None for row in rows.values())
    halved = {pair: (np.array(each) / 2).tolist() for pair, each in margins.items()}
    for row in rows_of(COMPARED, halved, margins):
        assert row.raw == rows[row.training, row.against].found


@pytest.mark.parametrize(
    ("duels", "answer"),
    [
        (
            [(0.25, 0.3), (-1.0, 0.2)],
            "More training brings no gain that can be told apart, head to head: "
            "b over a +0.2 points a game (-0.8 to +1.2; not told apart from zero), "
            "b over a -1.0 points a game (-2.0 to +0.0; not told apart from zero).",
        ),
        (
            [(2.0, 0.01), (0.25, 0.05)],
            "More training brings a gain that can be told apart, head to head: "
            "b over a +2.0 points a game (+1.0 to +3.0), "
            "b over a +0.2 points a game (-0.8 to +1.2; not told apart from zero).",
        ),
        (
            [(-2.0, 0.01)],
            "More training brings no gain that can be told apart, head to head: "
            "b over a -2.0 points a game (-3.0 to -1.0).",
        ),
        ([], ""),
    ],
)
def test_the_sentence_says_whether_there_is_a_gain(duels: list[tuple[float, float]], answer: str) -> None:
    level = Row("b", "random", Crossed([], 30.0, 29.0, 31.0), None)
    rows = [Row("b", "a", Crossed([], mean, mean - 1, mean + 1), None, p) for mean, p in duels]
    assert sentence([level, *rows]) == answer


PRESET = {
    "demonstrations": 2, "bc_epochs": 1, "frames": 200, "envs": 16, "opponent_envs": 8, "steps": 8,
    "metagame_deals": 1, "context": 8, "card": 8,
}  # fmt: skip


def test_presets_are_trained_and_measured_and_more_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("quick", "good"):
        monkeypatch.setitem(PRESETS, name, PRESET)
    monkeypatch.chdir(tmp_path)
    words = ["ablate", "--rules", "mini-low", "--deals", "2", "--against", "greedy", "--workers", "1", "--out", "o"]
    first = krypenv(*words, "--preset", "quick", "--seeds", "1")
    assert first.exit_code == 0, first.output
    models = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("model.json")}
    assert "head to head" not in first.output
    more = ["--preset", "quick", "--preset", "good", "--seeds", "2", "--beside", "random", "--luck", "on"]
    second = krypenv(*words, *more)
    assert second.exit_code == 0, second.output
    assert models.items() <= {path: path.stat().st_mtime_ns for path in tmp_path.rglob("model.json")}.items()
    runs = {path.name for path in (tmp_path / "o" / "runs").iterdir()}
    assert runs == {"good-0", "good-1", "quick-0", "quick-1"}
    result = json.loads((tmp_path / "o" / "ablation.json").read_text())
    shapes = {(row["training"], row["against"]): np.shape(row["margins"]) for row in result["matches"]}
    assert shapes == {
        ("quick", "greedy"): (2, 1), ("quick", TOGETHER): (2, 1), ("good", "greedy"): (2, 1),
        ("good", TOGETHER): (2, 1), ("good", "quick"): (2, 2), ("random", "quick"): (1, 2),
        ("random", "good"): (1, 2),
    }  # fmt: skip
    assert all(row["raw"]["margins"] != row["margins"] for row in result["matches"])
    assert result["answer"] in second.output
    assert (tmp_path / "o" / "ablation.png").read_bytes().startswith(b"\x89PNG")
    journal = tmp_path / "o" / "journal.jsonl"
    played = journal.read_bytes().splitlines()[1:]
    assert krypenv(*words, *more).output == second.output
    assert journal.read_bytes().splitlines()[1:] == played
    variants = krypenv("ablate", "--rules", "mini-low", "--out", "o", "--workers", "1")
    assert "comparison of presets" in variants.stderr


def test_each_pair_of_runs_has_deals_of_its_own() -> None:
    runs = [Player(f"run {number}", "greedy", number) for number in range(3)]
    deals = {ablating._match(COMPARED, one, other, None).arguments["deals_from"] for one in runs for other in runs}
    assert len(deals) == 9
    assert "deals_from" not in ablating._match(AblationSettings.of(), runs[1], runs[2], None).arguments


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
