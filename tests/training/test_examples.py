"""PPO in one file: its advantages are those of each seat's own stream, it learns, and what it learned plays."""

import hashlib

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from support.commands import krypenv
from support.streams import advantages_of_streams
from typer.testing import CliRunner

from krypenv import Engine, Rules, agents
from krypenv.adapters import PolicyFunction
from krypenv.training import duplicate_match
from krypenv.training.evaluation.score.playing import identity_of
from krypenv.training.evaluation.score.protocol import TABLES
from krypenv.training.examples.ppo import METRICS, Policy, PPOAgent, PPOSettings, advantages_of, app, train

SHORT = {"rules": "mini-low", "frames": 2048, "games": 32, "steps": 32, "units": 16, "batch": 256, "deals": 2}
PROGRAM = "python -m krypenv.training.examples.ppo"
NAME = "krypenv.training.examples.ppo:PPOAgent"


def test_advantages_are_those_of_each_seats_own_stream():
    rng = np.random.default_rng(1)
    steps, games, players = 60, 5, 3
    settings = PPOSettings(gamma=0.9, gae_lambda=0.7)
    values, last_value = rng.normal(size=(steps, games)).astype("f"), rng.normal(size=games).astype("f")
    seats, last_seat = rng.integers(players, size=(steps, games)), rng.integers(players, size=games)
    earned, ended = rng.normal(size=(steps, games, players)).astype("f"), rng.random((steps, games)) < 0.1
    given = values, seats, earned, ended, last_seat, last_value
    advantages, known = advantages_of(settings, *given)
    expected, is_known = advantages_of_streams(*given, settings.gamma, settings.gae_lambda)
    np.testing.assert_array_equal(known, is_known)
    np.testing.assert_allclose(advantages, expected, atol=1e-5)
    assert 0 < (~known).sum() <= games * players  # the last decision of a seat, at most


@pytest.mark.slow
def test_it_learns_to_beat_random_play():
    rules = Rules.preset("mini-low")
    settings = PPOSettings(rules="mini-low", frames=50_000, games=128, steps=32, units=64, batch=512)
    policy, history = train(settings)
    match = duplicate_match(PolicyFunction(policy.choose, rules, "mine"), "random", rules, deals=300)
    assert match.low > 0, str(match)
    assert history[-1]["entropy"] < history[0]["entropy"]
    assert all(step.keys() == METRICS.keys() and np.isfinite(list(step.values())).all() for step in history)


@pytest.mark.parametrize("rules", ["krypkasino players=3", "mulle-glimne players=4 teams=2"])
def test_it_takes_all_games_and_a_run_by_frames_repeats(rules):
    settings = PPOSettings(**SHORT | {"rules": rules, "frames": 1024})
    (one, _), (two, _) = train(settings), train(settings)
    for name, weights in one.state_dict().items():
        assert torch.equal(weights, two.state_dict()[name])


def run(*words, **changed):
    options = [word for key, value in (SHORT | changed).items() for word in (f"--{key}", value)]
    env = {"COLUMNS": "160", "NO_COLOR": "1"}
    return CliRunner(env=env).invoke(app, [str(word) for word in (*options, *words)], prog_name=PROGRAM)


def test_the_command_line_trains_and_the_file_names_an_agent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("--out", "mine.safetensors")
    assert done.exit_code == 0, done.output
    assert all(told in done.stdout for told in (*METRICS, "wrote mine.safetensors", "greedy", "tactician"))
    spec = f"{NAME}(path='mine.safetensors')"
    done = krypenv("evaluate", spec, "--against", "random", "--rules", "mini-low", "--deals", 2)
    assert done.exit_code == 0, done.output
    digest = hashlib.sha256((tmp_path / "mine.safetensors").read_bytes()).hexdigest()
    # all games for two with one deck of suits see as much, so the weights fit this table too
    assert identity_of(agents.typed(spec), [TABLES["two"]]).files_sha256 == [digest]
    rules = Rules.preset("mini-low")
    engine, full = Engine(rules, 32, seed=1), Engine(rules, 32, seed=1, features=True)
    agent = PPOAgent(rules, path="mine.safetensors")
    logits = agent.fn(full.observation, full.action_mask).numpy()
    expected = np.where(engine.action_mask, logits, -np.inf).argmax(axis=1)
    np.testing.assert_array_equal(agent.act(engine.observation, engine.action_mask), expected)


def test_what_is_wrong_is_told_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("hello")
    for done, reason in ((run(rules="mini-lo"), "mini-lo"), (run("--out", "."), "."), (run("--frame", 3), " --help")):
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert reason in done.stderr
    save_file(Policy(Rules.preset("kasino-finland"), 8).state_dict(), "other")
    for path in ("text", "other", "none"):
        with pytest.raises((ValueError, OSError), match=rf"^[^\n]*{path}[^\n]*$"):
            agents.make(f"{NAME}(path='{path}')", Rules())
