"""Threads: parts of one call, processors that are granted, and what several threads call at once."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from krypenv import Engine, Rules, agents, engine as engine_module
from krypenv.agents import oracle, scripted
from krypenv.agents.champion import MODELS
from krypenv.agents.neural import learned
from krypenv.agents.search import sampler
from krypenv.runtime import threads
from krypenv.runtime.threads import Lock, count_threads, cut, share

TWO = str(MODELS / "two")
MAIN, BUILDING, SMALL = (Rules.preset(name) for name in ("krypkasino", "mulle-glimne", "mini-low"))

# ---------------------------------------------------------------------- parts of one call


@pytest.mark.parametrize(("parts", "wrong"), [(1, 0), (3, 0), (3, 2)])
def test_every_part_is_called_once_on_a_thread_of_its_own_and_errors_come_out_at_the_end(
    parts: int, wrong: int
) -> None:
    together, called = threading.Barrier(parts, timeout=60), []

    def work(part: int, of: int) -> None:
        together.wait()  # nobody gets past it before all are here
        if part == wrong:
            called.append((part, of, threading.get_ident()))
            raise OverflowError(f"part {part}")
        time.sleep(0.1)
        called.append((part, of, threading.get_ident()))

    with pytest.raises(OverflowError, match=f"part {wrong}"):
        share(work, parts)
    assert sorted(call[:2] for call in called) == [(part, parts) for part in range(parts)]
    assert len({thread for _, _, thread in called}) == parts


@pytest.mark.parametrize(("rows", "parts"), [(7, 1), (7, 3), (2, 5), (0, 2)])
def test_the_parts_of_arrays_are_views_that_make_up_the_whole(rows: int, parts: int) -> None:
    whole, pairs = np.arange(rows), np.zeros((rows, 2), np.int8)
    cuts = [cut((whole, pairs), part, parts) for part in range(parts)]
    assert [number for some, _ in cuts for number in some] == whole.tolist()
    for some, of_pairs in cuts:
        assert len(some) == len(of_pairs) in (rows // parts, rows // parts + 1)
        of_pairs += 1
    assert (pairs == 1).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer Pythons warn of forks beside threads
def test_a_forked_process_has_threads_of_its_own_and_finds_locks_free() -> None:
    lock = Lock()
    share(lambda part, parts: None, 3)
    with lock:
        child = os.fork()
        if child == 0:
            done: list[int] = []
            signal.alarm(60)  # else it may wait for ever, for threads that it does not have
            try:
                with lock:
                    share(lambda part, parts: done.append(part), 3)
            finally:
                os._exit(len(done))
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3


@pytest.mark.parametrize(
    ("files", "granted"),
    [
        ({}, 6),
        ({"cpu.max": "max 100000\n"}, 6),
        ({"cpu.max": "max 100000\n", "job/cpu.max": "350000 100000\n", "job/step/cpu.max": "max 100000\n"}, 4),
        ({"job/cpu.max": "10000 100000\n"}, 1),
        ({"cpu.max": "500000 100000\n", "job/cpu.max": "200000 100000\n"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 6),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu.max": "nonsense"}, 6),
    ],
)
def test_all_processors_are_those_that_are_granted(
    files: dict[str, str], granted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own").write_text("1:cpu:/\n0::/job/step\n")
    monkeypatch.setattr(threads, "CGROUPS", tmp_path)
    monkeypatch.setattr(threads, "OWN_CGROUP", tmp_path / "own")
    monkeypatch.setattr(os, "cpu_count", lambda: 24)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)), raising=False)
    assert count_threads(0) == Engine(SMALL, 8, threads=0).threads == granted
    assert count_threads(7) == 7
    if not files:
        monkeypatch.delattr(os, "sched_getaffinity")
        assert count_threads(0) == 24


def test_numba_keeps_to_a_quota() -> None:
    code = (
        "from krypenv.runtime import threads; threads._quota = lambda: 1.0; from krypenv import Engine; import numba; "
        "print(numba.config.NUMBA_NUM_THREADS)"
    )
    free = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], env=free, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


# ---------------------------------------------------------------------- agents: their calls take turns

CHECKS = [(module, "check_decisions") for module in (scripted, sampler, learned, oracle)]
AGENTS = [
    "random", "greedy", "tactician", "oracle-hand", "oracle-deck", "champion(worlds=0)", f"learned(model={TWO!r})",
    *(f"{name}(worlds=2)" for name in ("rollout", "ismcts", "search", "champion")), "search(worlds=2, threads=2)",
    f"guided(model={TWO!r}, worlds=2)",
]  # fmt: skip


def asking(agent: Any) -> Callable[[], np.ndarray]:
    """A call of an agent, for eight games."""
    engine = Engine(agent.rules, 8, seed=1)
    for _ in range(12):
        engine.step(engine.sample_actions())
    if getattr(agent, "cheats", False):
        return lambda: agent.act_on(engine.state, engine.action_mask)
    return lambda: agent.act(engine.observation, engine.action_mask)


@pytest.mark.few(4)
@pytest.mark.parametrize(("spec", "rules"), [*((spec, MAIN) for spec in AGENTS), ("tactician", BUILDING)], ids=str)
def test_calls_of_an_agent_take_turns_and_a_copy_has_a_turn_of_its_own(
    monkeypatch: pytest.MonkeyPatch, spec: str, rules: Rules
) -> None:
    agent = agents.make(spec, rules, seed=3)
    ask, twins = asking(agent), [copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))]
    ask()  # compiles
    answers: list[np.ndarray] = []
    other = threading.Thread(target=lambda: answers.append(ask()))
    waited: list[bool] = []

    def begin_another(check: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*given: Any) -> Any:
            if not waited:
                waited.append(True)
                other.start()
                other.join(0.2)  # far longer than such a call takes
                waited.append(other.is_alive())
                for twin in twins:
                    assert asking(twin)().shape == (8,)
            return check(*given)

        return checked

    with monkeypatch.context() as patch:
        for module, name in CHECKS:
            patch.setattr(module, name, begin_another(getattr(module, name)))
        ask()
        other.join()
    assert waited == [True, True]
    assert answers[0].shape == (8,)


# ---------------------------------------------------------------------- engines: a call during another is refused

CALLS: dict[str, Callable[[Engine], Any]] = {
    "step": lambda engine: engine.step(engine.action_mask.argmax(axis=1)),
    "sample_actions": lambda engine: engine.sample_actions(),
    "restart": lambda engine: engine.restart([0], [1]),
    "play_games": lambda engine: engine.play_games(3),
    "set_state": lambda engine: engine.set_state(engine.state),
    "select": lambda engine: engine.select([0]),
    "__getstate__": lambda engine: copy.deepcopy(engine),
}
KERNELS = {"step": "step_rows", "sample_actions": "sample_rows", "restart": "seed_rows", "play_games": "play_games"}


@pytest.mark.parametrize(
    ("outer", "inner"), [*((outer, "step") for outer in (*KERNELS, "set_state")), *(("step", inner) for inner in CALLS)]
)
def test_an_engine_that_is_called_twice_at_once_says_so(
    monkeypatch: pytest.MonkeyPatch, outer: str, inner: str
) -> None:
    engine, twin = (Engine(MAIN, 4, seed=6) for _ in range(2))
    raised: list[str] = []

    def interrupted(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            if not raised:  # in the middle of the outer call
                with pytest.raises(RuntimeError) as caught:
                    CALLS[inner](engine)
                raised.append(str(caught.value))
            return kernel(*given)

        return run

    with monkeypatch.context() as patch:
        for name in KERNELS.values():
            patch.setattr(engine_module, name, interrupted(getattr(engine_module, name)))
        CALLS[outer](engine)
    CALLS[outer](twin)
    assert raised == [
        f"Engine.{inner} was called before another call of the same Engine had ended; give each thread one of its own, "
        "or let the threads take turns with a lock"
    ]
    for each in (engine, twin):  # unharmed, and free again
        each.step(each.sample_actions())
    assert engine.observation.tobytes() == twin.observation.tobytes()
    assert engine.state.tobytes() == twin.state.tobytes()


WORKQUEUE = """
import threading
import numba
from krypenv import Engine, Rules

def play(engine):
    for _ in range(60):
        engine.step(engine.sample_actions())

rules = Rules.preset("krypkasino")
engines = [Engine(rules, 1024, seed=seed, threads=2) for seed in range(2)]
players = [threading.Thread(target=play, args=(engine,)) for engine in engines]
for step in (threading.Thread.start, threading.Thread.join):
    for player in players:
        step(player)
assert numba.threading_layer() == "workqueue"
for seed, engine in enumerate(engines):
    alone = Engine(rules, 1024, seed=seed)
    play(alone)
    assert (engine.observation == alone.observation).all()
"""


def test_two_engines_share_threads_that_only_one_may_use() -> None:
    environment = os.environ | {"NUMBA_THREADING_LAYER": "workqueue"}
    done = subprocess.run(
        [sys.executable, "-c", WORKQUEUE], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
