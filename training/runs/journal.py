"""The journal of a run: its header, then a line of JSON with a checksum for each finished task; only appended to."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import subprocess
import zlib
from collections.abc import Iterator
from importlib import metadata
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

import krypenv
from krypenv.inputs.files import naming, parse_json, read_file, write_whole
from krypenv.inputs.words import shown
from krypenv.runtime.threads import count_threads

JOURNAL = "journal.jsonl"
FORMAT = 1
PACKAGES = ("numpy", "numba", "torch")  # whose versions a measured time depends on
_CHECKSUM = re.compile(rb',"crc":"([0-9a-f]{8})"}\Z')


class Header(NamedTuple):
    """The first line of a journal."""

    kind: str  # of the run, as in "arena"
    identity: dict[str, Any]  # plain JSON values that determine the results
    about: dict[str, Any]  # for readers: the command, the machine, versions


class Journal(NamedTuple):
    """The contents of a journal."""

    header: Header
    results: dict[str, Any]  # of the finished tasks, by key


def encode(values: dict[str, Any]) -> bytes:
    """Encode a line: plain values as JSON, with a checksum as the last entry."""
    plain = json.dumps(values, separators=(",", ":"), allow_nan=False).encode()
    return plain[:-1] + b',"crc":"%08x"}\n' % zlib.crc32(plain)


def append(file: FileIO, values: dict[str, Any]) -> None:
    """Append a line of plain values to an open journal; when this returns, it is on the disk.

    Raises OSError with the file's name if it doesn't fit. What was written of it is dropped by `open_journal`.
    """
    with naming(Path(os.fsdecode(file.name))):
        unwritten = memoryview(encode(values))
        while unwritten:
            unwritten = unwritten[file.write(unwritten) :]
        os.fsync(file.fileno())


def parse(line: bytes) -> dict[str, Any]:
    """Decode the values of a line without its line end; raises ValueError unless it agrees with its checksum."""
    checksum = _CHECKSUM.search(line)
    if not checksum:
        raise ValueError("has no checksum")
    plain = line[: checksum.start()] + b"}"
    if zlib.crc32(plain) != int(checksum[1], 16):
        raise ValueError("does not agree with its checksum")
    values: dict[str, Any] = parse_json(plain)
    return values


def read_journal(folder: Path, kind: str) -> Journal:
    """Read the header and the results in a folder; an incomplete last line is ignored.

    Raises ValueError with one sentence if there is no journal or it is of another kind or format, and, with the file
    and the line, if it was changed.
    """
    path = folder / JOURNAL
    if not path.is_file():
        raise ValueError(f"{folder} holds no {kind}")
    return _parse(read_file(path), path, kind)


def open_journal(folder: Path, header: Header) -> tuple[FileIO, Journal]:
    """Open the journal of a folder to append to, new or resumed; return the file and its contents.

    An incomplete last line is dropped, and the header's `about` updated. A journal without results may be another
    run's. The folder must be locked. Raises ValueError, and changes nothing, as `read_journal` does, and
    for another identity, with the first value that differs.
    """
    path = folder / JOURNAL
    data = read_file(path) if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    old = _parse(whole, path, header.kind) if whole else Journal(header, {})
    for name, one, other in _differences("", old.header.identity, header.identity) if old.results else ():
        differs = f"{name} {shown(one)}, not {shown(other)}"
        raise ValueError(f"{folder} holds another {header.kind}, with {differs}; give another --out")
    about = {**header.about, "machine": machine()}
    first = encode({"kind": header.kind, "format": FORMAT, "identity": header.identity, "about": about})
    kept = first + whole.partition(b"\n")[2]
    if kept != data:
        write_whole(path, kept)
    with naming(path):
        return open(path, "ab", buffering=0), Journal(header._replace(about=about), old.results)


def _differences(name: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the differences between two plain values, as in ("agents 2 name", "greedy", "random")."""
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
        if number == 1 and (version := (entries[0].get("kind"), entries[0].get("format"))) != (kind, FORMAT):
            raise ValueError(
                f"{path} is of {shown(version[0])} in format {shown(version[1])}, "
                f"and {kind!r} in format {FORMAT} is wanted; name another folder"
            )
        if number > 1 and entries[-1].keys() != {"key", "result"}:  # a second header
            raise ValueError(f"line {number} of {path} is no result; remove the file to begin anew")
    first, *results = entries
    return Journal(Header(kind, first["identity"], first["about"]), {task["key"]: task["result"] for task in results})


def machine() -> dict[str, Any]:
    """Read what a measured time depends on: processor, cores, their load in the last minute, system and versions."""
    info = Path("/proc/cpuinfo")
    models = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    facts = {
        "cpu": models[0].partition(":")[2].strip() if models else platform.processor(),
        "cores": count_threads(0),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            facts[name] = metadata.version(name)
    return {**facts, "krypenv": krypenv.__version__}


def commit() -> str | None:
    """Read the commit of the package's checkout, with "-dirty" if it was changed; None without a checkout."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        process = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return process.stdout.strip() or None
