"""The games of an arena as arrays, read from the journal in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.agents import label_of
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.mixed_table import milliseconds
from krypenv.training.runs.journal import Header, read_journal

KIND = "arena"
MOST_FORFEITS = 10  # most forfeits listed in `Games`

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Chunk = dict[str, Any]  # the games of a match in a chunk of deals, as `play_shard` returns them


@dataclass(frozen=True)
class Games:
    """G games of S sides each, played by A agents. Under rules with sessions (R15), games are sessions."""

    names: tuple[str, ...]  #: the agents' strings, A of them
    rules: Rules
    deal: IntArray  #: (G,) number of the deal
    agents: IntArray  #: (G, S) index of the agent on each side; two agents at least
    scores: FloatArray  #: (G, S) final score of each side, the sum over its seats; `Rules.goal` says which end wins
    forfeit: IntArray  #: (G,) index of the agent that forfeited the game, or -1
    milliseconds: FloatArray  #: (A,) mean processor time per decision; nan if not measured
    forfeits: tuple[str, ...]  #: a sentence for each of the first few forfeits
    tie_breaks: IntArray | None = None  #: (G, S) compared between equal scores, as `Engine.final_tie_breaks`
    luck: FloatArray | None = None  #: (G, S) luck of each side, in points of margin over the others, if measured


def load_games(folder: Path | str) -> Games:
    """Read the games in the folder of an arena, even of one that is running or was interrupted.

    Raises ValueError if there are none.
    """
    journal = read_journal(Path(folder), KIND)
    return games_of(journal.header, journal.results)


def chunks_of(results: Mapping[str, Chunk]) -> dict[tuple[int, int], Chunk]:
    """Sort the chunks by match and first deal; of a chunk that was played twice, keep the one with more deals."""
    chunks: dict[tuple[int, int], Chunk] = {}
    for chunk in results.values():
        place = chunk["match"], chunk["first_deal"]
        if place not in chunks or len(chunk["scores"]) > len(chunks[place]["scores"]):
            chunks[place] = chunk
    return dict(sorted(chunks.items()))


def games_of(header: Header, results: Mapping[str, Chunk]) -> Games:
    """Join all games, in the order of matches and deals; raises ValueError without games."""
    chunks = list(chunks_of(results).values())
    if not chunks:
        raise ValueError("the arena has played no games yet")
    rules = Rules.parse(header.identity["rules"])
    names = tuple(label_of(agent["name"], rules, agent["cheats"]) for agent in header.identity["agents"])
    seconds, decisions = np.zeros(len(names)), np.zeros(len(names), np.int64)
    deals, agents, forfeit, sentences = [], [], [], []
    for chunk in chunks:
        seats, count, first = np.array(chunk["seats"]), len(chunk["scores"]), chunk["first_deal"]  # (K, S)
        deals.append(np.repeat(first + np.arange(count), len(seats)))
        agents.append(np.tile(seats, (count, 1)))
        at_fault = np.full((count, len(seats)), -1)
        for deal, seating, agent, reason in chunk["forfeits"]:
            at_fault[deal - first, seating] = agent
            table = ", ".join(names[member] for member in seats[seating])
            sentences.append(f"{names[agent]} {reason} (deal {deal}: {table})")
        forfeit.append(at_fault.ravel())
        playing = np.unique(seats)
        seconds[playing] += chunk["seconds"]
        decisions[playing] += chunk["decisions"]

    def by_side(name: str, kind: type) -> Any:
        if name not in chunks[0]:
            return None
        return np.concatenate([np.array(chunk[name], kind).reshape(-1, rules.num_teams) for chunk in chunks])

    return Games(
        names, rules, np.concatenate(deals), np.concatenate(agents), by_side("scores", np.float64),
        np.concatenate(forfeit), milliseconds(seconds, decisions), tuple(sentences[:MOST_FORFEITS]),
        by_side("tie_breaks", np.int64), by_side("luck", np.float64),
    )  # fmt: skip
