"""Names of a package that are imported when they are first asked for (PEP 562), for Numba takes a while to load."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def tell_doctor() -> Iterator[None]:
    """Let an import that fails say who tells what is wrong."""
    try:
        yield
    except Exception as error:  # of a library that is missing or broken
        doctor = Path(__file__).parent.with_name("doctor") / "report.py"
        raise ImportError(f"{error}\nWhat is wrong is told by: python {doctor}") from error


def importer(package: str, names: dict[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that has names of its modules, by module, and the modules themselves."""
    sources = {name: f"{package}.{module}" for module, listed in names.items() for name in listed}

    def find(name: str) -> Any:
        if name in sources:
            with tell_doctor():
                return getattr(importlib.import_module(sources[name]), name)
        module = f"{package}.{name}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
