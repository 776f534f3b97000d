"""The lab: habits, matches of changed agents, effects that are tested together, studies, and their scripts."""

from __future__ import annotations

import json
import math
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arenas import positions
from support.places import ROOT
from support.small_files import SETUP, STUDY

from krypenv import Game, Rules, agents
from krypenv.cards import NUM_KINDS, card_name
from krypenv.training import deal_seeds, lab
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.evaluation.matches.margins import holm
from krypenv.training.lab.study import FIGURE, RESULT
from krypenv.training.runs.journal import JOURNAL

TWO = Rules.preset("krypkasino", players=2)
STRONG = "champion(worlds=0)"
LOWEST = agents.typed("support.arenas:Lowest")  # plays without chance
CREEPS = lab.with_habit(lab.plays_only(lab.creeping))


# ---------------------------------------------------------------------- habits


@pytest.mark.parametrize("base", ["greedy", STRONG, "search(worlds=2, plies=1)", "champion(worlds=2)"])
def test_a_habit_changes_forbidden_choices_alone(base: str) -> None:
    engine = positions(TWO, 40)
    seen, masks = engine.observation, engine.action_mask
    allowed = np.random.default_rng(0).random(masks.shape) < 0.5
    plain = agents.make(base, TWO, 1).act(seen, masks)
    chosen = lab.with_habit(lambda *_: allowed.copy())(base, TWO, 1).act(seen, masks)
    legal = (masks > 0) & allowed
    for row in range(len(chosen)):
        if legal[row, plain[row]] or not legal[row].any():
            assert chosen[row] == plain[row]
        else:
            assert legal[row, chosen[row]]


def test_a_forbidden_choice_gives_way_to_the_one_valued_next() -> None:
    engine, network = positions(TWO, 200), f"learned(model={agents.make(STRONG, TWO).models[0]!r}, solver=False)"
    seen, masks = engine.observation, engine.action_mask
    best = agents.make(network, TWO).act(seen, masks)

    def all_but_the_best(rules: Any, seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
        allowed = masks > 0
        allowed[np.arange(len(masks)), best] = False
        return allowed

    values = np.where(masks > 0, agents.make(network, TWO).logits(seen, masks).astype(float), -np.inf)
    chosen = lab.with_habit(all_but_the_best)(network, TWO, 0).act(seen, masks)
    for row, (first, second) in enumerate(zip(best, chosen, strict=True)):
        order = np.argsort(-values[row], kind="stable")
        assert first == order[0]
        assert second == order[1 if (masks[row] > 0).sum() > 1 else 0]


def kinds_of(names: Any) -> list[bool]:
    """Mark the cards with some names."""
    return [card_name(kind) in names for kind in range(NUM_KINDS)]


def test_cards_that_creep_and_capture_are_those_of_the_legal_moves() -> None:
    """The choice of a capture is left alone; where no card is allowed, the agent is."""
    order, random, middle = np.arange(NUM_KINDS)[::-1], np.random.default_rng(0), 0
    for seed in range(3):
        game = Game(TWO, seed=seed)
        while not game.is_over:
            row, moves = (TWO, game.observation()[None], game.action_mask()[None]), game.legal_moves()
            creeps, takes = ({str(move)[:2] for move in moves if bool(move.takes) == is_take} for is_take in (0, 1))
            taking = np.array(kinds_of(takes))
            if game.pending is None:
                assert lab.creeping(*row)[0].tolist() == kinds_of(creeps)
                only = lab.plays_only(lambda *_, taking=taking: taking)
                assert only(*row)[0, :NUM_KINDS].tolist() == kinds_of(takes)
                last = set(sorted(creeps, key=kinds_of)[:1])  # the creep with the highest number
                first = lab.plays_first(lambda *_: order, among=lab.creeping)(*row)[0, :NUM_KINDS]
                assert first.tolist() == kinds_of(takes | last)
            else:
                middle += 1
                assert (lab.plays_only(lab.creeping)(*row) == (row[2] > 0)).all()
            game.act(int(random.choice(game.legal_actions())))
    assert middle > 0


# ---------------------------------------------------------------------- matches


def test_a_match_in_chunks_has_the_margins_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab.matches, "CHUNK", 3)
    setup = lab.Setup(TWO, LOWEST, 7, 4)
    change = lab.instead(agents.typed("support.arenas:Highest"))
    results = {task.key: task.function(**task.arguments) for task in lab.match_tasks("x", setup, change)}
    assert [len(each) for each in results.values()] == [3, 3, 1]
    whole, again = (lab.play_match(str(TWO), LOWEST, 0, 7, 4, change, repetition=each) for each in (0, 1))
    assert (again == whole).all()  # the same deals
    assert whole.shape == (7, 2)
    assert lab.by_deal(results, "x", setup) == pytest.approx(whole.mean(axis=1))


