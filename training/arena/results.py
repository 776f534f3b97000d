"""The results of an arena: one file of JSON lines, only appended to, that can be resumed after an interruption."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.inputs.files import append_whole, naming, read_file, write_whole
from krypenv.inputs.schema import sentence_of
from krypenv.inputs.words import shown
from krypenv.rules import Rules
from krypenv.training.arena.games import Games
from krypenv.training.arena.result_lines import TIE_BREAKS, Header, LineCheck, check_header, encode, parse
from krypenv.training.arena.shards import Line, breaks_ties
from krypenv.training.common.folders import writing_to
from krypenv.training.evaluation.table import milliseconds

FORMAT = 1
FILE = "results.jsonl"
TOLD = 10  # forfeits listed in `Games`, at most

Place = tuple[int, int]  # match and chunk
# Header entries that must agree for results in one file, with their names in error messages.
IDENTITY = {
    "rules": "rules", "agents": "agents", "deals_list": "deals", "seed": "seed", "chunk": "deals in a chunk",
    "pairs": "choice of pairs", "first": "choice of the agents that all matches hold",
}  # fmt: skip


@dataclass(frozen=True)
class _Block:
    """The results of a match over a chunk of n deals, in K seatings of S sides."""

    deal: npt.NDArray[np.int64]  # (n,)
    agents: npt.NDArray[np.int64]  # (K, S)
    scores: npt.NDArray[np.int32]  # (n, K, S)
    forfeit: npt.NDArray[np.int64]  # (n, K) index of the agent that forfeited the game, or -1
    times: dict[int, tuple[float, int]]  # seconds and decisions by agent
    forfeits: list[tuple[int, int, int, str]]  # deal, seating, agent, reason
    tie_breaks: npt.NDArray[np.int64] | None  # (n, K, S), if the lines have them

    @classmethod
    def of(cls, lines: list[Line], has_ties: bool) -> _Block:
        """Return the lines of one chunk as arrays."""
        scores = np.array([line["scores"] for line in lines], np.int32)
        forfeits = [(line["deal"], *forfeit) for line in lines for forfeit in line["forfeits"]]
        forfeit = np.full(scores.shape[:2], -1)
        for deal, seating, agent, _ in forfeits:
            forfeit[deal - lines[0]["deal"], seating] = agent
        times = {
            agent: (sum(line["seconds"][at] for line in lines), sum(line["decisions"][at] for line in lines))
            for at, agent in enumerate(lines[0]["agents"])
        }
        deal, agents = np.array([line["deal"] for line in lines]), np.array(lines[0]["seats"])
        tie_breaks = np.array([line[TIE_BREAKS] for line in lines], np.int64) if has_ties else None
        return cls(deal, agents, scores, forfeit, times, forfeits, tie_breaks)


class Results:
    """The complete chunks of an arena, by match and chunk; from `read_results` or `open_results`."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.breaks_ties = breaks_ties(Rules.parse(header["rules"]))
        self.file: FileIO | None = None  # if open for writing
        self.blocks: dict[Place, _Block] = {}
        self.num_games = 0

    def has(self, match: int, chunk: int, deals: int) -> bool:
        """Return whether a match is complete in a chunk of `deals` deals."""
        block = self.blocks.get((match, chunk))
        return block is not None and len(block.deal) >= deals

    def append(self, lines: list[Line]) -> None:
        """Append the lines of a chunk; when this returns, they are on disk.

        Raises OSError with the file's name, and appends nothing, if the disk is full.
        """
        if self.file is None:
            raise ValueError("these results were opened for reading")
        append_whole(self.file, b"".join(map(encode, lines)))
        self.add((lines[0]["match"], lines[0]["chunk"]), _Block.of(lines, self.breaks_ties))

    def add(self, place: Place, block: _Block) -> None:
        """Add a chunk that is already in the file."""
        self.blocks[place] = block
        self.num_games += block.forfeit.size

    def games(self, last_chunk: int | None = None) -> Games:
        """Return all games, up to a chunk if given, in the order of matches and deals; ValueError without games."""
        places = [place for place in sorted(self.blocks) if last_chunk is None or place[1] <= last_chunk]
        if not places:
            raise ValueError("the arena has played no games yet")
        blocks = [self.blocks[place] for place in places]
        names = tuple(label(agent) for agent in self.header["agents"])
        times = np.zeros((2, len(names)))
        for block in blocks:
            for agent, time in block.times.items():
                times[:, agent] += time
        ties = [block.tie_breaks for block in blocks if block.tie_breaks is not None]
        return Games(
            names=names,
            rules=Rules.parse(self.header["rules"]),
            deal=np.concatenate([np.repeat(block.deal, len(block.agents)) for block in blocks]),
            agents=np.concatenate([np.tile(block.agents, (len(block.deal), 1)) for block in blocks]),
            scores=np.concatenate([block.scores.reshape(-1, block.scores.shape[2]) for block in blocks]).astype(float),
            forfeit=np.concatenate([block.forfeit.ravel() for block in blocks]),
            milliseconds=milliseconds(*times),
            forfeits=tuple(
                f"{names[agent]} {reason} (deal {deal}: {', '.join(names[each] for each in block.agents[seating])})"
                for block in blocks
                for deal, seating, agent, reason in block.forfeits
            )[:TOLD],
            tie_breaks=np.concatenate([each.reshape(-1, each.shape[2]) for each in ties]) if ties else None,
        )


