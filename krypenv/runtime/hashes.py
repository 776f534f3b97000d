"""Hashes of all that a kernel's compiled code depends on: the keys of caches."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE = Path(__file__).parent.parent


@functools.cache
def kernel_hash(function: Callable[..., Any]) -> str:
    """Hash a kernel's code, the constants and types that it names or closes over, and the kernels that it calls.

    The fields of the named tuples it takes are hashed too. Names are looked up when this is called: call it after all
    modules are loaded.
    """
    code, known = function.__code__, function.__globals__
    parts = [code.co_code, repr((code.co_consts, code.co_names, code.co_varnames)).encode()]
    named = [(name, known[name]) for name in code.co_names if name in known]
    for _, module in list(named):
        if inspect.ismodule(module) and module.__name__.startswith("krypenv"):
            named += [(name, getattr(module, name)) for name in code.co_names if hasattr(module, name)]
    named += [
        (name, cell.cell_contents) for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
    ]
    for name, value in named:
        parts += [name.encode(), _describe(value)]
    for annotation in function.__annotations__.values():
        parts += [repr(fields).encode() for fields in _fields(annotation, known)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _fields(annotation: str, known: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the fields of the named tuple that an annotation names, and of those nested in it."""
    named: Any = known.get(annotation)
    if hasattr(named, "_fields"):
        yield named._fields
        for inner in named.__annotations__.values():
            yield from _fields(getattr(inner, "__forward_arg__", str(inner)), vars(sys.modules[named.__module__]))


def _describe(value: Any) -> bytes:
    """Describe a value that a kernel names by bytes, functions and modules by their names alone."""
    if hasattr(value, "py_func"):
        is_apart = getattr(getattr(value, "inner", None), "is_apart", False)
        options = {**value.targetoptions, "apart": is_apart, "spared": getattr(value, "is_spared", False)}
        return f"{kernel_hash(value.py_func)} {sorted(options.items())}".encode()
    if isinstance(value, np.ndarray):
        return repr((value.dtype, value.shape)).encode() + value.tobytes()
    if callable(value) or inspect.ismodule(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', type(value).__name__)}".encode()
    return repr(value).encode()


def sources_digest(package: Path = PACKAGE) -> str:
    """Hash all source files of a package; "" if it lies in no folder."""
    digest, has_files = hashlib.sha256(), False
    for folder, _, names in sorted(os.walk(package, followlinks=True)):  # a checkout has links
        for file in (Path(folder, name) for name in sorted(names) if name.endswith(".py")):
            source = file.read_bytes()
            digest.update(f"{file.relative_to(package).as_posix()}\0{len(source)}\0".encode() + source)
            has_files = True
    return digest.hexdigest() if has_files else ""
