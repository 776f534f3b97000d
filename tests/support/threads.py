"""Calls that several threads make at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any


def many_at_once(calls: Sequence[Callable[[], Any]], times: int = 1) -> list[Any]:
    """Return what calls give, each made some times on a thread of its own, all at once; raises what one raises."""
    begin, found, errors = threading.Barrier(len(calls)), list[Any](), list[BaseException]()

    def work(call: Callable[[], Any]) -> None:
        begin.wait()
        try:
            for _ in range(times):
                found.append(call())
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]
    return found
