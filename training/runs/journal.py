"""The journal of a run: its header, then a line of JSON with a checksum for each finished task; only appended to."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from krypenv.inputs.files import append_whole, check_unlinked, naming, open_unlinked, parse_json, read_file, write_whole
from krypenv.inputs.words import shown

JOURNAL = "journal.jsonl"
FORMAT = 1
MACHINE = "machine"  # what a header tells of the machine
_CHECKSUM = re.compile(rb',"crc":"([0-9a-f]{8})"}\Z')


class Header(NamedTuple):
    """The first line of a journal."""

    kind: str  # what is run, as in "arena"
    identity: dict[str, Any]  # plain JSON values that determine the results
    about: dict[str, Any]  # for readers: the command, the machine, versions


class Journal(NamedTuple):
    """What a journal holds."""

    header: Header
    results: dict[str, Any]  # of the finished tasks, by key


def encode(values: dict[str, Any]) -> bytes:
    """Return a line: plain values as JSON, with a checksum as the last entry."""
    plain = json.dumps(values, separators=(",", ":"), allow_nan=False).encode()
    return plain[:-1] + b',"crc":"%08x"}\n' % zlib.crc32(plain)


def parse(line: bytes) -> dict[str, Any]:
    """Return the values of a line without its line end; raises ValueError unless it agrees with its checksum."""
    found = _CHECKSUM.search(line)
    if not found:
        raise ValueError("has no checksum")
    plain = line[: found.start()] + b"}"
    if zlib.crc32(plain) != int(found[1], 16):
        raise ValueError("does not agree with its checksum")
    values: dict[str, Any] = parse_json(plain)
    return values


def read_journal(folder: Path, kind: str) -> Journal:
    """Return the header and the results in a folder; a last line that was cut off is left out.

    Raises ValueError with one sentence where there is no journal, where it is of another kind or format, and, with the
    file and the line, where it was changed.
    """
    path = folder / JOURNAL
    if not path.is_file():
        raise ValueError(f"{folder} holds no results of {one(kind)}")
    return _parse(read_file(path), path, kind)


def _parse(data: bytes, path: Path, kind: str) -> Journal:
    first, *lines = data.split(b"\n")[:-1] or [b""]
    fields = _line(first, path, 1)
    found = fields.get("kind"), fields.get("format")
    if found != (kind, FORMAT):
        raise ValueError(
            f"{path} is of {shown(found[0])} in format {shown(found[1])}, "
            f"and {one(kind)} in format {FORMAT} is wanted; name another folder"
        )
    results = {}
    for number, line in enumerate(lines, 2):
        entry = _line(line, path, number)
        if entry.keys() != {"key", "result"}:  # a second header
            raise ValueError(f"line {number} of {path} is no result; remove the file to begin anew")
        results[entry["key"]] = entry["result"]
    return Journal(Header(kind, fields["identity"], fields["about"]), results)


def _line(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        return parse(line)
    except ValueError as error:
        raise ValueError(f"line {number} of {path} {error}; remove the file to begin anew") from None


def check_same(folder: Path, there: Header, here: Header) -> None:
    """Raise ValueError, with the first value that differs, unless two headers have the same identity."""
    for name, old, new in differences("", there.identity, here.identity):
        raise ValueError(
            f"{folder} holds {one(here.kind)} with {name} {shown(old)}, not {shown(new)}; give another --out"
        )


def differences(name: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two plain values differ, as in ("agents 2 name", "greedy", "random")."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in new | old:
            yield from differences(f"{name} {key.replace('_', ' ')}".strip(), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True), 1):
            yield from differences(f"{name} {number}", *pair)
    elif old != new:
        yield name, old, new


def one(kind: str) -> str:
    """Return a kind of run with its article, as in "an arena"; "demonstrations" has none."""
    return kind if kind.endswith("s") else f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def open_journal(folder: Path, header: Header) -> tuple[FileIO, Journal]:
    """Open the journal of a folder to append to, new or resumed; return the file, and what it holds.

    A last line that was cut off is dropped, and what the header tells readers is brought up to date, but for the
    machine, on which the run was begun. A journal without results may become that of another run. Raises ValueError,
    and changes nothing, for what `read_journal` and `check_same` refuse, and OSError for a journal that is a link. The
    folder must be locked.
    """
    path = folder / JOURNAL
    journal = Journal(header, {})
    check_unlinked(path)
    data = read_file(path) if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.partition(b"\n")[2]
    if whole:
        there = _parse(whole, path, header.kind)
        if there.results:
            check_same(folder, there.header, header)
            begun = {name: told for name, told in there.header.about.items() if name == MACHINE}
            journal = Journal(header._replace(about={**header.about, **begun}), there.results)
    about = journal.header.about
    kept = encode({"kind": header.kind, "format": FORMAT, "identity": header.identity, "about": about}) + lines
    if kept != data:
        write_whole(path, kept)
    with naming(path):
        return open(path, "ab", buffering=0, opener=open_unlinked), journal


def append(file: FileIO, key: str, result: Any) -> None:
    """Append a result; when this returns, it is on the disk. Raises OSError, and appends nothing, if it has no room."""
    append_whole(file, encode({"key": key, "result": result}))
