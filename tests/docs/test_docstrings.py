"""The examples in docstrings print what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest
from support.places import ROOT

from krypenv import Engine, Game, Move, Rules, agents, determinize

NAMES = {"Rules": Rules, "Game": Game, "Engine": Engine, "Move": Move, "determinize": determinize, "agents": agents}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder in ("krypenv", "agents", "training")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8") and path.name != "rllib.py"  # which needs a toolbox
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_print_what_they_say(name):
    """Examples use the public names without importing them."""
    module = importlib.import_module(name if name.startswith("krypenv") else f"krypenv.{name}")
    assert doctest.testmod(module, extraglobs=NAMES).failed == 0
