"""Files of the commands: checks of output paths before the work, and input texts of limited size."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path

from krypenv.notation import is_record
from krypenv.training.settings.base import Settings, about, group_of, options_of
from krypenv.training.settings.groups import OUTPUT

MOST_TEXT = 1_000_000  # characters of a record or a position
FOLDERS = ("DIR", "FOLDER")  # metavars of options that name a folder
LONGEST_NAME = 200  # bytes of a file's name; the temporary name of an atomic write is longer


def check_files(*paths: Path | str | None, source: Path | str | None = None) -> None:
    """Check before any work that files can be written, without creating or changing anything.

    Raises OSError with the file's name if it or its folder can't be written. Raises ValueError for a path that is not
    a plain file, for a file named twice, and for a file that is also the `source` to read. None stands for no file.
    """
    files = [Path(path) for path in paths if path is not None]
    for number, path in enumerate(files):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if _exists(path) and not path.is_file():
            raise ValueError(f"{path} is not a plain file that could be replaced; name another file")
        if len(os.fsencode(path.name)) > LONGEST_NAME:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
        check_folder(path.parent, path)
        if any(is_same(path, other) for other in files[:number]):
            raise ValueError(f"{path} is named twice; give each file a name of its own")
        if source is not None and is_same(path, source):
            raise ValueError(f"{path} is what is read; give the file to write another name")


def check_outputs(settings: Settings) -> None:
    """Check before any work that all files and folders in the options of a command can be written.

    No output may be the input file of an argument. Raises as `check_files` and `check_folder` do.
    """
    settings_class, files, source = type(settings), [], None
    for name, field in options_of(settings_class).items():
        value, facts = getattr(settings, name), about(field)
        if group_of(settings_class, name) == OUTPUT and isinstance(value, Path):
            if facts["metavar"] in FOLDERS:
                check_folder(value)
            else:
                files.append(value)
        elif facts["is_argument"] and isinstance(value, str):
            source = value
    check_files(*files, source=source)


def check_folder(path: Path | str, named: Path | None = None) -> None:
    """Raise OSError unless a folder is writable or can be created; nothing is created or changed.

    The error has the folder's name, or that of the file `named`, which goes there.
    """
    folder = Path(os.path.abspath(path))
    while not _exists(folder) and folder != folder.parent:
        folder = folder.parent
    name = str(named or path)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), name) from None


def is_same(path: Path | str, other: Path | str) -> bool:
    """Tell whether two paths lead to the same file."""
    return os.path.realpath(path) == os.path.realpath(other)


def read_text(source: str) -> str:
    """Read the text of a file, or of the standard input for "-".

    Raises OSError if it can't be read, and ValueError if it is not text or too long for a game.
    """
    if source == "-" and (sys.stdin is None or sys.stdin.closed):
        raise ValueError("the standard input is closed; name a file")
    name = "the standard input" if source == "-" else source
    try:
        if source == "-":
            text = sys.stdin.read(MOST_TEXT + 1)
        else:
            with Path(source).open(encoding="utf-8") as file:
                text = file.read(MOST_TEXT + 1)
    except UnicodeDecodeError:
        raise ValueError(f"{name} is no text, so it is no position or record") from None
    if len(text) > MOST_TEXT:
        raise ValueError(f"{name} has more than {MOST_TEXT:,} characters, so it is no position or record")
    return text


def read_source(source: str) -> str:
    """Read a text as `read_text` does, unless the argument itself is a position or a record."""
    if source != "-" and not os.path.exists(source) and (":" in source or is_record(source)):
        return source  # Path.exists raises for a long text
    return read_text(source)


def _exists(path: Path) -> bool:
    """Tell whether a path exists, even as a broken link; raises OSError for an impossible name."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
