"""How kernels are compiled: to machine code for Python, to intermediate code for other kernels.

Numba optimizes each function together with all that it calls, and makes machine code and an entry point for Python. For
a kernel that only other kernels call this is wasted work: the machine code of its callers contains it too.

This is the one file that uses Numba's internals. `krypenv.runtime.jit` imports it only with the versions of Numba that
it was tried with, and `find_difference` compares the internals with those expected; otherwise `plain` does the work.

This file could go if Numba compiled a function that others call to unoptimized code alone, linked each callee once, and
cached it by the sources of its callees. `dependencies` of pyproject.toml has the same versions.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from llvmlite import binding
from numba.core import compiler, event, types
from numba.core.base import BaseContext
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.funcdesc import default_mangler
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NopythonRewrites
from numba.extending import lower_cast

from krypenv.runtime.hashes import kernel_hash
from krypenv.runtime.plain import SPARES

NAMING = "names of code and files by contents"  # the scheme of names in the cache; code of another scheme is ignored
_CODE: dict[str, Any] = {}  # the intermediate code of each kernel alone, by its symbol, which is unique
_INTEGERS = types.integer_domain - {types.uint64}  # int64 holds them all
# What is called, overridden or unpacked here, with its parameters. `_rebuild` takes what `_reduce` returns.
_USED: tuple[tuple[Any, str, str], ...] = (
    (compiler.Compiler, "__init__", "self typingctx targetctx library args return_type flags locals"),
    (compiler.Compiler, "_compile_bytecode", "self"),
    (compiler.Compiler, "define_pipelines", "self"),
    (compiler.Flags, "__eq__", "self other"),
    (PassManager, "finalize", "self"),
    (BaseContext, "mangler", "self name types abi_tags uid"),
    (BaseContext, "subtarget", "self kws"),
    (
        compiler.CompileResult,
        "_rebuild",
        "target_context libdata fndesc env signature objectmode lifted typeann reload_init referenced_envs",
    ),
    (CPUDispatcher, "__init__", "self py_func locals targetoptions pipeline_class"),
    (CPUDispatcher, "compile", "self sig"),
    (CPUDispatcher, "get_call_template", "self args kws"),
    (CPUDispatcher, "get_overload", "self sig"),
    (CPUDispatcher, "add_overload", "self cres"),
    (JITCodeLibrary, "__init__", "self codegen name"),
    (JITCodeLibrary, "finalize", "self"),
    (JITCodeLibrary, "add_linking_library", "self library"),
    (JITCodeLibrary, "_get_module_for_linking", "self"),
    (JITCodeLibrary, "serialize_using_object_code", "self"),
    (JITCodeLibrary, "_finalize_dynamic_globals", "self"),
    (CompileResultCacheImpl, "rebuild", "self target_context payload"),
    (FunctionCache, "_index_key", "self sig codegen"),
    (FunctionCache, "load_overload", "self sig target_context"),
    (IndexDataCacheFile, "__init__", "self cache_path filename_base source_stamp"),
    (IndexDataCacheFile, "save", "self key data"),
    (IndexDataCacheFile, "_load_index", "self"),
    (IndexDataCacheFile, "_save_index", "self overloads"),
    (IndexDataCacheFile, "_save_data", "self name data"),
)


def find_difference() -> str:
    """Name an internal of Numba that differs from what this file expects; "" if none does."""
    for owner, name, parameters in _USED:
        actual = " ".join(inspect.signature(getattr(owner, name)).parameters) if hasattr(owner, name) else "nothing"
        if actual != parameters:
            return f"{owner.__name__}.{name} is another"
    missing = [name for name in ("no_compile", "nrt") if not hasattr(compiler.Flags, name)]
    return f"{missing[0]} is no flag" if missing else ""


@functools.cache
def _bytes_of(symbol: str) -> bytes:
    return cast(bytes, _CODE[symbol].as_bitcode())


class _Intermediate(JITCodeLibrary):
    """The intermediate code of a kernel and of all that it calls. It becomes one module where machine code is made."""

    _final_module: Any
    symbol: str  # the name of the kernel's function
    symbols: dict[str, None]  # those of all kernels that it calls, and its own: a set in order

    def finalize(self) -> None:
        """Link the functions of Numba that it calls, and note the kernels that it calls, without optimization."""
        self.symbols = {}
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            if isinstance(library, _Intermediate):
                self.symbols |= library.symbols
                self._dynamic_globals += library._dynamic_globals
            else:
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self.symbols[self.symbol] = None
        _CODE.setdefault(self.symbol, self._final_module)
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Link all of its code to one module, which may be linked more than once."""
        if self._shared_module is None:
            self._ensure_finalized()
            whole = self._final_module.clone()
            for symbol in self.symbols:
                if symbol != self.symbol:
                    whole.link_in(_CODE[symbol], preserve=True)
            for function in whole.functions:
                if not function.is_declaration and function.linkage == binding.Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = whole
        return self._shared_module

    def serialize_using_object_code(self) -> tuple[str, dict[str, bytes]]:
        """Serialize its name and all of its code, as bytes by symbol."""
        self._ensure_finalized()
        return self.name, {symbol: _bytes_of(symbol) for symbol in self.symbols}

    @classmethod
    def read(cls, codegen: Any, name: str, symbol: str, saved: dict[str, bytes]) -> _Intermediate:
        """Restore a library from saved code, bytes by symbol."""
        for unknown in saved.keys() - _CODE.keys():
            _CODE[unknown] = binding.parse_bitcode(saved[unknown])
        library = cls(codegen, name)
        library.symbol, library.symbols = symbol, dict.fromkeys(saved)
        library._final_module, library._finalized = _CODE[symbol], True
        return library


