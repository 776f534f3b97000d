"""The decorators that compile kernels: Numba, without the GIL, cached on disk.

Kernels are small functions over the record of one game. They allocate nothing: scratch arrays are handed in, and the
capacity of each has its proof in a comment beside it. Each is compiled once, as intermediate code that its callers
include (`lean`); `plain` does the same work with Numba's public means, for versions of it that were not tried. To try a
new one, raise `NEWEST` and the bound in pyproject.toml, and run `make check`.

The cache keys a kernel by a hash of all that goes into it (`hashes`), so stale code is never used. Numba compiles
again for each type of argument. Rules like the main game's have a record type of their own, and for this type no
`other_kernel` is compiled. Arrays from outside pass through `for_kernels`. A `rare_kernel` seldom runs in the main
game.

Kernels trust their rows: observations and masks are checked by `krypenv.kernels.decision_checks` before, states by
`krypenv.worlds.invariants`. With NUMBA_DISABLE_JIT=1 kernels are plain Python, for debuggers and coverage; an index out
of bounds is an error then.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import config
from numba.extending import intrinsic

from krypenv.runtime import plain
from krypenv.runtime.plain import SPARES as SPARES
from krypenv.runtime.threads import count_threads

if "NUMBA_NUM_THREADS" not in os.environ:  # Numba heeds affinities, but no quotas
    config.NUMBA_NUM_THREADS = min(config.NUMBA_NUM_THREADS, count_threads(0))  # type: ignore[attr-defined]

JIT_IS_OFF = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # Numba makes the attributes of its configuration at run time
OLDEST, NEWEST = (0, 66), (0, 68)  # versions of Numba that `krypenv.runtime.lean` was tried with
ASK_FOR_PLAIN = "KRYPENV_PLAIN_NUMBA"  # the environment variable that selects `krypenv.runtime.plain`


def why_plain(version: tuple[int, ...]) -> str:
    """Explain why kernels are compiled the plain way with a version of Numba; "" if they are not."""
    if os.environ.get(ASK_FOR_PLAIN, "0") not in ("", "0"):
        return f"{ASK_FOR_PLAIN} is set"
    if not OLDEST <= version <= NEWEST:
        first, last, this = (".".join(map(str, numbers)) for numbers in (OLDEST, NEWEST, version))
        return f"krypenv was tried with Numba {first} to {last}, and this is {this}"
    try:
        from krypenv.runtime import lean

        difference = lean.find_difference()
    except (ImportError, AttributeError, TypeError) as error:
        difference = str(error)
    return f"Numba's internals have changed: {difference}" if difference else ""


def _way() -> Any:
    """Return the module that compiles."""
    if JIT_IS_OFF or WHY_PLAIN:
        return plain
    from krypenv.runtime import lean

    return lean


WHY_PLAIN = why_plain(numba.version_info.short)
way = _way()


def records(dtype: np.dtype[Any], count: int | tuple[int, ...]) -> np.recarray:
    """Return zeroed records whose fields are attributes, for Python."""
    return np.zeros(count, dtype).view(np.recarray)


def for_kernels(array: np.ndarray, dtype: npt.DTypeLike | None = None) -> np.ndarray:
    """Convert an array from outside to a contiguous and writable one, without a copy where it is one.

    Numba compiles every kernel again for other arrays, such as JAX's, which are read-only.
    """
    return np.require(array, dtype, ("C", "A", "W", "E"))


def handle(array: np.recarray) -> np.ndarray:
    """View records as kernels take them: a plain array, which Numba unpacks fastest."""
    return array if JIT_IS_OFF else array.view(_plain(array.dtype), np.ndarray)


@functools.cache
def _plain(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Make a dtype of plain records, one object for each layout: Numba compares identical ones fastest."""
    return np.dtype((np.void, dtype))


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of one game's row, or a loop over rows; with NUMBA_DISABLE_JIT leave it as plain Python."""
    return function if JIT_IS_OFF else way.compile_kernel(function)


def rare_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that seldom runs, kept apart from the kernels that call it."""
    return function if JIT_IS_OFF else way.compile_kernel(function, apart=True)


def other_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that rules like the main game's never run; for them it is not compiled.

    Its first argument is a record of compiled rules (`krypenv.kernels.compiled`).
    """
    return function if JIT_IS_OFF else way.compile_kernel(function, apart=True, spared=True)


def parallel_kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over `numba.prange`, which runs on several threads."""
    return function if JIT_IS_OFF else way.compile_kernel(function, parallel=True)


def is_compiled(kernel: Any) -> bool:
    """Test whether the cache has code for a kernel as it is now, for any types of arguments."""
    return bool(way.is_compiled(kernel))


@contextmanager
def compilations(announce: Callable[[], None]) -> Iterator[None]:
    """Call a function whenever the block compiles a kernel, but not when one is loaded from the cache."""
    try:
        from numba.core import event
    except ImportError:  # a later Numba may have it elsewhere; then nothing is announced
        yield
        return

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            announce()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


def _leading_zeros(word: int) -> int:
    return 64 - int(word).bit_length()


def _trailing_zeros(word: int) -> int:
    return int(word & -word).bit_length() - 1


@intrinsic
def _count_leading(context: Any, word: Any) -> Any:
    return word(word), lambda context, builder, _, args: builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))


@intrinsic
def _count_trailing(context: Any, word: Any) -> Any:
    return word(word), lambda context, builder, _, args: builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))


# of a nonzero 64-bit integer: one machine instruction each
leading_zeros: Any = _leading_zeros if JIT_IS_OFF else _count_leading
trailing_zeros: Any = _trailing_zeros if JIT_IS_OFF else _count_trailing
