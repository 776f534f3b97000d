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
from krypenv.training.learn.learner.ppo import SelfPlayPPO
from krypenv.training.learn.selfplay import rehearsal, selfplay
from krypenv.training.learn.selfplay.rehearsal import in_small
from krypenv.training.learn.selfplay.selfplay import TrainingRun, open_training
from krypenv.training.learn.selfplay.settings import PRESETS, Settings
from krypenv.training.runs import progress
from krypenv.training.runs.progress import COMPILING, compiling

HOUR = 3600.0
SMALL = {
    "preset": "",
    "envs": 8, "opponent_envs": 8, "steps": 4, "batch": 64, "epochs": 1, "curve_deals": 2, "deals": 2,
    "metagame_deals": 2,
    "context": 16, "card": 8, "embedding": 4, "snapshot_every": 0.4, "workers": 1, "against": ("greedy",),
    "opponents": ("tactician",), "rule": ("sweep_points=4",),
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
    monkeypatch.setattr(selfplay, "time", clock)
    rehearsal._rehearse.cache_clear()
    yield clock
    rehearsal._rehearse.cache_clear()


def test_minutes_count_once_everything_is_compiled_and_a_resumed_run_has_those_that_are_left(clock, tmp_path):
    folder, began = tmp_path / "run", clock.now
    session = open_training(Settings.of(out=str(folder), minutes=0.5, curve_every=1e9, **SMALL))
    session.train(Console(quiet=True))
    assert clock.now - began > HOUR
    assert (session.elapsed, session.updates) == (30.0, 5)
    assert [point.seconds for point in session.curve] == [0.0, 30.0]
    session.settings = session.settings.changed(minutes=1.0)
    session.save()
    again = open_training(Settings(resume=str(folder)))
    clock.now += HOUR
    assert again.elapsed == 30.0
    again.train(Console(quiet=True))
    assert (again.elapsed, again.updates) == (60.0, 10)


def test_a_rehearsal_touches_neither_run_nor_folder(tmp_path):
    session = open_training(Settings.of(out=str(tmp_path / "run"), frames=100, **SMALL))
    weights = {name: value.clone() for name, value in session.model.policy.state_dict().items()}
    games = [part.save() for part in session.model.parts]
    rehearsal._rehearse.cache_clear()
    rehearsal.rehearse(TrainingRun, session.settings, Console(quiet=True))
    assert all(value.equal(weights[name]) for name, value in session.model.policy.state_dict().items())
    for part, kept in zip(session.model.parts, games, strict=True):
        for name, value in part.save().items():
            np.testing.assert_array_equal(value, kept[name])
    assert not list((tmp_path / "run").iterdir())


def test_it_is_small_and_has_all_who_take_part():
    given = {"players": 4, "teams": 2, "also": ("krypkasino players=3",), "opponents": ("greedy", "rollout")}
    for preset in PRESETS:
        settings = Settings.of(preset=preset, **given)
        small = in_small(settings)
        assert small.all_rules() == settings.all_rules()
        assert small.games.opponents == settings.games.opponents
        assert small.evaluation.against == settings.evaluation.against
        assert small.start.teacher == settings.start.teacher
        start = small.start
        assert (start.demonstrations, start.workers, start.init_from, small.resume, small.out) == (4, 1, "", "", "")
        assert small.decisions < small.length.frames <= 2 * small.decisions < 1000
        assert in_small(settings.changed(envs=0, demonstrations=0)).games.envs == 0


@pytest.mark.skipif(JIT_IS_OFF, reason="as plain Python, nothing is compiled")
@pytest.mark.slow
def test_nothing_is_left_to_compile(tmp_path):
    """In a process of its own, as other tests have compiled what they like."""
    code = f"""
import gc
from rich.console import Console
from krypenv.runtime.lean import Kernel
from krypenv.training.learn.selfplay import selfplay
from krypenv.training.learn.selfplay.settings import Settings

def compiled():
    kernels = [each for each in gc.get_objects() if type(each) is Kernel]
    return {{(each.__name__, str(types)) for each in kernels for types in each.overloads}}

session = selfplay.open_training(Settings.of(
    out={str(tmp_path / "run")!r}, demonstrations=300, bc_epochs=1, frames=20000, snapshot_every=0.4,
    teacher="rollout(worlds=1)",
    envs=64, opponent_envs=32, curve_deals=10, metagame_deals=10, workers=1, rules="mini-low",
    opponents=("search(worlds=2)",), against=("greedy", "tactician(shed=True)"),
))
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


def test_the_first_decision_is_what_it_is_without_a_clock():
    """Looking once before the clock starts changes nothing of what is looked at."""
    rules = Rules.preset("mini-low")
    engine = Engine(rules, 6, seed=1)
    for name in ("search", "rollout", "ismcts"):
        timed, free = (agents.make(f"{name}(worlds=20{ms})", rules, seed=5) for ms in (", ms=1000000", ""))
        np.testing.assert_array_equal(
            timed.act(engine.observation, engine.action_mask), free.act(engine.observation, engine.action_mask)
        )
