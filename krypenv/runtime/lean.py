"""How kernels are compiled: to machine code for Python, to intermediate code for other kernels.

Numba optimizes each function together with all that it calls, and makes machine code and an entry point for Python. For
a kernel that only other kernels call this is wasted work: the machine code of its callers contains it too.

This is the one file that uses Numba's internals. `krypenv.runtime.jit` imports it only with a Numba of the versions
that it was tried with, and `find_difference` looks whether the internals are those; else `plain` does the same work.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding
from numba.core import compiler, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher
from numba.extending import lower_cast

from krypenv.runtime.hashes import kernel_hash
from krypenv.runtime.plain import SPARES

NAMING = "names by contents"  # how code in the cache is named: none that was named otherwise is used
_INTEGERS = types.integer_domain - {types.uint64}  # int64 holds them all
# What is called, overridden or unpacked here, with its parameters. `_rebuild` takes what `_reduce` returns.
_USED: tuple[tuple[Any, str, str], ...] = (
    (compiler.Compiler, "__init__", "self typingctx targetctx library args return_type flags locals"),
    (compiler.Compiler, "_compile_bytecode", "self"),
    (
        compiler.CompileResult,
        "_rebuild",
        "target_context libdata fndesc env signature objectmode lifted typeann reload_init referenced_envs",
    ),
    (CPUDispatcher, "__init__", "self py_func locals targetoptions pipeline_class"),
    (CPUDispatcher, "get_call_template", "self args kws"),
    (CPUDispatcher, "get_overload", "self sig"),
    (CPUDispatcher, "add_overload", "self cres"),
    (JITCodeLibrary, "__init__", "self codegen name"),
    (JITCodeLibrary, "serialize_using_object_code", "self"),
    (JITCodeLibrary, "serialize_using_bitcode", "self"),
    (JITCodeLibrary, "_optimize_final_module", "self"),
    (JITCodeLibrary, "_finalize_final_module", "self"),
    (JITCodeLibrary, "_finalize_dynamic_globals", "self"),
    (JITCodeLibrary, "_verify_declare_only_symbols", "self"),
    (CompileResultCacheImpl, "rebuild", "self target_context payload"),
    (FunctionCache, "_index_key", "self sig codegen"),
    (FunctionCache, "load_overload", "self sig target_context"),
    (IndexDataCacheFile, "_load_index", "self"),
)


def find_difference() -> str:
    """Return what of Numba's internals is not as this file takes it to be, "" if nothing is."""
    for owner, name, parameters in _USED:
        found = " ".join(inspect.signature(getattr(owner, name)).parameters) if hasattr(owner, name) else "nothing"
        if found != parameters:
            return f"{owner.__name__}.{name} is another"
    missing = [name for name in ("no_compile", "nrt") if not hasattr(compiler.Flags, name)]
    return f"{missing[0]} is no flag" if missing else ""


class _Intermediate(JITCodeLibrary):
    """The intermediate code of a kernel and of all that it calls."""

    def _optimize_final_module(self) -> None:
        pass  # it is optimized as a part of its callers

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        return self.serialize_using_bitcode()

    @classmethod
    def read(cls, codegen: Any, name: str, bitcode: bytes) -> _Intermediate:
        """Return a library from its saved code."""
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class _OwnNames(compiler.Compiler):
    """Names machine code after the kernel and its types, so that no other code has its name.

    Numba's names have numbers of the process in them: a kernel's, and for records those of their types. Two processes
    may give one name to a kernel of different types, and a third, which finds both in the cache, would mix them up.
    """

    kind = "entry"

    def _compile_bytecode(self) -> Any:
        known = self.state.func_id
        known.unique_id = _symbol_number(known.func, self.state.args, self.kind)
        known.unique_name = f"{known.func_qualname}${known.unique_id}"
        return super()._compile_bytecode()


def _symbol_number(function: Callable[..., Any], args: tuple[Any, ...], kind: str) -> int:
    """Return a number that follows from a kernel's code, its argument types and the kind of its library."""
    held = [repr(cell.cell_contents) for cell in function.__closure__ or ()]
    facts = [kernel_hash(function), f"{function.__module__}.{function.__qualname__}", *held, *map(str, args), kind]
    return int(hashlib.sha256("\0".join(facts).encode()).hexdigest()[:15], 16)


class _Compiler(_OwnNames):
    kind = "included"

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *others: Any) -> None:
        super().__init__(typingctx, targetctx, _Intermediate(targetctx.codegen(), "kernel"), *others)


class _IntermediateCacheImpl(CompileResultCacheImpl):
    """Reads what Numba has saved of a kernel without machine code."""

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """Return the result of compiling a kernel."""
        (name, _, bitcode), fndesc, env, signature, objectmode, lifted, annotation, reload_init, envs = payload
        return compiler.compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=_Intermediate.read(target_context.codegen(), name, bitcode),
            environment=env,
            entry_point=object(),
            fndesc=fndesc,
            type_annotation=annotation,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            reload_init=reload_init,
            referenced_envs=envs,
        )


