"""Every agent chooses what it chose before, from the same observations and features, byte by byte.

After a change that is meant, `make golden` writes the digests anew: the diff names agents and rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.frozen import rule_sets, sample_digests

from krypenv.inputs.files import write_whole

FILE = Path(__file__).with_name("frozen.json")


@pytest.fixture(scope="module")
def frozen(request: pytest.FixtureRequest) -> Iterator[dict[str, dict[str, str]]]:
    """The digests of all rule sets, which `--regen-all` writes anew."""
    stored = json.loads(FILE.read_text())
    yield stored
    if request.config.getoption("regen_all"):
        lines = [f"{json.dumps(text)}: {json.dumps(stored[text])}" for text in rule_sets()]
        write_whole(FILE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


@pytest.mark.parametrize("text", rule_sets())
def test_choices_and_bytes_are_as_they_were(
    text: str, frozen: dict[str, dict[str, str]], request: pytest.FixtureRequest
) -> None:
    found = sample_digests(text)
    if request.config.getoption("regen_all"):
        frozen[text] = found
    assert found == frozen[text]
