"""What several threads call at once: an agent's calls take turns, an engine refuses in a sentence."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.games import RULES as ALL_RULES, decisions_of
from support.small_files import model, scratch
from support.threads import many_at_once

from krypenv import Engine, Rules, agents, engine as engine_module
from krypenv.agents import oracle, scripted
from krypenv.agents.neural import learned
from krypenv.agents.search import sampler
from krypenv.runtime.threads import Lock, in_turn, never_at_once

MAIN, BUILDING = Rules.preset("krypkasino"), Rules.preset("mulle-glimne")
MODEL = Rules.parse("mini-low players=2")
CHECKS = [(module, "check_decisions") for module in (scripted, sampler, learned, oracle)]
AGENTS = [
    ("random", MAIN), ("greedy", MAIN), ("tactician", MAIN), ("rollout(worlds=2)", MAIN), ("ismcts(worlds=2)", MAIN),
    ("search(worlds=2)", MAIN), ("search(worlds=2, threads=2)", MAIN), ("champion(worlds=2)", MAIN),
    ("champion(worlds=0)", MAIN), ("oracle-hand", MAIN), ("oracle-deck", MAIN), ("greedy", BUILDING),
    ("tactician", BUILDING), ("learned", MODEL), ("guided", MODEL),
]  # fmt: skip


def made(spec: str, rules: Rules) -> Any:
    """The agent that a string names; a bare `learned` or `guided` plays a small network."""
    if spec in ("learned", "guided"):
        model()
        spec = f"{spec}(model={str(scratch() / 'model')!r})"
    return agents.make(spec, rules, seed=3)


def asking(agent: Any) -> Callable[[], np.ndarray]:
    """A call of an agent, for eight games."""
    engine = Engine(agent.rules, 8, seed=1)
    for _ in range(12):
        engine.step(engine.sample_actions())
    if getattr(agent, "cheats", False):
        return lambda: agent.act_on(engine.state, engine.action_mask)
    return lambda: agent.act(engine.observation, engine.action_mask)


# ---------------------------------------------------------------------- agents


@pytest.mark.parametrize(("spec", "rules"), AGENTS, ids=lambda each: getattr(each, "name", each))
def test_calls_of_an_agent_take_turns(monkeypatch: pytest.MonkeyPatch, spec: str, rules: Rules) -> None:
    ask = asking(made(spec, rules))
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
            return check(*given)

        return checked

    for module, name in CHECKS:
        monkeypatch.setattr(module, name, begin_another(getattr(module, name)))
    ask()
    other.join()
    assert waited == [True, True]
    assert answers[0].shape == (8,)


@pytest.mark.parametrize(("spec", "rules"), [AGENTS[2], AGENTS[5], AGENTS[7], AGENTS[12]], ids=str)
def test_threads_get_the_answers_that_calls_one_after_another_get(spec: str, rules: Rules) -> None:
    ours, twins = made(spec, rules), made(spec, rules)
    batch = decisions_of(rules, 1, 8)
    remembers = ours.remembers  # what it answers then depends on which call came first
    calls = 1 if remembers else 3
    answers = many_at_once([lambda: ours.act(*batch).tolist()] * 4, calls)
    alone = [twins.act(*batch).tolist() for _ in range(4 * calls)]
    if not remembers:
        assert sorted(answers) == sorted(alone)
    assert all(batch[1][np.arange(8), answer].all() for answer in answers)


@pytest.mark.parametrize(("spec", "rules"), AGENTS[:8], ids=lambda each: getattr(each, "name", each))
def test_a_copied_agent_has_a_lock_of_its_own(spec: str, rules: Rules) -> None:
    agent = made(spec, rules)
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        with getattr(agent, "lock", Lock()):
            asking(twin)()


COLD = """
import asyncio
from krypenv import Engine, Rules, agents

engine = Engine(Rules.preset("krypkasino"), 64, seed=1)
for _ in range(30):
    engine.step(engine.sample_actions())
tactician = agents.make("tactician", engine.rules, seed=0)

async def ask():
    calls = [asyncio.to_thread(tactician.act, engine.observation, engine.action_mask) for _ in range(8)]
    return await asyncio.gather(*calls)

