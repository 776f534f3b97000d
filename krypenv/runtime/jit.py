"""The decorators that compile kernels: Numba, without the GIL, cached on disk."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import config
from numba.core import event
from numba.core.caching import FunctionCache, NullCache
from numba.cpython.unsafe import numbers

from krypenv.runtime.lean import IntermediateCacheImpl, Kernel

JIT_IS_OFF = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # Numba makes the attributes of its configuration at run time


@functools.cache
def kernel_hash(function: Callable[..., Any]) -> str:
    """Return a hash of everything that a kernel's compiled code depends on, in any file.

    That is its own code, the constants and types it names, the fields of the named tuples it takes, and the same for
    each kernel it calls. Names are looked up when this is called, so call it after all modules are loaded.
    """
    code, known = function.__code__, function.__globals__
    parts = [code.co_code, repr((code.co_consts, code.co_names, code.co_varnames)).encode()]
    named = [(name, known[name]) for name in code.co_names if name in known]
    for _, module in list(named):
        if inspect.ismodule(module) and module.__name__.startswith("krypenv"):
            named += [(name, getattr(module, name)) for name in code.co_names if hasattr(module, name)]
    for name, value in named:
        parts += [name.encode(), _describe(value)]
    parts += [repr(fields).encode() for each in function.__annotations__.values() for fields in _fields(each, known)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _fields(annotation: str, known: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the fields of the named tuple that an annotation names, and of those nested in it."""
    named: Any = known.get(annotation)
    if hasattr(named, "_fields"):
        yield named._fields
        for each in named.__annotations__.values():
            yield from _fields(getattr(each, "__forward_arg__", str(each)), vars(sys.modules[named.__module__]))


def _describe(value: Any) -> bytes:
    """Return bytes that tell apart the values a kernel may name; functions and modules are known by name alone."""
    if hasattr(value, "py_func"):
        options = {**value.targetoptions, "apart": isinstance(value, Kernel) and value.inner.is_apart}
        return f"{kernel_hash(value.py_func)} {sorted(options.items())}".encode()
    if isinstance(value, np.ndarray):
        return repr((value.dtype, value.shape)).encode() + value.tobytes()
    if callable(value) or inspect.ismodule(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', type(value).__name__)}".encode()
    return repr(value).encode()


class _PackageCache(FunctionCache):
    """A cache under `kernel_hash`: Numba's own looks at one file only, and keeps kernels whose callees have changed."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function)
        self.options = sorted(options.items())  # of the compilation

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), kernel_hash(self._py_func), repr(self.options))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError):  # an index from another version, with types that no longer exist
            self.flush()
            return None

    def is_filled(self, codegen: Any) -> bool:
        """Return whether there is code for this kernel and this processor."""
        keys = self._cache_file._load_index()
        own = (codegen.magic_tuple(), kernel_hash(self._py_func), repr(self.options))
        return any((key[1], *key[-2:]) == own for key in keys)


def is_compiled(kernel: Any) -> bool:
    """Return whether the cache has code for a kernel as it is now, for any types of arguments."""
    cache = getattr(kernel._cache, "made", None)
    return isinstance(cache, _PackageCache) and cache.is_filled(kernel.targetctx.codegen())


class _IntermediateCache(_PackageCache):
    _impl_class: Any = IntermediateCacheImpl


class _CacheOnDemand:
    """A kernel's cache, made when first needed: to make one, Numba tests the folder by writing to it."""

    def __init__(self, make: type[_PackageCache], function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._make, self._given = make, (function, options)

    @functools.cached_property
    def made(self) -> Any:
        try:
            return self._make(*self._given)
        except RuntimeError:  # no folder is writable: every process compiles again
            return NullCache()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made, name)


def records(dtype: np.dtype[Any], count: int | tuple[int, ...]) -> np.recarray:
    """Return zeroed records whose fields are attributes, for Python."""
    return np.zeros(count, dtype).view(np.recarray)


def handle(array: np.recarray) -> np.ndarray:
    """Return the view of records that kernels take: a plain array, which Numba unpacks fastest."""
    return array if JIT_IS_OFF else array.view(np.dtype((np.void, array.dtype)), np.ndarray)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of one game's row, or a loop over rows; with NUMBA_DISABLE_JIT leave it as plain Python."""
    # kernels allocate nothing, so they need no reference counts: those of row views cost a sixth of a step
    return _compile(function, _nrt=False)


def rare_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that the main game never runs, kept apart from the kernels that call it."""
    return _compile(function, apart=True, _nrt=False)


def parallel_kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over `numba.prange`, which runs on several threads."""
    return _compile(function, parallel=True)


def _compile(function: Callable[..., Any], apart: bool = False, **given: bool) -> Any:
    if JIT_IS_OFF:
        return function
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **given}
    compiled = Kernel(function, targetoptions=options, apart=apart)
    compiled._cache = _CacheOnDemand(_PackageCache, function, options)
    inner = {**compiled.inner.targetoptions, "apart": apart}
    compiled.inner._cache = _CacheOnDemand(_IntermediateCache, function, inner)
    return compiled


class _Listener(event.Listener):
    """Calls a function whenever a compilation begins."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell

    def on_start(self, event: Any) -> None:
        self._tell()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def compilations(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function whenever the block is about to compile a kernel, but not when one is loaded from the cache."""
    with event.install_listener("numba:compile", _Listener(tell)):
        yield


def _leading_zeros(word: int) -> int:
    return 64 - int(word).bit_length()


def _trailing_zeros(word: int) -> int:
    return int(word & -word).bit_length() - 1


# of a nonzero 64-bit integer: one machine instruction each
leading_zeros: Any = _leading_zeros if JIT_IS_OFF else numbers.leading_zeros
trailing_zeros: Any = _trailing_zeros if JIT_IS_OFF else numbers.trailing_zeros
