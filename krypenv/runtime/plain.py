"""How kernels are compiled by a Numba that `krypenv.runtime.lean` was not tried with: by public functions alone.

The results are the same, and compiling takes longer. Numba's cache ignores changes in the files of callees, so each
version of all source files has a folder of its own for its code.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba import config

from krypenv.runtime.hashes import PACKAGE, kernel_hash, sources_digest

SPARES = "spares_others"  # a field of records for which `lean` compiles kernels without what is `spared`
njit: Any = numba.njit
settings: Any = config  # Numba makes its attributes at run time


def compile_kernel(
    function: Callable[..., Any], *, apart: bool = False, spared: bool = False, parallel: bool = False
) -> Any:
    """Make a function a kernel; `apart` and `spared` are ignored.

    Kernels of other packages are not cached, because their sources are not in the digest.
    """
    options = {"nogil": True, "error_model": "numpy", "parallel": parallel}
    folder = cache_folder() if function.__module__.startswith("krypenv.") else None
    if folder is None:
        return njit(**options)(function)
    with _keeping_in(folder):
        compiled = njit(cache=True, **options)(function)
    cache: Any = getattr(compiled, "_cache", None)
    if function.__closure__ and hasattr(cache, "_index_key"):
        # Numba's key pickles the kernels that this one closes over, and these differ from process to process; a Numba
        # without such a key compiles them in each process
        cache._index_key = lambda sig, codegen: (sig, codegen.magic_tuple(), kernel_hash(function))
    return compiled


@functools.cache
def cache_folder() -> Path | None:
    """Make the folder for the code of these sources; None if no place for it is writable."""
    digest = sources_digest()
    for place in [Path(settings.CACHE_DIR)] if settings.CACHE_DIR else [PACKAGE / "__pycache__", _users_folder()]:
        folder = place / f"krypenv-{digest[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder if digest else None
        except OSError:
            pass
    return None


def _users_folder() -> Path:
    return Path("~/.cache").expanduser()


@contextmanager
def _keeping_in(folder: Path) -> Iterator[None]:
    """Let Numba make caches in this folder during the block."""
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def is_compiled(kernel: Any) -> bool:
    """Test whether the cache has code for a kernel of these sources, for any types of arguments."""
    folder, code = kernel.stats.cache_path, kernel.py_func.__code__
    return folder is not None and any(Path(folder).glob(f"*.{code.co_name}-{code.co_firstlineno}.*.nbi"))
