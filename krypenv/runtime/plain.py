"""How kernels are compiled by a Numba that `krypenv.runtime.lean` was not tried with: by its public means.

The results are the same, and compiling takes longer. Numba's cache looks at the file of a kernel and not at those of
the kernels it calls, so code is kept in a folder of its own for each state of all source files.
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
    """Return a function as a kernel. Those of other packages are not kept, as their sources are not in the digest.

    Nothing is kept `apart` or `spared` here.
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
    """Return the folder for the code of these sources; None if there is no place to write to."""
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
    """Let Numba choose this folder for the caches that are made in the block."""
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def is_compiled(kernel: Any) -> bool:
    """Return whether there is code for a kernel of these sources, for any types of arguments."""
    folder, code = kernel.stats.cache_path, kernel.py_func.__code__
    return folder is not None and any(Path(folder).glob(f"*.{code.co_name}-{code.co_firstlineno}.*.nbi"))
