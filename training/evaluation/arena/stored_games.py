"""The results of an arena: a journal with the games of each match in each chunk of deals, folded into `Games`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from krypenv.agents import Agent, label_of
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.games import Games
from krypenv.training.evaluation.luck.control import Control, control_for, control_of
from krypenv.training.evaluation.matches.mixed_table import milliseconds
from krypenv.training.runs.journal import JOURNAL, Header, Journal, one, read_journal

KIND = "arena"
TOLD = 10  # forfeits listed in `Games`, at most

Place = tuple[int, int]  # match and chunk
Chunk = dict[str, Any]  # the games of a match in a chunk, as `play_shard` returns them


def read_results(folder: Path) -> Journal:
    """Return the journal in the folder of an arena; raises ValueError if there is none or if it was changed."""
    return read_journal(folder, KIND)


def load_games(folder: Path | str) -> Games:
    """Return the games in the folder of an arena, even one that is running or was interrupted.

    Raises ValueError if there are none.
    """
    journal = read_results(Path(folder))
    return games_of(journal.header, journal.results)


def chunks_of(results: Mapping[str, Chunk]) -> dict[Place, Chunk]:
    """Return the chunks by match and chunk, in that order; where one was played twice, the one with more deals."""
    found: dict[Place, Chunk] = {}
    for chunk in results.values():
        place = chunk["match"], chunk["chunk"]
        if place not in found or len(chunk["scores"]) > len(found[place]["scores"]):
            found[place] = chunk
    return dict(sorted(found.items()))


def num_games(results: Mapping[str, Chunk]) -> int:
    """Return the number of games in some results."""
    return sum(len(chunk["scores"]) * len(chunk["seats"]) for chunk in chunks_of(results).values())


def games_of(header: Header, results: Mapping[str, Chunk], last_chunk: int | None = None) -> Games:
    """Return all games, up to a chunk if given, in the order of matches and deals; ValueError without games."""
    chunks = [each for (_, number), each in chunks_of(results).items() if last_chunk is None or number <= last_chunk]
    if not chunks:
        raise ValueError("the arena has played no games yet")
    names = labels(header)
    times = np.zeros((2, len(names)))
    deals, agents, scores, forfeit, ties, luck, told = [], [], [], [], [], [], []
    for chunk in chunks:
        seats, its_scores = np.array(chunk["seats"]), np.array(chunk["scores"], float)  # (K, S), (n, K, S)
        n, k, sides = its_scores.shape
        deals.append(np.repeat(chunk["first_deal"] + np.arange(n), k))
        agents.append(np.tile(seats, (n, 1)))
        scores.append(its_scores.reshape(-1, sides))
        at_fault = np.full((n, k), -1)
        for deal, seating, agent, reason in chunk["forfeits"]:
            at_fault[deal - chunk["first_deal"], seating] = agent
            table = ", ".join(names[each] for each in seats[seating])
            told.append(f"{names[agent]} {reason} (deal {deal}: {table})")
        forfeit.append(at_fault.ravel())
        times[:, chunk["agents"]] += chunk["seconds"], chunk["decisions"]
        if "tie_breaks" in chunk:
            ties.append(np.array(chunk["tie_breaks"], np.int64).reshape(-1, sides))
        if "luck" in chunk:
            luck.append(np.array(chunk["luck"], float).reshape(-1, sides))
    return Games(
        names=names,
        rules=Rules.parse(header.identity["rules"]),
        deal=np.concatenate(deals),
        agents=np.concatenate(agents),
        scores=np.concatenate(scores),
        forfeit=np.concatenate(forfeit),
        milliseconds=milliseconds(times[0], times[1].astype(np.int64)),
        forfeits=tuple(told[:TOLD]),
        tie_breaks=np.concatenate(ties) if ties else None,
        luck=np.concatenate(luck) if luck else None,
    )


def labels(header: Header) -> tuple[str, ...]:
    """Return the names of the agents in a header as tables show them."""
    rules = Rules.parse(header.identity["rules"])
    return tuple(label_of(agent["name"], rules, agent["cheats"]) for agent in header.identity["agents"])


def facts(header: Header) -> dict[str, str]:
    """Return the entries of a header that `Games` lacks, as texts for a report."""
    identity, control = header.identity, control_in(header)
    return {
        "deals": identity["deals_list"],
        "luck": f"taken out by {control}" if control else "not taken out",
        "seed of the agents": str(identity["seed"]),
        "deals in a chunk": str(identity["chunk"]),
        **{name: str(value) for name, value in header.about["machine"].items()},
        **{
            f"weights of {agent['name']}": ", ".join(hashes)
            for agent in identity["agents"]
            if (hashes := agent["weights_sha256"])
        },
    }


# ---------------------------------------------------------------------- luck


def plain_control(control: Control | None) -> dict[str, Any] | None:
    """Return a control variate as plain JSON values, for the identity of a header under "luck"."""
    return dataclasses.asdict(control) if control else None


def control_in(header: Header) -> Control | None:
    """Return by which control variate luck is measured; None where it is not, as in runs of older versions."""
    stored = header.identity.get("luck")
    return Control(**stored) if stored else None


def control_of_run(folder: Path, kind: str, choice: str, agents: Iterable[Agent], rules: Rules) -> Control | None:
    """Return how luck is measured in a run; with "auto", a run in the folder goes on as it began.

    Raises ValueError as `control_for` does, and where luck can't be measured as before.
    """
    chosen = control_for(choice, agents, rules)
    begun = read_journal(folder, kind) if (folder / JOURNAL).exists() else None
    if not begun or not begun.results:
        return chosen
    stored = control_in(begun.header)
    if choice != "auto" and bool(stored) != bool(chosen):
        was, other = ("taken", "on") if stored else ("not taken", "off")
        raise ValueError(
            f"{folder} holds {one(kind)} with luck {was} out; resume it with --luck {other}, or give another --out"
        )
    if stored:
        here = control_of(Rules.parse(begun.header.identity["rules"]), stored.redeals, stored.shares)
        if here != stored:
            raise ValueError(
                f"{folder} holds {one(kind)} whose luck another version measured ({stored.digest}, here "
                f"{here.digest}); resume it there, or give another --out"
            )
    return stored
