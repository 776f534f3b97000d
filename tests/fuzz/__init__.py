"""Fuzzers: functions of a seed and a number of mutants, which CI runs for a moment and `make soak` for long."""

import importlib
from pathlib import Path

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def every_fuzzer():
    """Return all fuzzers by name, as in `text.rules`."""
    return {
        f"{module}.{name}": fuzzer
        for module in MODULES
        for name, fuzzer in importlib.import_module(f"fuzz.{module}").FUZZERS.items()
    }
