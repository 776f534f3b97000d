"""Files of the commands: checks of output paths before the work, and input texts of limited size."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from krypenv.inputs.files import check_plain, naming
from krypenv.training.settings.base import Settings, about, group_of, options_of
from krypenv.training.settings.groups import OUTPUT

MOST_TEXT = 1_000_000  # characters of a record or a position
FOLDERS = ("DIR", "FOLDER")  # metavars of options that name a folder


def check_file(path: Path, source: Path | str | None = None) -> None:
    """Check before any work that a file can be written, without creating or changing anything.

    Raises OSError with the file's name if there is something else than a plain file, or it or its folder can't be
    written, and ValueError for a file that is also the `source` to read.
    """
    if source is not None and os.path.realpath(path) == os.path.realpath(source):
        raise ValueError(f"{path} is what is read; give the file to write another name")
    with naming(path):
        check_plain(path)
    check_folder(path.parent, path)


def check_folder(path: Path | str, named: Path | None = None) -> None:
    """Raise OSError unless a folder is writable or can be created; nothing is created or changed.

    The error has the folder's name, or that of the file `named`, which goes there.
    """
    folder = Path(os.path.abspath(path))
    while not os.path.lexists(folder):
        folder = folder.parent
    with naming(Path(named or path)), tempfile.TemporaryFile(dir=folder):
        pass


def check_outputs(settings: Settings) -> None:
    """Check before any work that all files and folders in the options of a command can be written.

    No output may be the input file of an argument, and a picture's name ends as in its metavar. Raises as `check_file`
    and `check_folder` do.
    """
    options = options_of(type(settings))
    values = {name: getattr(settings, name) for name in options}
    source = next((values[name] for name, field in options.items() if about(field)["is_argument"]), None)
    for name, path in values.items():
        if isinstance(path, Path) and group_of(type(settings), name) == OUTPUT:
            metavar = about(options[name])["metavar"]
            ending = Path(metavar).suffix
            if metavar in FOLDERS:
                check_folder(path)
            else:
                check_file(path, source if isinstance(source, str) else None)
            if ending and path.suffix.lower() != ending:
                raise ValueError(f"the name of this picture ends in {ending}, and {path.name!r} does not")


def read_text(source: str) -> str:
    """Read the text of a file, or of the standard input for "-".

    Raises OSError if it can't be read, and ValueError if it is not text or too long for a game.
    """
    is_input = source == "-"
    if is_input and (sys.stdin is None or sys.stdin.closed):
        raise ValueError("the standard input is closed; name a file")
    name = "the standard input" if is_input else source
    try:
        with contextlib.nullcontext(sys.stdin) if is_input else open(source, encoding="utf-8") as file:
            text = file.read(MOST_TEXT + 1)
    except UnicodeDecodeError:
        raise ValueError(f"{name} is no text, so it is no position or record") from None
    if len(text) > MOST_TEXT:
        raise ValueError(f"{name} has more than {MOST_TEXT:,} characters, so it is no position or record")
    return text
