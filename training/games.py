"""What an arena played, as arrays: the common ground of running an arena and of its standings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krypenv.rules import Rules

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Games:
    """G games of S sides each, played by A agents. Where the rules make sessions (R15), a game is a session."""

    names: tuple[str, ...]  # the agents' strings, A of them
    rules: Rules
    deal: IntArray  # (G,) number of the deal
    agents: IntArray  # (G, S) index of the agent on each side
    scores: FloatArray  # (G, S) final score of each side, the sum over its seats; low is good
    forfeit: IntArray  # (G,) index of the agent that forfeited the game, or -1
    milliseconds: FloatArray  # (A,) mean time of a decision; nan where none was measured
    forfeits: tuple[str, ...]  # one sentence for each of the first forfeits
