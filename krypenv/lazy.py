"""Names of a package that are imported when they are first asked for (PEP 562), for Numba takes a while to load."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def importer(package: str, names: dict[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that has names of its modules, by module, and the modules themselves."""
    sources = {name: f"{package}.{module}" for module, listed in names.items() for name in listed}

    def find(name: str) -> Any:
        if name in sources:
            return getattr(importlib.import_module(sources[name]), name)
        module = f"{package}.{name}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
