"""Clocks start when everything is compiled, and a line says so while it is."""

import io

import pytest
from rich.console import Console
from support.games import SMALL

from krypenv import Engine, Rules, agents
from krypenv.agents.scripted import Tactician
from krypenv.agents.search import sampler
from krypenv.runtime.jit import JIT_IS_OFF, kernel
from krypenv.training import duplicate_match
from krypenv.training.learn import run
from krypenv.training.learn.ppo import SelfPlayPPO
from krypenv.training.learn.run import TrainingRun
from krypenv.training.learn.settings import TrainSettings
from krypenv.training.runs import progress
from krypenv.training.runs.progress import COMPILING, compiling

HOUR = 3600.0
TINY = {**SMALL, "against": ("greedy",), "opponents": ("past", "tactician"), "rule": ("sweep_points=4",)}


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


@pytest.mark.slow
def test_minutes_count_updates_alone_and_a_resumed_run_has_those_that_are_left(clock, tmp_path, monkeypatch):
    def slow_match(*given, **named):
        clock.now += HOUR
        return duplicate_match(*given, **named)

    monkeypatch.setattr(run, "duplicate_match", slow_match)
    session = TrainingRun(TrainSettings(minutes=0.5, **{**TINY, "curve_every": 60.0}), tmp_path)
    session.train(Console(quiet=True))
    assert clock.now - 1000.0 > HOUR
    assert (session.seconds, session.updates) == (30.0, 5)
    session.settings = session.settings.changed(minutes=1.0)
    session.save()
    kept = run.read_checkpoint(tmp_path)
    again = TrainingRun(kept.settings.typed_by(session.settings), tmp_path, kept)
    clock.now += HOUR
    again.train(Console(quiet=True))
    assert (again.seconds, again.updates) == (60.0, 10)
    assert [point.seconds for point in again.curve] == [0.0, 6.0, 18.0, 30.0, 48.0, 60.0], "close at the beginning"


@pytest.mark.skipif(JIT_IS_OFF, reason="as plain Python, nothing is compiled")
@pytest.mark.parametrize("terminal", [False, True])
def test_a_line_says_once_that_kernels_are_compiled_and_only_then(terminal):
    written, engine = io.StringIO(), Engine(Rules.preset("mini-low"), 2)
    engine.step(engine.sample_actions())
    with compiling(Console(file=written, force_terminal=terminal, width=100)):
        engine.step(engine.sample_actions())
        assert written.getvalue() == ""
        for _ in range(2):
            made = {}
            exec("def add(x):\n    return x + 1", made)  # in no file: it can't be kept
            kernel(made["add"])(1)
    assert written.getvalue().count(COMPILING) == 1


def test_without_a_terminal_there_are_lines_now_and_then_and_the_last_one(monkeypatch):
    written, times = io.StringIO(), iter([0.0, 10.0, 31.0, 31.0, 40.0, 50.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    with progress.progress(Console(file=written, width=100)) as show:
        for done in (0.1, 0.5, 0.6, 1.0):
            show(done, f"at {done}")
    assert written.getvalue() == " 50%  at 0.5\n100%  at 1.0\n"


@pytest.mark.parametrize(("name", "groups"), [("rollout(ms=20)", 3), ("search(ms=20, threads=2)", 2)])
def test_an_agent_with_milliseconds_has_all_of_them_for_its_first_decision(name, groups, monkeypatch):
    """Its kernel takes an hour when it is first called, and then a millisecond for a batch of worlds."""
    agent, clock, calls = agents.make(name, Rules.preset("mini-low")), Clock(), []
    monkeypatch.setattr(sampler, "time", clock)

    def choose(job, plan):
        clock.now += 0.001 if calls else HOUR
        calls.append(job)
        job.out[job.start : job.stop] = job.masks[job.start : job.stop].argmax(axis=1)

    monkeypatch.setattr(agent, "_choose", choose)
    engine = Engine(Rules.preset("mini-low"), 3, seed=1)
    agent.act(engine.observation, engine.action_mask)
    assert len(calls) == 1 + groups * (30 // sampler.BATCH)
    agent.act(engine.observation, engine.action_mask)
    assert len(calls) == 1 + 2 * groups * (30 // sampler.BATCH)
