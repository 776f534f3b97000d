"""Every ruling of docs/rulings.md is named by a test that bears its id."""

from __future__ import annotations

import ast
import re

from support.places import DOCS, TESTS

ID = re.compile(r"\|\s*\**([RVHKSOFLMGB]\d+)\b")


def test_every_ruling_has_a_test_that_bears_its_id() -> None:
    rulings = set(ID.findall((DOCS / "rulings.md").read_text(encoding="utf-8")))
    assert len(rulings) == 17 + 3 + 5 + 7 + 4 + 1 + 7 + 5 + 3 + 3 + 6
    named = {
        word.upper()
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for word in node.name.split("_")
    }
    assert rulings <= named, f"no test bears the id of {sorted(rulings - named)}"
