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
    sets_up: float  # probability that the next seat must sweep what the move leaves
    risks: float  # probability that this seat must sweep at its next turn, if the others play like the tactician


class Values(NamedTuple):
    """The moves of a decision, best first: all legal ones, or those that the agent did not cut."""

    values: tuple[MoveValue, ...]
    preferred: int  # the place of the move that the agent would make: of the highest margin, or its leaning counts too
    worlds: int  # number of worlds behind each margin; 1 if nothing is hidden
    was_cut: bool  # the agent left out some that might be better


def gives_values(agent: Any) -> bool:
    """Return whether an agent can value the moves of what one seat sees."""
    return hasattr(agent, "examine")


def values_of(
    game: Game, agent: Any, worlds: int, seed: int, open_hands: bool = False, played: Move | None = None
) -> Values:
    """Return the moves of the seat to act with their values; the one that was `played` is among them.

    Args:
        game: a game that is not over.
        agent: an agent with a method `examine`, or with `open_hands` with a method `examine_on`.
        worlds: number of worlds in which sweeps are counted; the agent's own option sets the number behind margins.
        seed: of those worlds.
        open_hands: show the agent all hands, which is cheating.
        played: a move that must not be left out.
    """
    moves, found = examined(game, agent, open_hands, played)
    margins = found.margins
    chances = sweep_chances(game, moves, sample_worlds(game, worlds, seed, open_hands), seed)
    means = margins.mean(axis=0)
    order = np.argsort(-means, kind="stable").tolist()
    behind = margins[:, order[:1]] - margins
    preferred = order.index(int(np.argmax(means + found.leanings)))
    values = tuple(
        MoveValue(
            str(moves[at]), Estimate.of(margins[:, at]), Estimate.of(behind[:, at]), moves[at].sweep, *chances[at]
        )
        for at in order
    )
    return Values(values, preferred, len(margins), found.was_cut)


def examined(
    game: Game, agent: Any, open_hands: bool = False, played: Move | None = None
) -> tuple[list[Move], Examined]:
    """Return the moves of the seat to act, as the agent lists them, and what it finds: margins in each world, and more.

    The arguments are those of `values_of`.
    """
    also = () if game.rules.capture == "maximal" or played is None else (played,)
    if open_hands:
        state = allocate(1)
        state[0] = game.state
        found = Examined(*agent.examine_on(state, *also))
    else:
        (seen,), (mask,) = sight_of(agent, game)
        found = Examined(*agent.examine(seen, mask, *also))
    return [_made(game, row) for row in found.moves], found


def _made(game: Game, row: np.void) -> Move:
    """Return a move of `krypenv.agents.moves.record.MOVE` with the sweeps that it makes."""
    twin = game.copy()
    twin.push(as_move(row, sum(1 << value for value, *_ in game.builds)))
    return twin.moves[-1]
