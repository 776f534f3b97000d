"""Files of games that people play: each game has its own file, which only one process at a time plays."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from krypenv.inputs.files import PRIVATE, write_whole
from krypenv.training.cli.outputs import check_file, read_text
from krypenv.training.runs.tasks import writing_to

if TYPE_CHECKING:
    from krypenv.game.game import Game

Opened = tuple["Game", list[str], "Path | None"]  # a game, who sits where if its record says so, and its file
_MOST_READ = 20  # most records that are searched for an unfinished game


def latest() -> list[Path]:
    """List the records in this folder, the latest first."""
    dated = []
    for path in Path().glob("*.krk"):
        with contextlib.suppress(OSError):
            dated.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(dated, reverse=True)[:_MOST_READ]]


def unfinished() -> Iterator[Opened]:
    """Yield the latest games in this folder that have not ended and whose records name the players."""
    for path in latest():
        with contextlib.suppress(OSError, ValueError):  # no record
            if path.is_file():
                game, players, is_over = _read(str(path))
                if players and not is_over:
                    yield game, players, path


def open_record(name: str, held: contextlib.ExitStack) -> Opened:
    """Read the game of a record, and lock its file; there is no file for the standard input.

    Raises OSError if it can't be read or written, and ValueError for a game that is over or played elsewhere.
    """
    path = None if name == "-" else Path(name)
    if path:
        check_file(path)
        held.enter_context(alone(path))
    game, players, is_over = _read(name)
    if is_over:
        raise ValueError(f"the game of {name} is over; krypenv show prints it")
    return game, players, path


def _read(name: str) -> tuple[Game, list[str], bool]:
    """Read a record: the game, who sits where if it says so, and whether nothing more is played."""
    from krypenv.game.game import Game
    from krypenv.ui.seats import players_in
    from krypenv.ui.view import END

    game = Game.replay(read_text(name))
    return game, players_in(game), game.session_over or END in game.tags


def own_name(record: bytes, held: contextlib.ExitStack, stem: str = "game") -> Path:
    """Write a record to the first free name in this folder, and lock its file."""
    for number in count(1):
        path = Path(f"{stem}.krk" if number == 1 else f"{stem}-{number}.krk")
        with contextlib.ExitStack() as locks, contextlib.suppress(ValueError):  # played by another process
            if not os.path.lexists(path):
                locks.enter_context(alone(path))
                write_whole(path, record, PRIVATE)
                held.enter_context(locks.pop_all())
                return path
    raise AssertionError  # names do not end


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Lock the game of a file against other processes; raise ValueError if one is playing it."""
    real = Path(os.path.realpath(path))
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(writing_to(real.parent, real.name))
        except ValueError:
            raise ValueError(f"the game of {path} is being played already; go on with it there") from None
        yield
