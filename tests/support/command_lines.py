"""Command lines: each does a tiny piece of what it asks for, or is refused with exit code 2 and one sentence."""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from krypenv import Game, Rules
from krypenv.training.cli import commands
from krypenv.training.evaluation.analysis import picture
from krypenv.ui.browser import pages
from krypenv.ui.browser.serving import Serving
from support.commands import krypenv, params_of
from support.fuzzing import OUTCOMES, check_sentence
from support.small_files import scores, some_folder, tiny_protocol

LINES = {  # legal and tiny; every option of every command stands in one of them or in `settings_command`
    "evaluate": (
        "evaluate greedy --against random --deals 2 --players 2 --rules mini-low --rule games=1 --seed 1 "
        "--deals-from dev --json out.json"
    ),
    "evaluate teams": "evaluate greedy --against random --deals 1 --rules mini-double --players 4 --teams 2",
    "arena": (
        "arena greedy random --out arena --players 2 --rules mini-low --rule games=1 --deals 2 --deals-from 7 --seed 1 "
        "--chunk 2 --first 1 --cheaters --workers 1 --ray --json out.json"
    ),
    "rules": "rules mini-low --players 3 --rule goal=high --full --language sv",
    "show": "show game.krk",
    "play": (
        "play --rules mini-low --players 2 --rule games=1 --against greedy --seat 0 --hint greedy --seed 1 "
        "--four-colours --no-colour --language sv"
    ),
    "play on": "play --load game.krk --against greedy",
    "table": (
        "table --rules mini-low --players 2 --rule games=1 --against greedy --people 1 --seat 0 --hint greedy --seed 1 "
        "--language sv --host 127.0.0.1 --port 0 --no-open"
    ),
    "table teams": "table --rules mini-double --players 4 --teams 2 --people 2 --port 0 --no-open",
    "table on": "table --load game.krk --against greedy --port 0 --no-open",
    "table study": "table --study position.krk --hint greedy --port 0 --no-open",
    "show pictures": (
        "show game.krk --gif out.gif --png out.png --at 2 --hands none --width 160 --seconds 0.1 --four-colours"
    ),
    "bench": "bench --seconds 0.01 --json out.json --peers --only engine",
    "doctor": "doctor --json out.json",
    "analyze": "analyze position.krk --agent search --worlds 2 --seed 1 --json out.json --picture out.png",
    "analyze record": ("analyze game.krk --worlds 2 --seat 0 --mark 1 --mark 2 --mark 3 --annotate out.krk"),
    "analyze open": "analyze position.krk --open --worlds 2",
    "score": "score greedy --table two --table three --quick --workers 1 --ray --out score.json",
    "score check": "score --check scores/2.json --share 0.5",
    "score board": "score --board scores",
    "data": (
        "data greedy --against random --rules mini-low --players 2 --rule games=1 --games 2 --seed 1 --values "
        "--analyst search(worlds=2) --luck --workers 1 --ray --out data"
    ),
    "solve": "solve mini-sweep --rule packs=1 --gap 1 --iterations 9 --threads 1 --out solved",
}
COMMANDS = {name: line.split() for name, line in LINES.items()}
COMMANDS["bench beside"] = ["bench", "--beside", "HEAD", "--only", "engine*", "--seconds", "0.01"]
BY_SETTINGS = ("train", "exploit")  # commands whose lines follow from their options
GIVEN = {"position.krk", "game.krk", "scores"}  # what `folder_with_games` has in it


def settings_command(name: str, rng: random.Random | None = None) -> list[str]:
    """Return a legal command line with some options of a command, or with all its numbers."""
    small = {"--rules": "mini-low", "--out": "runs", "--json": "out.json", "--deals": "2", "--selection": "2"}
    options = [each for each in params_of(name) if each.opts[0].startswith("--") and each.name != "demonstrations"]
    options = [each for each in options if each.opts[0] in small or str(each.default).replace(".", "", 1).isdecimal()]
    words = [name, "greedy"] if name == "exploit" else [name]
    for each in options if rng is None else rng.sample(options, min(5, len(options))):
        words += [each.opts[0], small.get(each.opts[0], str(each.default))]
    return words


TINY: dict[str, Any] = {"workers": 1, "ray": False, "worlds": 2}
LEAST = {"deals": 2, "games": 2, "chunk": 2, "threads": 2}
ASKED_FOR_ALONE = ("train", "exploit", "solve", "data", "bench", "doctor")  # whose work is not begun


def shrunk(name: str) -> Any:
    """Return a command that does a tiny piece of its work, after the checks of its settings."""
    run = commands.run_of(name)

    @functools.wraps(run)
    def command(settings: Any) -> None:
        tiny = TINY | {each: min(getattr(settings, each, 0), most) for each, most in LEAST.items()}
        changes = {each: value for each, value in tiny.items() if each in type(settings).model_fields}
        if name not in ASKED_FOR_ALONE:
            run(settings.model_copy(update=changes))

    return command


class Loaded(pages.Pages):
    """The pages of a table whose game is made at once, and which nobody opens."""

    def __init__(self, load: Any, *rest: Any, **more: Any) -> None:
        super().__init__(load, *rest, **more)
        load()


@contextlib.contextmanager
def tiny_work() -> Iterator[None]:
    """Let every command do a tiny piece of its work, after all its checks."""
    shrunk_by_name = {name: shrunk(name) for name in commands.COMMANDS}
    with (
        tiny_protocol(),
        mock.patch.object(commands, "run_of", shrunk_by_name.__getitem__),
        mock.patch.object(pages, "Pages", Loaded),
        mock.patch.object(Serving, "run", return_value=None),
        mock.patch.object(picture, "save_figure", lambda path, figure: path.touch()),
    ):
        yield


@contextlib.contextmanager
def folder_with_games() -> Iterator[Path]:
    """Go to a folder deep in a temporary one, with a record, a position, and scores."""
    game = Game(Rules.preset("mini-low"), seed=1)
    for _ in range(3):
        game.push(game.legal_moves()[0])
    with some_folder() as folder:
        (folder / "position.krk").write_text(game.position(), encoding="utf-8")
        (folder / "game.krk").write_text(game.record(), encoding="utf-8")
        (folder / "scores").mkdir()
        for number, data in enumerate(scores()):
            (folder / "scores" / f"{number}.json").write_bytes(data)
        yield folder


def clear(folder: Path) -> None:
    """Remove what commands have written."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.name not in GIVEN and (path.parent.name != "scores" or path.suffix != ".json"):
            path.rmdir() if path.is_dir() else path.unlink()


def run_line(words: list[str]) -> bool:
    """Run a command line; return whether it did what was asked for. Else it was refused, and wrote nothing."""
    before = set(Path.cwd().rglob("*"))
    done = krypenv(*words)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise AssertionError(f"{type(done.exception).__name__}: {done.exception}, for {words!r}") from done.exception
    assert done.exit_code in (0, 2), f"exit code {done.exit_code} for {words!r}"
    OUTCOMES.add("refused" if done.exit_code else "right")
    if done.exit_code == 0:
        return True
    assert done.stderr.startswith("krypenv: "), f"{done.stderr!r:.300} for {words!r}"
    check_sentence(ValueError(done.stderr.rstrip("\n")), words)
    assert {path for path in Path.cwd().rglob("*") if not path.name.startswith(".")} <= before, words
    return False
