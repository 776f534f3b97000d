"""Files of the commands: output paths are checked before the work, and input texts are limited in size."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path

from krypenv.inputs.files import IN_UTF_16, UTF_16
from krypenv.notation import is_record
from krypenv.training.settings.base import Settings, about, group_of, options_of
from krypenv.training.settings.groups import OUTPUT

MOST_TEXT = 1_000_000  # characters of a record or a position
FOLDERS = ("DIR", "FOLDER")  # what `--help` calls the value of an option that names a folder
LONGEST_NAME = 200  # bytes of a file's name; the temporary name of an atomic write is longer


def check_files(*paths: Path | str | None, source: Path | str | None = None) -> None:
    """Check before any work that files can be written, without creating or changing anything.

    Raises OSError with the file's name if it or its folder can't be written. Raises ValueError for a path that is not
    a plain file, for a file named twice, and for one that is also the `source` to read. None stands for no file.
    """
    files = [Path(path) for path in paths if path is not None]
    for number, path in enumerate(files):
        _check_file(path)
        if any(_is_same(path, other) for other in files[:number]):
            raise ValueError(f"{path} is named twice; give each file a name of its own")
        if source is not None and _is_same(path, Path(source)):
            raise ValueError(f"{path} is what is read; give the file to write another name")


def check_outputs(settings: Settings) -> None:
    """Check before any work that all files and folders can be written that the options of a command name.

    No file may be the one that an argument names to be read. Raises as `check_files` and `check_folder` do.
    """
    kind, files, source = type(settings), [], None
    for name, field in options_of(kind).items():
        value, more = getattr(settings, name), about(field)
        if group_of(kind, name) == OUTPUT and isinstance(value, Path):
            if more["metavar"] in FOLDERS:
                check_folder(value)
            else:
                files.append(value)
        elif more["is_argument"] and isinstance(value, str):
            source = value
    check_files(*files, source=source)


def check_folder(path: Path | str) -> None:
    """Check before any work that files can be written to a folder that exists or can be created.

    Raises OSError with the folder's name if not. Nothing is created or changed.
    """
    _check_room(Path(path), Path(path))


def read_text(source: str) -> str:
    """Return the text of a file, or of the standard input for "-".

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
    except UnicodeDecodeError as error:
        if error.object.startswith(UTF_16):
            raise ValueError(f"{name} {IN_UTF_16}") from None
        raise ValueError(f"{name} is no text, so it is no position or record") from None
    if len(text) > MOST_TEXT:
        raise ValueError(f"{name} has more than {MOST_TEXT:,} characters, so it is no position or record")
    return text


def read_source(source: str) -> str:
    """Return the text of a file or of the standard input, or the argument itself if it is a position or a record.

    Raises ValueError for a file that is not text.
    """
    if source != "-" and not os.path.exists(source) and (":" in source or is_record(source)):
        return source  # Path.exists raises for a long text
    return read_text(source)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if _exists(path) and not path.is_file():
        raise ValueError(f"{path} is not a plain file that could be replaced; name another file")
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    _check_room(path.parent, path)


def _check_room(folder: Path, named: Path) -> None:
    """Raise OSError with a name unless files can be written to a folder, or to its nearest existing parent."""
    folder = Path(os.path.abspath(folder))
    while not _exists(folder) and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(named))
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(named)) from None


def _exists(path: Path) -> bool:
    """Return whether anything is at a path, even a broken link; raises OSError for an impossible name."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is_same(one: Path, other: Path) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)