def label(agent: dict[str, Any]) -> str:
    """Return the name of an agent in the header as tables show it."""
    return f"{agent['name']} (cheats)" if agent["cheats"] else agent["name"]


def facts(header: Header) -> dict[str, str]:
    """Return the entries of a header that `Games` lacks, as texts for a report."""
    return {
        "deals": header["deals_list"],
        "seed of the agents": str(header["seed"]),
        "deals in a chunk": str(header["chunk"]),
        **{name: str(value) for name, value in header["machine"].items()},
        **{
            f"weights of {agent['name']}": ", ".join(hashes)
            for agent in header["agents"]
            if (hashes := agent["weights_sha256"])
        },
    }


def load_games(folder: Path | str) -> Games:
    """Return the games in the folder of an arena, even one that is running or was interrupted.

    Raises ValueError if there are none.
    """
    return read_results(Path(folder)).games()


def read_header(folder: Path) -> Header:
    """Return the header in the folder of an arena; raises ValueError if it is missing or of another format."""
    path = _path_of(folder)
    with naming(path), path.open("rb") as file:
        return _header(file.readline(), path)[0]


def _path_of(folder: Path) -> Path:
    path = folder / FILE
    if not path.is_file():
        raise ValueError(f"{folder} holds no results of an arena")
    return path


def _header(data: bytes, path: Path) -> tuple[Header, bool]:
    """Return the header from the first line of a file, and whether it has a checksum; ValueError if it is invalid."""
    with _line(path, 1):
        header = parse(data.removesuffix(b"\n"))
    found = header.get("format")
    if type(found) is not int or found != FORMAT:
        raise ValueError(f"{path} holds results in format {shown(found)}; this version reads format {FORMAT}")
    with _line(path, 1):
        check_header(header)
    is_signed = header.pop("crc", None) is not None
    return {"first": 0, **header, "rules": str(Rules.parse(header["rules"]))}, is_signed


@contextlib.contextmanager
def _line(path: Path, number: int) -> Iterator[None]:
    """Name the line of a file in the errors of the block."""
    try:
        yield
    except ValueError as error:
        reason = sentence_of(error)
        raise ValueError(
            f"line {number} of {path} is not one of an arena's results; the file was changed: {reason}"
        ) from None


def read_results(folder: Path) -> Results:
    """Return the complete chunks in the folder of an arena.

    Raises ValueError, with the line and the entry, if there are no results or if they were changed.
    """
    return _read(folder)[0]


@contextlib.contextmanager
def open_results(folder: Path, header: Header) -> Iterator[Results]:
    """Open the folder of an arena for writing: a new folder, or one with results of the same arena to resume.

    Incomplete chunks, and chunks with fewer deals than needed now, are dropped. Raises ValueError, and changes nothing,
    if the folder has results of another arena (see `check_same`) or another process is writing to it.
    """
    with writing_to(folder):
        results, kept = Results(header), [encode(header)]
        if (folder / FILE).exists():
            old, texts = _read(folder)
            check_same(folder, old.header, header)
            for place, lines in texts.items():
                if old.has(*place, min(header["chunk"], header["deals"] - place[1] * header["chunk"])):
                    results.add(place, old.blocks[place])
                    kept += [encode(parse(line)) for line in lines]
        write_whole(folder / FILE, b"".join(kept))
        with (folder / FILE).open("ab", buffering=0) as results.file:
            yield results


def check_same(folder: Path, there: Header, here: Header) -> None:
    """Raise ValueError unless two headers are of the same arena. The number of deals and the precision may differ."""
    for key, what in IDENTITY.items():
        old, new = there[key], here[key]
        if old == new:
            continue
        if key == "agents":
            names = [", ".join(label(agent) for agent in agents) for agents in (old, new)]
            old, new = names if names[0] != names[1] else ("other weights", "those of the models now")
        raise ValueError(f"{folder} holds results of other {what}: {old}, not {new}; give another --out")


def _read(folder: Path) -> tuple[Results, dict[Place, list[bytes]]]:
    """Return the complete chunks in a folder, and their lines of the file."""
    path = _path_of(folder)
    first, *texts = read_file(path).split(b"\n")
    header, is_signed = _header(first, path)
    with _line(path, 1):
        results, check = Results(header), LineCheck(header)
    texts_of: dict[Place, list[bytes]] = {}
    lines: list[Line] = []
    for number, text in enumerate(texts[:-1], 2):  # the last one is empty, or a line cut off
        with _line(path, number):
            line = parse(text, is_signed)
            check(line)
        lines.append(line)
        if len(lines) == line["of"]:
            place = line["match"], line["chunk"]
            results.add(place, _Block.of(lines, results.breaks_ties))
            texts_of[place] = texts[number - 1 - len(lines) : number - 1]
            lines = []
    return results, texts_of
