"""Fuzzers, by what they attack: what each module registers, CI tries briefly and `make soak` for an hour."""

import importlib
from pathlib import Path

from support.fuzzing import FUZZERS


def every_fuzzer():
    """Return all fuzzers by name, as in `text.rules`."""
    for path in Path(__file__).parent.glob("[a-z]*.py"):
        importlib.import_module(f"fuzz.{path.stem}")
    return dict(sorted(FUZZERS.items()))
