"""What the tests of tables share: a browser, pages without one, and a folder in which games are saved."""

from __future__ import annotations

import pytest
from support.browsers import chromium
from support.studies import studying, visit


def _as_long_as_can_be(fixture_name, config):
    """Share it by all tests where only those with a browser run: beside it no other test can run coroutines."""
    return "session" if config.getoption("markexpr") == "browser" else "module"


@pytest.fixture(scope=_as_long_as_can_be)
def browser():
    """Debian's chromium without a window."""
    with chromium() as found:
        yield found


@pytest.fixture
def visitor():
    """A page on which games are studied, of a server without a table."""
    with studying() as client, visit(client) as visitor:
        yield visitor


@pytest.fixture
def anyio_backend():
    """What runs the coroutines of tests."""
    return "asyncio"


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """The folder in which a test runs, which is the home too; the one above it is empty otherwise."""
    folder = tmp_path / "inner"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder
