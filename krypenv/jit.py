"""The decorator of the compiled kernels: Numba, without the GIL, cached on disk."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache

_PACKAGE = Path(__file__).parent


@functools.cache
def source_hash() -> str:
    """Return a hash over the sources of the kernels: files that hold some, and files whose constants they use."""
    hashed = hashlib.sha256()
    for path in sorted([*_PACKAGE.glob("*.py"), *_PACKAGE.glob("agents/*.py"), *_PACKAGE.parent.glob("agents/*.py")]):
        source = path.read_bytes()
        if b"\n@kernel" in source or path.stem in ("cards", "rules", "state", "tables"):
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


def records(dtype: np.dtype[Any], count: int) -> np.recarray:
    """Return zeroed records whose fields are attributes, for Python."""
    return np.zeros(count, dtype).view(np.recarray)


def handle(array: np.recarray) -> np.ndarray:
    """Return the view of records that kernels are called with: a plain array, which Numba takes over six times faster."""
    return array if numba.config.DISABLE_JIT else array.view(np.dtype((np.void, array.dtype)), np.ndarray)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function over one game's row; a plain Python function where NUMBA_DISABLE_JIT is set."""
    if numba.config.DISABLE_JIT:
        return function
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    dispatcher._cache = _PackageCache(function)
    return dispatcher
