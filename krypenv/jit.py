"""The decorator of the compiled kernels: Numba, without the GIL, cached on disk."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import config
from numba.core.caching import FunctionCache
from numba.cpython.unsafe import numbers

_PACKAGE = Path(__file__).parent
JIT_IS_OFF = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # Numba makes the attributes of its configuration at run time


@functools.cache
def source_hash() -> str:
    """Return a hash over the sources that kernels are made of: their files, constants, and how they are compiled."""
    hashed = hashlib.sha256()
    for path in sorted([*_PACKAGE.glob("*.py"), *_PACKAGE.glob("agents/*.py"), *_PACKAGE.parent.glob("agents/*.py")]):
        source = path.read_bytes()
        if b"kernel\ndef " in source or path.stem in ("cards", "jit", "rules", "state", "tables"):
            hashed.update(source)
    return hashed.hexdigest()


class _PackageCache(FunctionCache):
    """Numba's own cache looks at one file only, and would keep a kernel whose callees in other files have changed."""

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), source_hash())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError):  # an index of another version, with types that are no longer there
            self.flush()
            return None


def records(dtype: np.dtype[Any], count: int | tuple[int, ...]) -> np.recarray:
    """Return zeroed records whose fields are attributes, for Python."""
    return np.zeros(count, dtype).view(np.recarray)


def handle(array: np.recarray) -> np.ndarray:
    """Return the view of records that kernels are called with: a plain array, which Numba unpacks fastest."""
    return array if JIT_IS_OFF else array.view(np.dtype((np.void, array.dtype)), np.ndarray)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function over one game's row, or a loop of it; plain Python where NUMBA_DISABLE_JIT is set."""
    # kernels allocate nothing, so they need no reference counts: those of row views cost a sixth of a step
    return _compile(function, _nrt=False)


def parallel_kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over `numba.prange`, whose turns run on several threads."""
    return _compile(function, parallel=True)


def _compile(function: Callable[..., Any], **options: bool) -> Any:
    if JIT_IS_OFF:
        return function
    dispatcher = numba.njit(nogil=True, error_model="numpy", **options)(function)  # type: ignore[call-overload]  # `_nrt` is not in the stubs
    with contextlib.suppress(RuntimeError):  # there is no folder to write to: each process compiles anew
        dispatcher._cache = _PackageCache(function)
    return dispatcher


def _leading_zeros(word: int) -> int:
    return 64 - int(word).bit_length()


def _trailing_zeros(word: int) -> int:
    return int(word & -word).bit_length() - 1


# of a 64-bit integer that is not zero: one machine instruction each
leading_zeros: Any = _leading_zeros if JIT_IS_OFF else numbers.leading_zeros
trailing_zeros: Any = _trailing_zeros if JIT_IS_OFF else numbers.trailing_zeros
