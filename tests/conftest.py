"""Settings for all tests."""

import os
import signal
import subprocess
import sys
from collections import defaultdict
from zlib import crc32

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # windows open nowhere

import numpy as np
import pytest
from hypothesis import settings
from matplotlib.figure import Figure

from krypenv.pictures.rendering import Renderer
from krypenv.runtime.jit import JIT_IS_OFF
from krypenv.ui.ahead import mark_of

# Every run tries the same examples; `make soak` tries many new ones
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("soak", max_examples=2000, database=None, print_blob=True)
settings.load_profile("same")

if JIT_IS_OFF:  # as plain Python, numpy warns where the random streams wrap around
    np.seterr(over="ignore")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else what a test interrupts would never end


def pytest_addoption(parser):
    """Let `make lowest` try fewer cases of a test: versions change what libraries do, not which rules there are."""
    parser.addoption("--cases", type=int, metavar="N", help="N cases of each test are not slow, but all pages of docs")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark all but so many cases of a test as slow as `--cases` or its marker `few` say; their names draw which."""
    cases = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("slow"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for name, each in cases.items():
        few = each[0].get_closest_marker("few")
        most = few.args[0] if few else len(each)
        if config.getoption("--cases") and not name.startswith("tests/docs/"):
            most = config.getoption("--cases")
        for item in sorted(each, key=lambda item: crc32(item.nodeid.encode()))[most:]:
            item.add_marker("slow")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes():
    """Compile what most tests need once, on two processors, before each worker would do it for itself."""
    mark = None if JIT_IS_OFF else mark_of("tests")
    if not mark or mark.exists():
        return
    agents = [
        "champion(worlds=1)",
        *(f"--against={name}" for name in ("tactician", "search(worlds=1)", "rollout(worlds=1)", "ismcts(worlds=1)")),
    ]
    for process in [
        subprocess.Popen(
            [sys.executable, "-m", "krypenv", "evaluate", *agents, "--rules", rules, "--deals", "1"],
            stdout=subprocess.DEVNULL,
        )
        for rules in ("krypkasino", "kasino-sweden")
    ]:
        process.wait()
    mark.touch()


@pytest.fixture(autouse=True, scope="session")
def _windows_do_not_wait():
    """Leave out the half second for which a window shows each picture to a person."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Renderer, "pause", 0)
        yield


@pytest.fixture
def no_pictures(monkeypatch):
    """Leave the drawing out where nobody looks at the pictures: it takes half of the time of a small training."""
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **settings: file.write(b"no picture"))


def _fail_where_nothing_may_be_skipped(report):
    if os.environ.get("KRYPENV_NO_SKIPS") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"skipped, and here nothing may be: {report.longrepr[-1]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """A file that is skipped fails with KRYPENV_NO_SKIPS=1, as it is in CI."""
    return _fail_where_nothing_may_be_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """A test that is skipped fails with KRYPENV_NO_SKIPS=1, as it is in CI."""
    return _fail_where_nothing_may_be_skipped((yield))
