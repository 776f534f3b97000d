"""A bare install: all but training works without torch, and what needs it says so in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from krypenv import Game, Rules
from krypenv.agents.champion import MODELS
from krypenv.inputs.words import to_install
from krypenv.training.settings.console import EXTRAS

pytestmark = pytest.mark.slow
MISSING = [module for module, extra in EXTRAS.items() if extra == "train"]
RUN = f"""
import json, sys
from importlib.machinery import PathFinder

class Bare(PathFinder):  # finds none of them, as if they were not installed
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {MISSING} else super().find_spec(name, path, target)

sys.meta_path = [Bare if each is PathFinder else each for each in sys.meta_path]
from typer.testing import CliRunner
from krypenv.training.cli.commands import app
done = {{name: CliRunner().invoke(app, words) for name, words in json.load(sys.stdin).items()}}
print(json.dumps({{name: (each.exit_code, each.output + repr(each.exception)) for name, each in done.items()}}))
"""
MODEL = str(MODELS / "two")
WORK = {
    "evaluate": f"evaluate champion(worlds=2) --against learned(model={MODEL!r},temperature=1.0) --deals 2",
    "arena": f"arena champion(worlds=0) {MODEL} greedy --deals 4 --out arena --json arena.json",
    "analyze": "analyze game.krk --worlds 2 --seat 0 --picture game.png --json game.json",
    "show": "show game.krk --gif game.gif --png show.png --at 3 --width 160",
    "play": "play --load begun.krk --against greedy",
    "exploit": "exploit greedy --seeds 0 --worlds 2 --selection 2 --deals 2 --json exploit.json",
    "bench": "bench --help",
    "train": "train --help",
}
TRAINING = {
    "train": "train --minutes 1 --out run",
    "exploit": "exploit greedy --seeds 1 --out responses",
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, tuple[int, str]]]:
    """The folder in which all commands ran, one after the other, and their exit codes and outputs."""
    folder = tmp_path_factory.mktemp("bare")
    game = Game(Rules.preset(), seed=1)
    while not game.is_over:
        game.push(game.legal_moves()[0])
    (folder / "game.krk").write_text(game.record())
    (folder / "begun.krk").write_text(Game(Rules.preset(), seed=1).record())
    lines = {**WORK, **{f"without torch, {name}": line for name, line in TRAINING.items()}}
    run = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps({name: line.split() for name, line in lines.items()}),
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return folder, json.loads(run.stdout)


def test_all_but_training_needs_no_torch(bare: tuple[Path, dict[str, tuple[int, str]]]) -> None:
    folder, done = bare
    assert {name: done[name] for name in WORK if done[name][0]} == {}
    assert {path.name for path in folder.iterdir()} == {
        ".begun.krk.lock", "arena", "arena.json", "begun.krk", "exploit.json", "game.gif", "game.json",
        "game.krk", "game.png", "show.png",
    }  # fmt: skip


@pytest.mark.parametrize("name", TRAINING)
def test_what_trains_says_what_it_needs(bare: tuple[Path, dict[str, tuple[int, str]]], name: str) -> None:
    code, output = bare[1][f"without torch, {name}"]
    assert code == 2
    line, _ = output.splitlines()
    assert line.startswith(f"krypenv: {name} needs ")
    assert line.endswith(f", which is not installed; {to_install('train')}")
