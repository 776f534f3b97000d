"""The base class of agents, and the move that any agent chooses in one game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from krypenv.features import observation_for, want_history
from krypenv.inputs.words import one_line
from krypenv.state import allocate

if TYPE_CHECKING:
    from krypenv.game.game import Game
    from krypenv.game.moves import Move
    from krypenv.rules import Rules

Rows = npt.NDArray[np.int8]


def move_of(agent: Any, game: Game) -> Move:
    """Choose the whole move of the seat to act by the agent's `act`; the game stays as it is.

    Raises ValueError for a game that is over or has other rules.

    >>> agent = agents.make("greedy", seed=1)
    >>> print(agent.move(Game(agent.rules, seed=7)))
    JD
    """
    check_game(agent, game)
    twin, before = game.copy(), len(game.moves)
    while len(twin.moves) == before:
        if getattr(agent, "cheats", False):
            state = allocate(1)
            state[0] = twin.state
            actions = agent.act_on(state, twin.action_mask()[None])
        else:
            actions = agent.act(*sight_of(agent, twin))
        twin.act(int(actions[0]))
    return twin.moves[-1]


def sight_of(agent: Any, game: Game) -> tuple[Rows, Rows]:
    """Observe a game for the seat to act: the blocks that an agent wants, (1, N), and the mask, (1, A)."""
    masks = game.action_mask()[None]
    observations = game.observation(history=want_history([agent]))[None]
    return observation_for(agent, game.rules, observations, masks), masks


def check_game(agent: Any, game: Game) -> None:
    """Raise ValueError unless an agent has a move to choose: in a game of its rules that is not over."""
    if game.rules != agent.rules:
        raise ValueError(f"{one_line(agent.name)} was made for other rules: {agent.rules}, not {game.rules}")
    if game.is_over:
        raise ValueError("the game is over, so there is no move to choose")


class BaseAgent:
    """An agent that chooses a whole move in one game; see `krypenv.agents.Agent`.

    Attributes:
        name: the string that makes it.
        rules: the rules that it plays by.
    """

    name: str
    rules: Rules
    is_quick = False  # whether it decides faster than a deal is played out, so matches take luck out only if asked

    def act(self, observations: Rows, action_masks: Rows) -> npt.NDArray[np.int64]:
        """Choose a legal action for each row, (B,) int64, from (B, N) and (B, A) int8."""
        raise NotImplementedError

    move = move_of

    def __repr__(self) -> str:
        return f"<{self.name} for {self.rules}>"