@pytest.mark.parametrize(("agent", "measured"), [(STRONG, False), ("search(worlds=10, plies=0)", True)])
def test_luck_is_taken_out_as_in_a_duplicate_match_and_with_auto_as_the_agent_asks(agent: str, measured: bool) -> None:
    found = {luck: lab.play_chunk(str(TWO), agent, 0, 4, 4, CREEPS, luck) for luck in ("on", "off", "auto")}
    assert found["auto"] == found["on" if measured else "off"]
    if agent == STRONG:
        match = duplicate_match(CREEPS(STRONG, TWO, 0), STRONG, TWO, deals=4, seed=4, luck="on")
        assert match.adjusted is not None
        assert np.mean(found["on"]) == pytest.approx(match.adjusted.margin)
        assert np.mean(found["off"]) == pytest.approx(match.margin) != match.adjusted.margin


def test_a_comparison_measures_changes_and_their_differences() -> None:
    changes = {"creep": CREEPS, "random": lab.instead("random")}
    study, setup = lab.compare("x", "Which?", changes, [("creep", "random")]), lab.Setup(TWO, "greedy", 6)
    results = {task.key: task.function(**task.arguments) for task in study.tasks(setup)}
    found = study.answer(setup, results).figures
    margins = {name: np.array(lab.play_chunk(str(TWO), "greedy", 0, 6, 0, change)) for name, change in changes.items()}
    assert found == lab.effects_of({**margins, "creep rather than random": margins["creep"] - margins["random"]})


def test_games_are_watched_decision_by_decision() -> None:
    """Each state before a decision, and whether it was the last one, as in games played one by one."""
    seen: list[list[tuple[bytes, bool]]] = [[] for _ in range(4)]
    for engine, rows, before, over, ended in lab.watch(str(TWO), LOWEST, 1, 4, 7):
        assert (engine.finished[over]).all()
        for places, states, is_last in ((rows, before, False), (over, ended, True)):
            for row, state in zip(places, states, strict=True):
                seen[row].append((state["hands"].tobytes() + state["table"].tobytes(), is_last))
    for states, seed in zip(seen, deal_seeds(7, 5)[1:], strict=True):
        game = Game(TWO, seed=int(seed))
        for at, (cards, is_last) in enumerate(states):
            assert cards == game.state["hands"].tobytes() + game.state["table"].tobytes()
            game.act(int(game.action_mask().argmax()))
            assert game.is_over == is_last == (at == len(states) - 1)


# ---------------------------------------------------------------------- effects


def effect(mean: float, p: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - 1, "high": mean + 1, "p alone": p}


def test_p_values_are_adjusted_by_holm() -> None:
    """The 15 tests of Benjamini and Hochberg (1995, section 4.1), of which familywise control at 5% rejects three."""
    tests = [0.0001, 0.0004, 0.0019, 0.0095, 0.02, 0.028, 0.03, 0.034, 0.046, 0.32, 0.43, 0.57, 0.65, 0.76, 1.0]
    assert (holm(tests) < 0.05).tolist() == [True] * 3 + [False] * 12
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])  # in any order
    assert holm([0.6, 0.7]).tolist() == [1, 1]
    assert len(holm([])) == 0


def test_samples_are_tested_together() -> None:
    """By Student's sleep data (1908), whose t test has p = 0.002833; and where there is no spread, or one sample."""
    sleep = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    found = lab.effects_of({"sleep": sleep, "zeros": np.zeros(9), "twos": np.full(2, 2.0), "one": np.full(1, 5.0)})
    alone = {"sleep": 0.002833, "zeros": 1, "twos": 0, "one": 1}
    assert {name: each["p alone"] for name, each in found.items()} == pytest.approx(alone, abs=1e-6)
    together = alone | {"sleep": 3 * 0.002833}
    assert {name: each["p"] for name, each in found.items()} == pytest.approx(together, abs=3e-6)
    assert found["sleep"]["mean"] == pytest.approx(1.58)


def test_effects_that_both_seeds_tell_apart_with_one_sign_are_tested_together() -> None:
    """Fisher (1932): -2 ln(p q) has the chi-squared distribution of four degrees, whose tail is known.

    Holm (1979): of six p values the smallest counts six times, the next one five times. Effects may lie in groups.
    """
    one, again = (
        {
            "a": {"b": effect(sign, p), "c": {"d": effect(-2, 2 * p)}}, "certain": effect(sign, 0), "f": {"mean": 3.0},
            "signs": effect(both, 1e-9), "second": effect(1, second), "first": effect(1, first), "g": [1, 2],
        }
        for p, sign, both, first, second in ((0.01, 2, 1, 0.06, 1e-9), (0.02, 1, -1, 1e-9, 0.06))
    )  # fmt: skip
    small, next_one = (x * (1 - math.log(x)) for x in (0.01 * 0.02, 0.02 * 0.04))
    alone = dict.fromkeys([("signs",), ("second",), ("first",)], 1)
    together = {("a", "b"): 5 * small, ("a", "c", "d"): 4 * next_one, ("certain",): 0}
    assert lab.replicated(one, again) == pytest.approx(together | alone)
    with pytest.raises(ValueError, match="the two answers test different effects"):
        lab.replicated({"x": effect(1, 0.1)}, {"y": effect(1, 0.1)})


