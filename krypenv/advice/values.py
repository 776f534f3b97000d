"""The moves of a decision with their values, by an agent with a method `examine`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from krypenv.advice.estimates import Estimate
from krypenv.advice.sweeps import sample_worlds, sweep_chances
from krypenv.agents.moves.record import as_move
from krypenv.agents.search.sampler import Examined
from krypenv.game.base_agent import sight_of
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.state import allocate

MOST_ADVISED = 3  # moves of a hint


@dataclass(frozen=True)
class MoveValue:
    """The expected results of one legal move for the side of the seat that makes it."""

    move: str  # as records write it
    margin: Estimate  # of the whole game, points scored so far included
    behind: Estimate  # the best move's margin minus this one's, world by world; 0 for the best
    sweeps: int  # own sweeps that the move makes: 0, 1 or 2
    # Where sweeps are not forced, "must" is "can" in the next two.
    sets_up: float  # probability that the next seat must sweep the table after the move
    risks: float  # probability that this seat must sweep at its next turn, if the others play like the tactician


class Values(NamedTuple):
    """The moves of a decision, best first: all legal ones, or those that the agent did not cut."""

    values: tuple[MoveValue, ...]
    preferred: int  # the index of the agent's choice: the highest margin plus leaning
    worlds: int  # number of worlds behind each margin; 1 if nothing is hidden
    was_cut: bool  # the agent left out some that might be better

    @property
    def advised(self) -> list[MoveValue]:
        """The moves of a hint: the agent's choice, and the best others."""
        first = self.values[self.preferred]
        return [first, *(each for each in self.values if each is not first)][:MOST_ADVISED]


def gives_values(agent: Any) -> bool:
    """Test whether an agent can value the moves of one seat's observation."""
    return hasattr(agent, "examine")


def values_of(
    game: Game, agent: Any, worlds: int, seed: int, open_hands: bool = False, played: Move | None = None
) -> Values:
    """Value the moves of the seat to act, among them the one that was `played`.

    Args:
        game: a game that is not over.
        agent: an agent with a method `examine`, or with `open_hands` with a method `examine_on`.
        worlds: number of worlds in which sweeps are counted; the agent's own option sets the number behind margins.
        seed: of those worlds.
        open_hands: show the agent all hands, which is cheating.
        played: a move that must not be left out.
    """
    moves, examination = examined(game, agent, open_hands, played)
    margins = examination.margins
    chances = sweep_chances(game, moves, sample_worlds(game, worlds, seed, open_hands), seed)
    means = margins.mean(axis=0)
    order = np.argsort(-means, kind="stable").tolist()
    behind = margins[:, order[:1]] - margins
    preferred = order.index(int(np.argmax(means + examination.leanings)))
    values = tuple(
        MoveValue(
            str(moves[index]),
            Estimate.of(margins[:, index]),
            Estimate.of(behind[:, index]),
            moves[index].sweep,
            *chances[index],
        )
        for index in order
    )
    return Values(values, preferred, len(margins), examination.was_cut)


def examined(
    game: Game, agent: Any, open_hands: bool = False, played: Move | None = None
) -> tuple[list[Move], Examined]:
    """Have an agent examine a decision; return its moves in the agent's order, and the margins in each world.

    The arguments are those of `values_of`.
    """
    also = () if game.rules.capture == "maximal" or played is None else (played,)
    if open_hands:
        state = allocate(1)
        state[0] = game.state
        examination = Examined(*agent.examine_on(state, *also))
    else:
        (observation,), (mask,) = sight_of(agent, game)
        examination = Examined(*agent.examine(observation, mask, *also))
    return [_with_sweeps(game, row) for row in examination.moves], examination


def _with_sweeps(game: Game, row: np.void) -> Move:
    """Convert a record of `krypenv.agents.moves.record.MOVE` to a move with the sweeps that it makes."""
    twin = game.copy()
    twin.push(as_move(row, sum(1 << value for value, *_ in game.builds)))
    return twin.moves[-1]
