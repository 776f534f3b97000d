"""The benchmark of learners: its command makes the table from nothing, and its grades are those of another measure."""

import csv
import importlib
import subprocess
import sys

import pytest
from open_spiel.python import policy
from open_spiel.python.algorithms import exploitability, sequence_form_lp
from support.places import ROOT

from krypenv import Rules
from krypenv.envs.openspiel import load
from krypenv.training.solving import solve

FOLDER = ROOT / "notebooks" / "benchmark"
LEARNERS = {path.stem for path in (FOLDER / "learners").glob("*.py")}
IN_TABLES = {"psro", "mmd", "cfr_plus", "solver"}
CAREFUL = """
def train(rules, seed, seconds):
    yield lambda observations, masks: masks * (1 + seed)
"""


def run(folder, *words):
    """Run the benchmark in a folder."""
    command = [sys.executable, FOLDER / "benchmark.py", "--out", "result", "--seconds", 0.2, "--deals", 4, *words]
    return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)


def cells(folder):
    """The rows of the table of the whole budget, by rung and player."""
    with (folder / "result" / "table.csv").open(encoding="utf-8") as file:
        return {(row["rung"], row["player"]): row for row in csv.DictReader(file)}


def test_one_command_makes_the_table_and_resumes(tmp_path):
    words = ["--rung", "mini-sweep", "--seeds", 1, "--agent", "none"]
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    table = cells(tmp_path)
    assert {player for _, player in table} == LEARNERS
    assert all(row["points"] and not row["reason"] for row in table.values())
    assert float(table["mini-sweep", "solver"]["points"]) < 1e-3
    assert (tmp_path / "result" / "figure.png").read_bytes().startswith(b"\x89PNG")
    again = run(tmp_path, *words)
    assert (again.returncode, "done:" in again.stdout) == (0, False)
    assert cells(tmp_path) == table


def test_what_a_learner_can_not_play_is_a_dash_with_a_reason(tmp_path):
    learners = [word for name in ("nfsp", "deep_cfr", *IN_TABLES) for word in ("--learner", name)]
    done = run(tmp_path, "--rung", "one-pack", "--seeds", 1, "--agent", "none", *learners)
    assert done.returncode == 0, done.stderr
    for (_, player), row in cells(tmp_path).items():
        assert (bool(row["reason"]), bool(row["points"])) == (player != "nfsp", player == "nfsp"), row


def test_a_file_with_train_is_a_learner(tmp_path):
    (tmp_path / "mine.py").write_text(CAREFUL, encoding="utf-8")
    words = ["--rung", "mini-sweep", "--learner", "mine.py", "--seeds", 2, "--workers", 2]
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    table = cells(tmp_path)
    assert table["mini-sweep", "mine.py"]["points"] == table["mini-sweep", "random"]["points"]
    (tmp_path / "mine.py").write_text(CAREFUL.replace("yield", "raise ValueError;"), encoding="utf-8")
    edited = run(tmp_path, *words)
    assert edited.returncode == 1
    assert 'mine.py", line 3' in edited.stderr
    assert "the learner mine.py failed on mini-sweep with seed " in edited.stderr  # of either worker


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--learner", "nfps"], "a learner is one of ppo"),
        (["--learner", "nfsp(rate="], "options of a learner are written as in nfsp(rate=0.01)"),
        (["--learner", "empty.py"], "has no function train"),
        (["--rung", "mini"], "a rung is one of mini-sweep"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path, words, sentence):
    (tmp_path / "empty.py").touch()
    done = run(tmp_path, *words)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert sentence in done.stderr
    assert not (tmp_path / "result").exists()


def test_grades_agree_with_another_measure_of_the_same_policy(monkeypatch):
    """OpenSpiel's exploitability of uniform play, over its own tree."""
    monkeypatch.syspath_prepend(FOLDER)
    ladder = importlib.import_module("ladder")
    rules = Rules.preset("mini-sweep")
    game = load(rules, sorted_deals=True)
    (points,) = ladder.grade(lambda observations, masks: masks, ladder.LADDER["mini-sweep"], 2)
    assert points == pytest.approx(exploitability.exploitability(game, policy.UniformRandomPolicy(game)))


def test_the_value_of_a_solved_game_is_that_of_a_linear_program():
    rules = Rules.parse("mini-sweep packs=2 suits=(3,)")
    value = sequence_form_lp.solve_zero_sum_game(load(rules, sorted_deals=True))[0]
    assert solve(rules).value == pytest.approx(value, abs=1e-3)
