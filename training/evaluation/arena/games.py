"""The games of an arena as arrays, from which its standings are computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krypenv.rules import Rules

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Games:
    """G games of S sides each, played by A agents. Under rules with sessions (R15), games are sessions."""

    names: tuple[str, ...]  #: the agents' strings, A of them
    rules: Rules
    deal: IntArray  #: (G,) number of the deal
    agents: IntArray  #: (G, S) index of the agent on each side
    scores: FloatArray  #: (G, S) final score of each side, the sum over its seats; `Rules.goal` says which end wins
    forfeit: IntArray  #: (G,) index of the agent that forfeited the game, or -1
    milliseconds: FloatArray  #: (A,) mean processor time per decision; nan if not measured
    forfeits: tuple[str, ...]  #: a sentence for each of the first few forfeits
    tie_breaks: IntArray | None = None  #: (G, S) what decides between equal scores, as `Engine.final_tie_breaks`
    luck: FloatArray | None = (
        None  #: (G, S) luck of each side, in points of margin over the others; None if not measured
    )


def check_games(games: Games) -> None:
    """Raise ValueError for impossible games: none, mismatched arrays, unknown agents, or one agent on all sides."""
    number, size = len(games.deal), len(games.names)
    if number == 0:
        raise ValueError("there are no games")
    shape = (number, games.rules.num_teams)
    if games.agents.shape != shape or games.scores.shape != shape or games.forfeit.shape != (number,):
        raise ValueError(f"agents and scores of {number} games are of shape {shape}, and there is a forfeit for each")
    if games.milliseconds.shape != (size,):
        raise ValueError(f"{size} agents have {size} times, not an array of shape {games.milliseconds.shape}")
    if not (games.agents.min() >= 0 and games.agents.max() < size and -1 <= games.forfeit.min() <= games.forfeit.max()):
        raise ValueError(f"the agents of a game are 0 to {size - 1}")
    if games.forfeit.max() >= size:
        raise ValueError(f"the agent that forfeited a game is 0 to {size - 1}, or -1 for none")
    if np.isinf(games.milliseconds).any() or (games.milliseconds < 0).any():
        raise ValueError("the time of a decision is a number of milliseconds from 0 on, or nan where none was measured")
    if not np.isfinite(games.scores).all():
        raise ValueError("the scores of a game are finite numbers")
    if games.tie_breaks is not None and games.tie_breaks.shape != shape:
        raise ValueError(f"tie breaks of {number} games are of shape {shape}, not {games.tie_breaks.shape}")
    if games.luck is not None and not (games.luck.shape == shape and np.isfinite(games.luck).all()):
        raise ValueError(f"the luck of {number} games is finite numbers of shape {shape}")
    if (games.agents == games.agents[:, :1]).all(axis=1).any():
        raise ValueError("a game holds two agents at least")
