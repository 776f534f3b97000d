"""Parts of one call on several threads: all are called, errors come out, a forked process has threads of its own."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from krypenv.runtime.threads import cut, share


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
    ended = []

    def work(part: int, of: int) -> None:
        if part == wrong:
            raise OverflowError(f"part {part} of {of}")
        time.sleep(0.05)
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
        try:
            share(lambda part, parts: done.append(part), 3)
        finally:
            os._exit(len(done))
    for _ in range(600):  # tenths of a second
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 3
            return
        time.sleep(0.1)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the forked process waits for threads that it does not have")
