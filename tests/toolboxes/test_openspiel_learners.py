"""OpenSpiel's own learners come closer to an equilibrium of a small game, as its own exploitability measures it."""

import pytest
from open_spiel.python import policy
from open_spiel.python.algorithms import exploitability, sequence_form_lp
from typer.testing import CliRunner

from krypenv import Rules
from krypenv.training.examples import openspiel_learners
from krypenv.training.examples.openspiel_learners import LEARNERS, LearnersSettings, app, load_small, train
from krypenv.training.solving import solve

TINY = "mini-sweep packs=2 suits=(3,)"
PROGRAM = "python -m krypenv.training.examples.openspiel_learners"


@pytest.fixture
def quick(monkeypatch):
    """Short iterations."""
    monkeypatch.setattr(openspiel_learners, "EPISODES", 250)
    monkeypatch.setattr(openspiel_learners, "STEPS", 50)
    monkeypatch.setattr(openspiel_learners, "SIMULATIONS", 10)


@pytest.mark.parametrize(
    ("learner", "game", "iterations"),
    [("nfsp", "mini-sweep", 12), ("dqn", "mini-sweep", 4), ("deep-cfr", TINY, 3), ("psro", TINY, 2)],
)
def test_exploitability_falls(quick, learner, game, iterations):
    found = train(LearnersSettings(game=game, learner=learner, iterations=iterations))
    assert len(found) == iterations + 1
    assert min(found) >= 0
    assert found[-1] < 0.75 * found[0], found


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_repeats(quick, monkeypatch, learner):
    monkeypatch.setattr(openspiel_learners, "EPISODES", 100)  # some of them with learning
    settings = LearnersSettings(game=TINY, learner=learner, iterations=1)
    assert train(settings) == train(settings)


def test_its_measure_is_ours():
    """The solver's strategies are exact, so both must give uniform play the same exploitability."""
    rules = Rules.parse(TINY)
    game = load_small(rules)
    uniform = exploitability.exploitability(game, policy.TabularPolicy(game))
    assert uniform == pytest.approx(train(LearnersSettings(game=TINY, learner="dqn", iterations=1))[0])
    value = sequence_form_lp.solve_zero_sum_game(game)[0]
    assert value == pytest.approx(solve(rules).value, abs=1e-3)


def run(*words):
    return CliRunner(env={"COLUMNS": "160", "NO_COLOR": "1"}).invoke(app, list(map(str, words)), prog_name=PROGRAM)


def test_the_command_prints_a_line_for_each_iteration():
    done = run("--game", TINY, "--learner", "psro", "--iterations", 1)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows] == ["0", "1"]
    assert float(rows[1][2]) < float(rows[0][2])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--learner", "cfr"], "learner is one of nfsp, dqn, deep-cfr, psro, not 'cfr'"),
        (["--game", "mini-swep"], "mini-swep"),
        (["--game", "mini-hidden"], "7,030,624 histories"),
        (["--game", "krypkasino players=3"], "two players"),
        (["--iterations", 0], "iterations should be greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(words, reason):
    done = run(*words)
    assert done.exit_code == 2
    assert reason in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not done.stdout