# ---------------------------------------------------------------------- studies


def test_the_result_of_a_study_says_how_it_was_found(tmp_path: Path) -> None:
    assert lab.run_study(STUDY, SETUP, tmp_path, "it").figures == {"sum": 3.0}
    fields = json.loads((tmp_path / RESULT).read_text())
    [run] = fields["runs"]
    about = {"command": "it", "rules": str(SETUP.rules), "agent": "greedy", "deals": 4, "seed": 0}
    assert fields["question"] == "What is the sum?"
    assert run == run | about | {"figures": {"sum": 3.0}}
    assert (tmp_path / FIGURE).read_bytes().startswith(b"\x89PNG")


def test_what_a_study_cannot_use_is_refused(tmp_path: Path) -> None:
    creeps = lab.compare("x", "Which?", {"creep": CREEPS})
    for setup, reason in (
        (lab.Setup(TWO, "random", 2), "random does not value its actions"),
        (lab.Setup(Rules.preset("mulle"), "greedy", 2), "the study x knows only games like Krypkasino"),
    ):
        with pytest.raises(ValueError, match=reason):
            lab.run_study(creeps, setup, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------------- scripts

STUDIES = ROOT / "notebooks" / "studies"
EXAMPLE = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "studies.md").read_text(encoding="utf-8"), re.DOTALL)[0]
SMALL = ["--rules", "krypkasino", "--agent", "greedy", "--deals", "120"]


def run_script(path: Path, *words: str, folder: Path) -> str:
    """Run a script in a folder, and return what it prints."""
    env = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    line = [sys.executable, str(path), *words]
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def result_of(folder: Path) -> dict[str, Any]:
    """What a study wrote, without the machine and the command line."""
    told: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return {**told, "runs": [{**run, "machine": "", "command": ""} for run in told["runs"]]}


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--workers", "2"], ["--ray"]])
def test_workers_and_a_cluster_are_sent_what_a_script_defines(words: list[str], tmp_path: Path) -> None:
    """With a module beside it, and even without a guard; and a study that was stopped is resumed."""
    script = tmp_path / "mine" / "my_study.py"
    script.parent.mkdir()
    script.write_text(EXAMPLE)
    lab.main(runpy.run_path(str(script))["STUDY"], [*SMALL, "--out", str(tmp_path / "1")])
    (script.parent / "beside.py").write_text(
        "from krypenv.training import lab\n\ndef creeps(*seen):\n    return lab.creeping(*seen)\n"
    )
    code = f"import beside\n{EXAMPLE}".replace("lab.creeping", "beside.creeps")
    script.write_text(code.replace('if __name__ == "__main__":\n    ', ""))
    journal = (tmp_path / "1" / JOURNAL).read_bytes().splitlines(keepends=True)
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / JOURNAL).write_bytes(b"".join(journal[:2]) + journal[3][:9])
    told = run_script(script, *SMALL, *words, "--out", "2", folder=tmp_path)
    assert told.count("Should kings leave the hand early or late? (krypkasino players=2, greedy, 120 deals)") == 1
    right = result_of(tmp_path / "1")
    assert all(row[0] in told for row in right["runs"][0]["rows"])
    assert result_of(tmp_path / "2") == right


def test_a_study_has_rules_of_its_own_by_default_and_bad_input_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = lab.Study("x", "Which?", lambda _: [], lambda *_: lab.Answer({}), 2, "krypkasino players=4 teams=2")
    for words, rules in (
        ("", study.rules),
        ("--rules krypkasino --players 6 --teams 3", "krypkasino players=6 teams=3"),
    ):
        lab.main(study, [*words.split(), "--out", str(tmp_path / rules)])
        assert result_of(tmp_path / rules)["runs"][0]["rules"] == rules
    with pytest.raises(SystemExit, match="2"):
        lab.main(study, ["--deals", "0", "--out", str(tmp_path / "out")])
    assert re.search(r"deals should be greater than or equal to 2, not 0\n$", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------------- those in notebooks/studies

SCRIPTS = sorted(path.stem for path in STUDIES.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != "late"])  # which takes long
def test_a_script_runs(name: str, tmp_path: Path) -> None:
    deals = "3" if name == "coefficients" else "2"  # the fewest that it takes
    assert run_script(STUDIES / f"{name}.py", "--deals", deals, "--out", "out", folder=tmp_path)
