"""Duplicate deals: an agent plays each from every side in turn, and an opponent plays all other sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents import Agent
from krypenv.engine import Engine
from krypenv.features import want_history
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.margins import FloatArray, of_own_side, own_margins
from krypenv.training.evaluation.matches.mixed_table import Played, by_side, join_tables, play_table
from krypenv.training.runs import Progress

CHUNK = 8192  # games in play at once, at most


class Duplicates(NamedTuple):
    """D duplicate deals of an agent, which is on side k of S in seating k (R16). Margins and luck are the agent's."""

    played: Played  # of D x S games; game d x S + k is deal d in seating k, agent 0 the agent and 1 its opponent
    scores: npt.NDArray[np.int64]  # (D, S, S) by deal, seating and side
    margins: FloatArray  # (D, S) by deal and seating, in points
    luck: FloatArray | None  # (D, S) points of these margins that the cards brought, if a meter measured them
    parts: FloatArray | None  # (D, S, V) the same by each of the meter's V players, without coefficients


def play_duplicates(
    players: Sequence[Agent],
    rules: Rules,
    seeds: npt.NDArray[np.uint64],
    meter: Meter | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Duplicates:
    """Play the deals of D seeds with an agent, the first of two players, against the second in all seatings.

    Raises `Fault` (`mixed_table`) for an agent that raises or returns an illegal action.
    """
    sides = rules.num_teams
    every = np.repeat(seeds, sides)
    lineup = np.tile(1 - np.eye(sides, dtype=np.int64), (len(seeds), 1))
    size = max(1, CHUNK // sides) * sides
    chunks, measured = [], []
    for start in range(0, len(every), size):
        some = slice(start, start + size)
        engine = Engine(rules, len(every[some]), every[some], threads=threads, history=want_history(players))
        chunks.append(play_table(engine, players, lineup[some], meter=meter))
        if meter:
            measured.append(meter.parts)
        if progress:
            progress(start + engine.num_games, len(every))
    played, shape = join_tables(chunks), (len(seeds), sides, sides)
    scores = by_side(played.scores, sides).reshape(shape)
    return Duplicates(
        played,
        scores,
        own_margins(rules, scores),
        None if played.luck is None else of_own_side(played.luck.reshape(shape)),
        of_own_side(np.concatenate(measured).reshape(*shape, -1)) if measured else None,
    )
