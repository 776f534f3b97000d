"""Parts of one call on several threads: all are called, errors come out, a forked process has threads of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from krypenv import Engine, Rules
from krypenv.runtime import threads
from krypenv.runtime.threads import count_threads, cut, share


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_every_part_is_called_once_and_on_a_thread_of_its_own(parts: int) -> None:
    together, called = threading.Barrier(parts, timeout=60), []

    def work(part: int, of: int) -> None:
        together.wait()  # nobody gets past it before all are here
        called.append((part, of, threading.get_ident()))

    for _ in range(3):
        called.clear()
        share(work, parts)
        assert sorted(part for part, _, _ in called) == list(range(parts))
        assert {of for _, of, _ in called} == {parts}
        assert len({thread for _, _, thread in called}) == parts


@pytest.mark.parametrize(("rows", "parts"), [(7, 1), (7, 3), (2, 5), (0, 2)])
def test_the_parts_of_arrays_are_views_that_make_up_the_whole(rows: int, parts: int) -> None:
    whole, pairs = np.arange(rows), np.zeros((rows, 2), np.int8)
    cuts = [cut((whole, pairs), part, parts) for part in range(parts)]
    assert np.concatenate([some for some, _ in cuts]).tolist() == whole.tolist()
    for some, of_pairs in cuts:
        assert len(some) == len(of_pairs)
        assert len(some) in (rows // parts, rows // parts + 1)
        of_pairs += 1
    assert (pairs == 1).all()


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_an_error_comes_out_when_all_parts_have_ended(wrong: int) -> None:
    ended, has_failed = [], threading.Event()

    def work(part: int, of: int) -> None:
        if part == wrong:
            has_failed.set()
            raise OverflowError(f"part {part} of {of}")
        assert has_failed.wait(60)
        ended.append(part)

    with pytest.raises(OverflowError, match=f"part {wrong} of 3"):
        share(work, 3)
    assert sorted(ended) == sorted({0, 1, 2} - {wrong})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer Pythons warn of forks beside threads
def test_a_forked_process_has_threads_of_its_own() -> None:
    share(lambda part, parts: None, 3)
    child = os.fork()
    if child == 0:
        done: list[int] = []
        signal.alarm(60)  # else it may wait for ever, for threads that it does not have
        try:
            share(lambda part, parts: done.append(part), 3)
        finally:
            os._exit(len(done))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


# ---------------------------------------------------------------------- processors


@pytest.mark.parametrize(
    ("files", "granted"),
    [
        ({}, 6),
        ({"cpu.max": "max 100000\n"}, 6),
        ({"cpu.max": "200000 100000\n"}, 2),
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
    assert count_threads(0) == granted
    assert count_threads(7) == 7
    assert Engine(Rules.preset("mini-low"), 8, threads=0).threads == granted


def test_a_system_without_affinities_grants_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CGROUPS", tmp_path)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for told, granted in ((24, 24), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda told=told: told)
        assert count_threads(0) == granted


def test_numba_keeps_to_a_quota() -> None:
    code = (
        "from krypenv.runtime import threads; threads._quota = lambda: 1.0; from krypenv import Engine; import numba; "
        "print(numba.config.NUMBA_NUM_THREADS)"
    )
    free = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], env=free, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