for answer in asyncio.run(ask()):
    assert all(engine.action_mask[row, action] for row, action in enumerate(answer))
"""


@pytest.mark.slow
def test_eight_threads_ask_an_agent_that_is_not_compiled(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", COLD], env=environment, timeout=300, check=True)
    assert any(tmp_path.iterdir())


# ---------------------------------------------------------------------- engines

CALLS: dict[str, Callable[[Engine], Any]] = {
    "step": lambda engine: engine.step(engine.action_mask.argmax(axis=1)),
    "sample_actions": lambda engine: engine.sample_actions(),
    "restart": lambda engine: engine.restart([0], [1]),
    "play_games": lambda engine: engine.play_games(3),
    "set_state": lambda engine: engine.set_state(engine.state),
    "select": lambda engine: engine.select([0]),
    "copy": lambda engine: engine.copy(),
    "__getstate__": lambda engine: copy.deepcopy(engine),
}


KERNELS = {"step": "step_rows", "sample_actions": "sample_rows", "restart": "seed_rows", "play_games": "play_games"}
PAIRS = [*((outer, "step") for outer in (*KERNELS, "set_state")), *(("step", inner) for inner in CALLS)]


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_an_engine_that_is_called_twice_at_once_says_so(
    monkeypatch: pytest.MonkeyPatch, outer: str, inner: str
) -> None:
    engine, twin = (Engine(ALL_RULES["krypkasino players=3"], 4, seed=6) for _ in range(2))
    kernels = {name: getattr(engine_module, name) for name in KERNELS.values()}
    begun: list[bool] = []
    raised: list[BaseException] = []

    def call() -> None:
        try:
            CALLS[inner](engine)
        except RuntimeError as error:
            raised.append(error)

    def interrupted(kernel: Any) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            if not begun:  # in the middle of the outer call, from another thread
                begun.append(True)
                other = threading.Thread(target=call)
                other.start()
                other.join()
            return kernel(*given)

        return run

    with monkeypatch.context() as patch:
        for name, kernel in kernels.items():
            patch.setattr(engine_module, name, interrupted(kernel))
        CALLS[outer](engine)
    CALLS[outer](twin)
    name = {"copy": "select"}.get(inner, inner)
    assert str(raised[0]) == (
        f"Engine.{name} was called before another call of the same Engine had ended; give each thread one of its own, "
        "or let the threads take turns with a lock"
    )
    for each in (engine, twin):  # unharmed, and free again
        each.step(each.sample_actions())
    assert (engine.observation == twin.observation).all()
    assert engine.state.tobytes() == twin.state.tobytes()


WORKQUEUE = """
import sys, threading
import numba
from krypenv import Engine, Rules

def play(engine):
    for _ in range(60):
        engine.step(engine.sample_actions())

rules = Rules.preset("krypkasino")
engines = [Engine(rules, 1024, seed=seed, threads=2) for seed in range(2)]
players = [threading.Thread(target=play, args=(engine,)) for engine in engines]
for player in players:
    player.start()
for player in players:
    player.join()
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


# ---------------------------------------------------------------------- what they are made of


class Counter:
    """Counts slowly."""

    def __init__(self) -> None:
        self.lock, self.turn, self.count = Lock(), [None], 0

    @in_turn
    def add(self) -> int:
        """Add one."""
        self.count += 1
        return self.count

    @never_at_once
    def call(self, what: Callable[[], Any]) -> Any:
        return what()


def test_an_error_frees_both() -> None:
    counter = Counter()
    with pytest.raises(ZeroDivisionError):
        counter.call(lambda: 1 / 0)
    assert counter.call(lambda: 3) == 3
    with pytest.raises(RuntimeError, match=r"^Counter\.call was called before"):
        counter.call(lambda: counter.call(int))
    assert counter.call(counter.add) == 1
    assert Counter.add.__doc__ == "Add one."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer Pythons warn of forks beside threads
def test_a_forked_process_finds_locks_free() -> None:
    counter = Counter()
    with counter.lock:
        child = os.fork()
        if child == 0:
            os._exit(counter.add())
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 1
