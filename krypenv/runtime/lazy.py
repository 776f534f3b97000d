"""Names of a package that are imported on first use (PEP 562), because Numba takes a while to load."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def tell_doctor() -> Iterator[None]:
    """Add to the error of a failed import how to run the doctor."""
    try:
        yield
    except Exception as error:  # a library is missing or broken
        doctor = Path(__file__).parent.with_name("doctor") / "report.py"
        raise ImportError(f"{error}\nTo see what is wrong, run: python {doctor}") from error


def lister(package: str) -> Callable[[], list[str]]:
    """Return a package's `__dir__`: the names that it offers in `__all__`, and those of Python, as `__version__`."""

    def names() -> list[str]:
        own = vars(sys.modules[package])
        return [*own.get("__all__", own), *(name for name in own if name.startswith("__"))]

    return names


def importer(package: str, names: dict[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__`.

    The first imports the given names, listed by module, and the modules themselves.
    """
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

    return find, lister(package)