class Inner(CPUDispatcher):
    """A kernel as other kernels call it."""

    _cache: Any
    _compiler: Any

    def __init__(self, function: Any, options: dict[str, Any], apart: bool) -> None:
        options = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, {}, options, _Compiler)
        self.is_apart = apart
        self._compiler._customize_flags = _without_code

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how another kernel calls it, with arguments of general types."""
        kws = {name: _general(each) for name, each in kws.items()}
        return super().get_call_template(tuple(map(_general, args)), kws)

    def add_overload(self, cres: Any) -> None:
        """Register what was compiled or read from the cache; a key stands in for the missing entry point."""
        if self.is_apart:
            own = cres.library._final_module.get_function(cres.fndesc.llvm_func_name)
            own.add_function_attribute("noinline")
        if cres.entry_point is None:
            cres = cres._replace(entry_point=object())
            self.targetctx.insert_user_function(cres.entry_point, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres


def _general(kind: Any) -> Any:
    """Return the type that stands for all like an argument's, so that a kernel isn't compiled for each of them.

    A literal number is one of its type, a small integer an int64, an array in a record any array of its dtype.
    """
    kind = types.unliteral(kind)
    if isinstance(kind, types.NestedArray):
        return types.Array(kind.dtype, kind.ndim, "C")
    return types.int64 if kind in _INTEGERS else kind


@lower_cast(types.NestedArray, types.Array)
def _as_array(context: Any, builder: Any, fromty: Any, toty: Any, val: Any) -> Any:
    """Pass an array in a record as an array: both lie in memory alike."""
    return val


def _without_code(flags: Any) -> Any:
    flags.no_compile = True
    return flags


class Kernel(CPUDispatcher):
    """A kernel: Python calls its machine code, and other kernels include its intermediate code.

    What is `apart` stays a function of its own there: code that seldom runs would slow down what is around it. What is
    `spared` is not compiled for kernels whose first argument is a record with the field `SPARES`: a trap stands in.
    """

    _cache: Any

    def __init__(
        self, function: Any, locals: Any = None, targetoptions: Any = None, *, apart: bool = False, spared: bool = False
    ) -> None:
        super().__init__(function, locals or {}, targetoptions, _OwnNames)
        self.inner = Inner(function, self.targetoptions, apart)
        self.is_spared = spared
        self._trap = Inner(_trap_for(function), self.targetoptions, apart) if spared else self.inner

    def _inner_for(self, args: Any) -> Inner:
        first: Any = args[0] if args else None
        is_tuple: bool = isinstance(first, types.BaseTuple)
        if is_tuple and len(first) > 0:  # all arguments of a trap
            first = first[0]
        return self._trap if isinstance(first, types.Record) and SPARES in first.fields else self.inner

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how another kernel calls it."""
        return self._inner_for(args).get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return what represents it in another kernel."""
        return self._inner_for(sig).get_overload(sig)


def _trap_for(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the results of another one, by its annotation, that raises RuntimeError if it runs."""
    annotation, known = function.__annotations__["return"], {"int": 0, "float": 0.0, "bool": False, "None": None}
    result = known[annotation] if annotation in known else np.uint64(0) if annotation == "np.uint64" else (0, 0, 0)

    def trap(*args: Any) -> Any:
        if not args[0].spares_others:  # it is never set; Numba must not know that no result is returned
            raise RuntimeError("rules like the main game's have come to a kernel that is not compiled for them")
        return result

    return trap


class _PackageCache(FunctionCache):
    """A cache under `kernel_hash`: Numba's own looks at one file only, and keeps kernels whose callees have changed."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function)
        self.options = sorted(options.items())  # of the compilation

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), NAMING, kernel_hash(self._py_func), repr(self.options))

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


class _IntermediateCache(_PackageCache):
    _impl_class: Any = _IntermediateCacheImpl


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


def compile_kernel(
    function: Callable[..., Any], *, apart: bool = False, spared: bool = False, parallel: bool = False
) -> Kernel:
    """Return a function as a kernel; one that is not parallel allocates nothing."""
    # without reference counts: those of row views cost a sixth of a step
    given = {"parallel": True} if parallel else {"_nrt": False}
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **given}
    compiled = Kernel(function, targetoptions=options, apart=apart, spared=spared)
    compiled._cache = _CacheOnDemand(_PackageCache, function, options)
    inner = {**compiled.inner.targetoptions, "apart": apart}
    compiled.inner._cache = _CacheOnDemand(_IntermediateCache, function, inner)
    return compiled


def is_compiled(kernel: Any) -> bool:
    """Return whether the cache has code for a kernel as it is now, for any types of arguments."""
    cache = getattr(kernel._cache, "made", None)
    return isinstance(cache, _PackageCache) and cache.is_filled(kernel.targetctx.codegen())