class _Flags(compiler.Flags):
    """Options of a compilation that are quick to compare: Numba does so for every operator of a kernel."""

    __slots__ = ()
    _hash = hash(compiler.Flags())  # Numba's is that of the options' names

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if type(other) is _Flags else super().__eq__(other)


class _Arguments(tuple[Any, ...]):
    """Types of arguments with a short repr, as Numba makes one for each pass, and records have long ones."""

    def __repr__(self) -> str:
        return f"{len(self)} arguments"


class _OwnNames(compiler.Compiler):
    """Names machine code after the kernel and its types, so that no other code has its name.

    Numba's names have numbers of the process in them: a kernel's, and for records those of their types. Two processes
    may give one name to a kernel of different types, and a third, which finds both in the cache, would mix them up.
    """

    kind = "entry"

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, args: Any, *others: Any) -> None:
        if self.kind == "included":
            library = _Intermediate(targetctx.codegen(), "kernel")
        super().__init__(typingctx, targetctx, library, _Arguments(args), *others)

    def _compile_bytecode(self) -> Any:
        known = self.state.func_id
        known.unique_id = _symbol_number(known.func, self.state.args, self.kind)
        known.unique_name = f"{known.func_qualname}${known.unique_id}"

        def mangle(name: str, types: Any, *, abi_tags: Any = (), uid: int | None = None) -> Any:
            return default_mangler(name, () if uid == known.unique_id else types, abi_tags=abi_tags, uid=uid)

        self.state.targetctx = self.state.targetctx.subtarget(mangler=mangle)  # tuples of records have long names
        result = super()._compile_bytecode()
        return result._replace(type_annotation="")  # a listing of all types, a quarter of what is kept in the cache

    def define_pipelines(self) -> list[Any]:
        """Leave out Numba's pass that fuses operations on whole arrays: no kernel has any."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [step for step in pipeline.passes if step[0] is not NopythonRewrites]
            pipeline.finalize()
        return pipelines


def _symbol_number(function: Callable[..., Any], args: tuple[Any, ...], kind: str) -> int:
    """Hash a kernel's code, its argument types and the kind of its library to a number."""
    facts = [kernel_hash(function), f"{function.__module__}.{function.__qualname__}", *map(str, args), kind]
    return int(hashlib.sha256("\0".join(facts).encode()).hexdigest()[:15], 16)


class _Compiler(_OwnNames):
    kind = "included"


