"""Clocks start when everything is compiled, and a line says so while it is."""

import io
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from krypenv import Engine, Rules, agents
from krypenv.agents.scripted import Tactician
from krypenv.agents.search import sampler
from krypenv.runtime.jit import JIT_IS_OFF, kernel
from krypenv.training import duplicate_match
from krypenv.training.learn import run
from krypenv.training.learn.ppo import SelfPlayPPO
from krypenv.training.learn.run import TrainingRun, compile_kernels
from krypenv.training.learn.settings import TrainSettings
from krypenv.training.runs import progress
from krypenv.training.runs.progress import COMPILING, compiling

HOUR = 3600.0
SMALL = {
    "envs": 16, "steps": 4, "batch": 64, "epochs": 1, "curve_deals": 2, "deals": 2, "context": 16, "card": 8,
    "embedding": 4, "against": ("greedy",), "yardstick": "greedy", "opponents": ("past", "tactician"),
    "opponent_share": 0.5, "rule": ("sweep_points=4",),
}  # fmt: skip


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """A clock for runs, with a tactician whose first decision takes an hour and updates that take six seconds."""
    clock, act, train = Clock(), Tactician.act, SelfPlayPPO.train
    waiting = [HOUR]

    def slow_act(self, observations, masks):
        clock.now += waiting.pop() if waiting else 0.0
        return act(self, observations, masks)

    def slow_train(self):
        clock.now += 6.0
        train(self)

    monkeypatch.setattr(Tactician, "act", slow_act)
    monkeypatch.setattr(SelfPlayPPO, "train", slow_train)
    monkeypatch.setattr(run, "time", clock)
    return clock


def test_minutes_count_once_everything_is_compiled_and_a_resumed_run_has_those_that_are_left(clock, tmp_path):
    began = clock.now
    session = TrainingRun(TrainSettings(minutes=0.5, curve_every=1e9, **SMALL), tmp_path)
    session.train(Console(quiet=True))
    assert clock.now - began > HOUR
    assert (session.seconds, session.updates) == (30.0, 5)
    assert [point.seconds for point in session.curve][0 :: len(session.curve) - 1] == [0.0, 30.0]
    session.settings = session.settings.changed(minutes=1.0)
    session.save()
    kept = run.read_checkpoint(tmp_path)
    again = TrainingRun(kept.settings.typed_by(session.settings), tmp_path, kept)
    clock.now += HOUR
    assert again.seconds == 30.0
    again.train(Console(quiet=True))
    assert (again.seconds, again.updates) == (60.0, 10)


def test_the_clock_stands_still_while_the_learner_is_measured(clock, tmp_path, monkeypatch):
    def slow_match(*given, **named):
        clock.now += HOUR
        return duplicate_match(*given, **named)

    monkeypatch.setattr(run, "duplicate_match", slow_match)
    session = TrainingRun(TrainSettings(frames=4 * 64, curve_every=6.0, **SMALL), tmp_path)
    session.train(Console(quiet=True))
    assert [point.seconds for point in session.curve] == [0.0, 6.0, 12.0, 18.0, 24.0]
    assert session.seconds == 24.0


def test_compiling_touches_neither_run_nor_folder(tmp_path):
    session = TrainingRun(TrainSettings(frames=100, **SMALL), tmp_path)
    weights = {name: value.clone() for name, value in session.model.policy.state_dict().items()}
    games = [part.save() for part in session.model.parts]
    compile_kernels(session.settings, Console(quiet=True))
    assert all(value.equal(weights[name]) for name, value in session.model.policy.state_dict().items())
    for part, kept in zip(session.model.parts, games, strict=True):
        for name, value in part.save().items():
            np.testing.assert_array_equal(value, kept[name])
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(JIT_IS_OFF, reason="as plain Python, nothing is compiled")
@pytest.mark.slow
def test_nothing_is_left_to_compile(tmp_path):
    """In a process of its own, as other tests have compiled what they like."""
    code = f"""
import gc
from rich.console import Console
from krypenv.runtime.lean import Kernel
from pathlib import Path
from krypenv.training.learn.run import TrainingRun
from krypenv.training.learn.settings import TrainSettings

def compiled():
    kernels = [each for each in gc.get_objects() if type(each) is Kernel]
    return {{(each.__name__, str(types)) for each in kernels for types in each.overloads}}

session = TrainingRun(TrainSettings(
    frames=20000, envs=96, curve_deals=10, rules="mini-low", opponents=("past", "search(worlds=2)"),
    against=("greedy",), yardstick="tactician(shed=True)",
), Path({str(tmp_path)!r}))
play = session.play
def measured(console):
    before = compiled()
    assert any(name == "step_rows" or "choose" in name or "roll_out" in name for name, _ in before), before
    play(console)
    print(len(before), sorted(compiled() - before))
session.play = measured
session.train(Console(quiet=True))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    number, _, left = done.stdout.partition(" ")
    assert int(number) > 10
    assert left.strip() == "[]"


class TestTheLine:
    """It is shown where a kernel is compiled, once, and nowhere else."""

    def shown(self, terminal, work):
        written = io.StringIO()
        console = Console(file=written, force_terminal=terminal, width=100)
        with compiling(console):
            work()
        return written.getvalue()

    def fresh_kernels(self):
        for _ in range(2):
            made = {}
            exec("def add(x):\n    return x + 1", made)  # in no file: it can't be kept
            kernel(made["add"])(1)

    @pytest.mark.skipif(JIT_IS_OFF, reason="as plain Python, nothing is compiled")
    def test_where_kernels_are_compiled(self):
        assert self.shown(False, self.fresh_kernels) == COMPILING + "\n"
        assert COMPILING in self.shown(True, self.fresh_kernels)

    def test_not_where_all_are_there(self):
        engine = Engine(Rules.preset("mini-low"), 2)
        engine.step(engine.sample_actions())
        for terminal in (False, True):
            assert self.shown(terminal, lambda: engine.step(engine.sample_actions())) == ""

    def test_without_a_terminal_there_are_lines_now_and_then_and_the_last_one(self, monkeypatch):
        written, times = io.StringIO(), iter([0.0, 10.0, 31.0, 31.0, 40.0, 50.0])
        monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
        with progress.progress(Console(file=written, width=100)) as show:
            for done in (0.1, 0.5, 0.6, 1.0):
                show(done, f"at {done}")
        assert written.getvalue() == " 50%  at 0.5\n100%  at 1.0\n"


@pytest.mark.parametrize("name", ["search(ms=20)", "rollout(ms=20)", "search(ms=20, threads=2)"])
def test_an_agent_with_milliseconds_has_all_of_them_for_its_first_decision(name, monkeypatch):
    """Its kernel takes an hour when it is first called, and then a millisecond for a batch of worlds."""
    rules, clock, calls = Rules.preset("mini-low"), Clock(), []
    agent = agents.make(name, rules)
    monkeypatch.setattr(sampler, "time", clock)

    def choose(job, plan):
        clock.now += 0.001 if calls else HOUR
        calls.append(job)
        job.out[job.start : job.stop] = job.masks[job.start : job.stop].argmax(axis=1)

    monkeypatch.setattr(agent, "_choose", choose)
    engine = Engine(rules, 3, seed=1)
    agent.act(engine.observation, engine.action_mask)
    first = len(calls)
    agent.act(engine.observation, engine.action_mask)
    batches, groups = 30 // sampler.BATCH, -(-3 // agent._threads)
    assert len(calls) - first == groups * batches
    assert first == 1 + groups * batches
