"""The wheel, built by way of the source archive, holds what the tree holds and works outside the checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.places import ROOT

pytestmark = pytest.mark.slow
PACKAGE_DIRS = {"krypenv": "krypenv", "agents": "krypenv/agents", "training": "krypenv/training"}

PLAY_A_GAME = """
import krypenv
from krypenv import Engine, agents
engine = Engine("krypkasino", num_games=1, seed=0)
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


def make_tree(directory: Path, links: bool) -> Path:
    """A clean copy of the tree, with the links of `krypenv/` or with what a system without links makes of them."""
    for name in PACKAGE_DIRS:
        skipped = shutil.ignore_patterns("__pycache__", *(PACKAGE_DIRS if name == "krypenv" else ()))
        shutil.copytree(ROOT / name, directory / name, ignore=skipped)
    for name in ("agents", "training"):
        link = directory / "krypenv" / name
        link.symlink_to(Path("..", name)) if links else link.write_text(f"../{name}")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, directory)
    return directory


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from a source archive that was built from a clean copy of the tree."""
    tree = make_tree(tmp_path_factory.mktemp("tree"), links=True)
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


def files_in(wheel: Path) -> list[str]:
    """The names of the files of the package in a wheel, in order."""
    return sorted(name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name)


def test_wheel_holds_what_the_tree_holds(wheel):
    in_tree = {
        f"{package}/{path.relative_to(ROOT / name).as_posix()}"
        for name, package in PACKAGE_DIRS.items()
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files_in(wheel) == sorted(in_tree)


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_wheel_of_a_checkout_is_that_of_the_source_archive(wheel, links, tmp_path):
    tree = make_tree(tmp_path, links)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", cwd=tree)
    (built,) = (tree / "dist").glob("*.whl")
    assert files_in(built) == files_in(wheel)


def test_a_script_beside_a_clone_finds_the_package(tmp_path):
    tree = make_tree(tmp_path / "krypenv", links=True)
    (tmp_path / "script.py").write_text("from krypenv import Game, agents\nprint(agents.__file__)")
    printed = run(sys.executable, "script.py", cwd=tmp_path, PYTHONPATH=str(tree))  # as an editable install has it
    assert printed.split() == [str(tree / "krypenv/agents/__init__.py")]


def test_wheel_plays_outside_the_checkout_and_has_the_command(target, tmp_path):
    printed = run(sys.executable, "-c", PLAY_A_GAME, cwd=tmp_path, PYTHONPATH=str(target))
    assert printed.split() == [str(target / "krypenv/__init__.py"), str(target / "krypenv/agents/__init__.py")]
    printed = run(sys.executable, str(target / "bin/krypenv"), "--help", cwd=tmp_path, PYTHONPATH=str(target))
    assert all(command in printed for command in ("train", "evaluate", "bench", "show"))
