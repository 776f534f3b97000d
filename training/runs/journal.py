"""The journal of a run: its header, then a line of JSON with a checksum for each finished task; only appended to."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from krypenv.inputs.files import check_unlinked, naming, open_unlinked, parse_json, read_file, write_whole
from krypenv.inputs.words import shown
from krypenv.training.runs.machine import machine

JOURNAL = "journal.jsonl"
FORMAT = 1
MACHINE = "machine"  # what a header tells of the machine on which its run was begun
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


def open_journal(folder: Path, header: Header) -> tuple[FileIO, Journal]:
    """Open the journal of a folder to append to, new or resumed; return the file, and what it holds.

    A last line that was cut off is dropped, and what the header tells readers is brought up to date, but for the
    machine, on which the run was begun. A journal without results may become that of another run. Raises ValueError,
    and changes nothing, for what `read_journal` and `check_same` refuse, and OSError for a journal that is a link. The
    folder must be locked.
    """
    path = folder / JOURNAL
    check_unlinked(path)
    data = read_file(path) if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    there = _parse(whole, path, header.kind) if whole else Journal(header, {})
    begun = {}
    if there.results:
        check_same(folder, there.header, header)
        begun = there.header.about
    about = {**header.about, MACHINE: begun.get(MACHINE) or machine()}
    first = encode({"kind": header.kind, "format": FORMAT, "identity": header.identity, "about": about})
    kept = first + whole.partition(b"\n")[2]
    if kept != data:
        write_whole(path, kept)
    with naming(path):
        return open(path, "ab", buffering=0, opener=open_unlinked), Journal(header._replace(about=about), there.results)


def check_same(folder: Path, there: Header, here: Header) -> None:
    """Raise ValueError, with the first value that differs, unless two headers have the same identity."""
    for name, old, new in _differences("", there.identity, here.identity):
        raise ValueError(
            f"{folder} holds {one(here.kind)} with {name} {shown(old)}, not {shown(new)}; give another --out"
        )


def one(kind: str) -> str:
    """Return a kind of run with its article, as in "an arena"."""
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def _differences(name: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two plain values differ, as in ("agents 2 name", "greedy", "random")."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in new | old:
            yield from _differences(f"{name} {key.replace('_', ' ')}".strip(), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True), 1):
            yield from _differences(f"{name} {number}", *pair)
    elif old != new:
        yield name, old, new


def _parse(data: bytes, path: Path, kind: str) -> Journal:
    lines = data.split(b"\n")[:-1] or [b""]
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(parse(line))
        except ValueError as error:
            raise ValueError(f"line {number} of {path} {error}; remove the file to begin anew") from None
        if number == 1 and (found := (entries[0].get("kind"), entries[0].get("format"))) != (kind, FORMAT):
            raise ValueError(
                f"{path} is of {shown(found[0])} in format {shown(found[1])}, "
                f"and {one(kind)} in format {FORMAT} is wanted; name another folder"
            )
        if number > 1 and entries[-1].keys() != {"key", "result"}:  # a second header
            raise ValueError(f"line {number} of {path} is no result; remove the file to begin anew")
    first, *results = entries
    return Journal(Header(kind, first["identity"], first["about"]), {each["key"]: each["result"] for each in results})
