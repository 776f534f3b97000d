"""The wheel, built by way of the source archive, holds what the tree holds and works outside the checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE_DIRS = {"krypenv": "krypenv", "agents": "krypenv/agents", "training": "krypenv/training"}

PLAY_A_GAME = """
import krypenv
from krypenv import Engine, Rules, agents
engine = Engine(Rules.preset("krypkasino", players=2), num_games=1, seed=0)
while not engine.finished.any():
    engine.step(engine.sample_actions())
assert engine.final_scores.sum() == 42
print(krypenv.__file__, agents.__file__, sep="\\n")
"""


def run(*command: str, cwd: Path, **variables: str) -> str:
    """Run a command, which must succeed, and return what it printed."""
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from a source archive that was built from a clean copy of the tree."""
    tree = tmp_path_factory.mktemp("tree")
    for name in PACKAGE_DIRS:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    run(sys.executable, "-m", "build", "--no-isolation", cwd=tree)
    (built,) = (tree / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def target(wheel, tmp_path_factory) -> Path:
    """A directory into which the wheel is installed, without its dependencies."""
    directory = tmp_path_factory.mktemp("target")
    command = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(directory), str(wheel)]
    run(sys.executable, *command, cwd=directory)
    return directory


def test_wheel_holds_what_the_tree_holds(wheel):
    in_tree = {
        f"{package}/{path.relative_to(ROOT / name).as_posix()}"
        for name, package in PACKAGE_DIRS.items()
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    in_wheel = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert in_wheel == in_tree


def test_wheel_plays_outside_the_checkout(target, tmp_path):
    printed = run(sys.executable, "-c", PLAY_A_GAME, cwd=tmp_path, PYTHONPATH=str(target))
    assert printed.split() == [str(target / "krypenv/__init__.py"), str(target / "krypenv/agents/__init__.py")]


def test_wheel_has_the_command(target, tmp_path):
    printed = run(sys.executable, str(target / "bin/krypenv"), "--help", cwd=tmp_path, PYTHONPATH=str(target))
    assert all(command in printed for command in ("train", "evaluate", "bench", "show"))