class _IntermediateCacheImpl(CompileResultCacheImpl):
    """Reads saved kernels that have intermediate code only."""

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """Restore the result of compiling a kernel."""
        (name, saved), fndesc, env, signature, objectmode, lifted, annotation, reload_init, envs = payload
        return compiler.compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=_Intermediate.read(target_context.codegen(), name, fndesc.llvm_func_name, saved),
            environment=env,
            entry_point=None,
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
    _cache_hits: Any
    _cache_misses: Any
    _compiler: Any

    def __init__(self, function: Any, options: dict[str, Any], apart: bool) -> None:
        options = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, {}, options, _Compiler)
        self.is_apart = apart
        self._compiler._customize_flags = _without_code

    def compile(self, sig: Any) -> Any:
        """Compile it for types of arguments, once, without Numba's timers, which add up with depth."""
        with global_compiler_lock, self._compiling_counter:
            if sig not in self.overloads:
                result = self._cache.load_overload(sig, self.targetctx)
                known = self._cache_misses if result is None else self._cache_hits
                known[sig] += 1
                if result is None:
                    with event.trigger_event("numba:compile", data={"dispatcher": self}):
                        result = self._compiler.compile(sig, None)
                    self.add_overload(result)
                    self._cache.save_overload(sig, result)
                else:
                    self.add_overload(result)
            return cast(Any, self.overloads[sig]).entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how another kernel calls it, with arguments of general types."""
        kws = {name: _general(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(_general, args)), kws)

    def add_overload(self, cres: Any) -> None:
        """Register compiled or cached code; an object stands in for the missing entry point."""
        cres.library.symbol = symbol = cres.fndesc.llvm_func_name
        if self.is_apart:
            cres.library._final_module.get_function(symbol).add_function_attribute("noinline")
        if cres.entry_point is None:
            cres = cres._replace(entry_point=object())
            self.targetctx.insert_user_function(cres.entry_point, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres


def _general(kind: Any) -> Any:
    """Generalize the type of an argument, so that a kernel is compiled for fewer types.

    A literal becomes its type, a small integer an int64, and an array in a record an array of its dtype.
    """
    kind = types.unliteral(kind)
    if isinstance(kind, types.NestedArray):
        return types.Array(kind.dtype, kind.ndim, "C")
    return types.int64 if kind in _INTEGERS else kind


@lower_cast(types.NestedArray, types.Array)
def _as_array(context: Any, builder: Any, fromty: Any, toty: Any, val: Any) -> Any:
    """Pass an array in a record as an array: both have the same layout in memory."""
    return val


def _without_code(flags: Any) -> Any:
    flags.no_compile = True
    return _Flags(flags)


class Kernel(CPUDispatcher):
    """A kernel: Python calls its machine code, and other kernels include its intermediate code.

    A kernel that is `apart` is not inlined there: code that seldom runs would slow down the code around it. A `spared`
    one is not compiled for records with the field `SPARES` as first argument: a function that raises takes its place.
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
    """Make a function with another one's type of result, by its annotation, that raises RuntimeError."""
    annotation, known = function.__annotations__["return"], {"int": 0, "float": 0.0, "bool": False, "None": None}
    result = known[annotation] if annotation in known else np.uint64(0) if annotation == "np.uint64" else (0, 0, 0)

    def trap(*args: Any) -> Any:
        if not args[0].spares_others:  # it is never set; Numba must not know that no result is returned
            raise RuntimeError("rules like the main game's have come to a kernel that is not compiled for them")
        return result

    return trap


class _CacheFiles(IndexDataCacheFile):
    """An index and files of code that are named by hashes of their keys.

    Numba numbers the files, so two processes that fill a cache at once may write two kernels to one file, and the next
    process confuses them.
    """

    _index_name: str
    _cache_path: str

    def save(self, key: Any, data: Any) -> None:
        """Write the code of a key, and add it to the index; remove code of earlier sources."""
        names, base = self._load_index(), self._index_name.removesuffix(".nbi")
        if not names:
            for stale in Path(self._cache_path).glob(f"{glob.escape(base)}.*.nbc"):
                with contextlib.suppress(OSError):
                    stale.unlink()
        if key not in names:
            names[key] = f"{base}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
            self._save_index(names)
        self._save_data(names[key], data)


class _PackageCache(FunctionCache):
    """A cache under `kernel_hash`: Numba's own looks at one file only, and keeps kernels whose callees have changed.

    It also pickles what a kernel closes over, and pickled kernels differ from process to process.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CacheFiles(self._cache_path, self._impl.filename_base, stamp)
        self.options = sorted(options.items())  # of the compilation

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return sig, codegen.magic_tuple(), NAMING, kernel_hash(self._py_func), repr(self.options)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError):  # an index from another version, with types that no longer exist
            self.flush()
            return None

    def is_filled(self, codegen: Any) -> bool:
        """Test whether the cache has code for this kernel and this processor."""
        keys = self._cache_file._load_index()
        own = (codegen.magic_tuple(), kernel_hash(self._py_func), repr(self.options))
        return any((key[1], *key[-2:]) == own for key in keys)


class _IntermediateCache(_PackageCache):
    _impl_class: Any = _IntermediateCacheImpl


class _CacheOnDemand:
    """A kernel's cache, made when first used, because Numba then writes to the folder to test it."""

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
    """Make a function a kernel; one that is not parallel allocates nothing."""
    # without reference counts: those of row views cost a sixth of a step
    given = {"parallel": True} if parallel else {"_nrt": False}
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **given}
    compiled = Kernel(function, targetoptions=options, apart=apart, spared=spared)
    compiled._cache = _CacheOnDemand(_PackageCache, function, options)
    inner = {**compiled.inner.targetoptions, "apart": apart}
    compiled.inner._cache = _CacheOnDemand(_IntermediateCache, function, inner)
    return compiled


def is_compiled(kernel: Any) -> bool:
    """Test whether the cache has code for a kernel as it is now, for any types of arguments."""
    cache = getattr(kernel._cache, "made", None)
    return isinstance(cache, _PackageCache) and cache.is_filled(kernel.targetctx.codegen())
