"""How kernels are compiled: to machine code for Python, to intermediate code for other kernels.

Numba optimizes each function together with all that it calls, and makes machine code and an entry point for Python. For
a kernel that only other kernels call this is wasted work: the machine code of its callers contains it too.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core import compiler, types
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher


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


class _Compiler(compiler.Compiler):
    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *others: Any) -> None:
        super().__init__(typingctx, targetctx, _Intermediate(targetctx.codegen(), "kernel"), *others)


class IntermediateCacheImpl(CompileResultCacheImpl):
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
        """Return how another kernel calls it; literal numbers are treated like any numbers of their type."""
        kws = {name: types.unliteral(each) for name, each in kws.items()}
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    def add_overload(self, cres: Any) -> None:
        """Register what was compiled or read from the cache; a key stands in for the missing entry point."""
        if self.is_apart:
            own = cres.library._final_module.get_function(cres.fndesc.llvm_func_name)
            own.add_function_attribute("noinline")
        if cres.entry_point is None:
            cres = cres._replace(entry_point=object())
            self.targetctx.insert_user_function(cres.entry_point, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres


def _without_code(flags: Any) -> Any:
    flags.no_compile = True
    return flags


class Kernel(CPUDispatcher):
    """A kernel: Python calls its machine code, and other kernels include its intermediate code.

    What is `apart` stays a function of its own there: code that seldom runs would slow down what is around it.
    """

    _cache: Any

    def __init__(self, function: Any, locals: Any = None, targetoptions: Any = None, *, apart: bool = False) -> None:
        super().__init__(function, locals or {}, targetoptions)
        self.inner = Inner(function, self.targetoptions, apart)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how another kernel calls it."""
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return what represents it in another kernel."""
        return self.inner.get_overload(sig)
