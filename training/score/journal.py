"""The journal of a score that is being played: each finished chunk is a line, with a checksum."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from krypenv.inputs.files import append_whole, naming, read_file
from krypenv.inputs.schema import a_list, a_record, line, number, whole
from krypenv.training.arena.result_lines import encode, parse
from krypenv.training.score.protocol import CHUNK

MOST_POINTS = 1_000_000  # on one side of a deal, over its seatings

Key = tuple[str, int, int]  # table, opponent, chunk
Header = dict[str, Any]  # what is played: the first line


class Chunk(NamedTuple):
    """What was played against an opponent in a chunk of deals."""

    points: list[list[int]]  # by deal: the agent's points over its seatings, and those of all others
    forfeits: int  # games that the agent forfeited
    decisions: int  # of the agent
    seconds: float  # that it took for them


def journal_of(path: Path) -> Path:
    """Return the path of the journal of a score's file."""
    return path.with_name(path.name + ".part")


def read_journal(path: Path, header: Header) -> dict[Key, Chunk]:
    """Return the chunks of a journal by their keys, without a last line that was cut off.

    Raises ValueError where it is of another run, or was changed.
    """
    if not path.exists():
        return {}
    data = read_file(path)
    if encode(header).startswith(data):  # stopped before anything was played
        return {}
    check = a_record(
        {
            "table": line, "opponent": whole(0), "chunk": whole(0), "forfeits": whole(0), "decisions": whole(0),
            "seconds": number(0),
            "points": a_list(a_list(whole(-MOST_POINTS, MOST_POINTS), 2, 2), CHUNK, CHUNK),
        }
    )  # fmt: skip
    try:
        there, *rest = [parse(each, signed=True) for each in data.split(b"\n")[:-1]]
        for each in rest:
            check(each, "")
    except ValueError:
        raise ValueError(f"{path} is torn or of another version; remove it to begin anew") from None
    if {key: each for key, each in there.items() if key != "crc"} != header:
        raise ValueError(f"{path} is of another run; remove it to begin anew, or give another --out")
    return {
        (each["table"], each["opponent"], each["chunk"]): Chunk(*(each[name] for name in Chunk._fields))
        for each in rest
    }


@contextlib.contextmanager
def opened(path: Path, header: Header, resumed: bool) -> Iterator[FileIO]:
    """Open a journal to append to: behind its last whole line if it is `resumed`, else with its header alone."""
    with naming(path), path.open("ab" if resumed else "wb", buffering=0) as file:
        if resumed:
            file.truncate(path.read_bytes().rfind(b"\n") + 1)
        else:
            append_whole(file, encode(header))
        yield file


def append(file: FileIO, key: Key, chunk: Chunk) -> None:
    """Append a chunk; when this returns, it is on the disk."""
    table, opponent, number_of_chunk = key
    append_whole(file, encode({"table": table, "opponent": opponent, "chunk": number_of_chunk, **chunk._asdict()}))
