"""Positions sampled from strong play, with each legal card played in each of them, and the game played out from there.

The cards lie as they lay in that game, so that plays of a position differ by what they lead to and by nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.cards import NO_CARD, NUM_KINDS, NUM_RANKS, PICTURES
from krypenv.engine import Engine
from krypenv.features import want_history
from krypenv.rules import Rules
from krypenv.state import State
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import FloatArray, leads_over_others
from krypenv.training.evaluation.matches.mixed_table import by_side, play_table
from krypenv.training.lab.chunks import by_deal, chunk_tasks, step, stream
from krypenv.training.lab.habits import values_of
from krypenv.training.lab.studying import Setup, Task

TIMES = 5  # positions for each deal of a match, for they tell less
EMPTY, PICTURE, CARD, PAIR, SUM_14, MORE = range(6)
TABLES = ("nothing", "a picture", "one other card", "two cards", "three or more that sum to 14", "anything else")
_PICTURE_RANKS = np.isin(np.arange(NUM_KINDS) % NUM_RANKS + 1, PICTURES)


class TriedPlay(NamedTuple):
    """A card played in a position, and what came of it."""

    card: int
    creeps: bool
    points: int  # of the cards that it takes
    leaves: int  # the kind of table: an index of `TABLES`
    value: float  # the agent's own, from which its best play follows
    margin: float  # of the player's side at the end of the game


class Position(NamedTuple):
    """A decision between several cards."""

    hand: int  # cards in hand
    plays: list[TriedPlay]

    def best(self, among: Callable[[TriedPlay], bool]) -> TriedPlay | None:
        """Return the play that the agent values most among some, None where there is none."""
        return max(filter(among, self.plays), key=lambda play: play.value, default=None)


def kinds_of_tables(tables: npt.NDArray[np.int8], sums: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return what kind of table each is, (B,), from counts, (B, 52), and the sums of their table values, (B,)."""
    counts = tables.sum(axis=1)
    found = np.select(
        [counts == 0, (counts == 1) & tables[:, _PICTURE_RANKS].any(axis=1), counts == 1, counts == 2, sums == 14],
        [EMPTY, PICTURE, CARD, PAIR, SUM_14],
        MORE,
    )
    return found


def position_tasks(setup: Setup) -> list[Task]:
    """Return the tasks that sample positions, for each deal of a setup one from each of several other deals."""
    return chunk_tasks("positions", _many(setup), sample_positions)


def _many(setup: Setup) -> Setup:
    return dataclasses.replace(setup, deals=TIMES * setup.deals)


def positions_of(setup: Setup, results: dict[str, Any]) -> list[Position]:
    """Return the positions from the results of `position_tasks`."""
    return [
        Position(found[0], [TriedPlay(*play) for play in found[1]])
        for found in by_deal(results, "positions", _many(setup))
        if found is not None
    ]


def sample_positions(rules: str, agent: str, first: int, deals: int, seed: int) -> list[Any]:
    """Return a position of each deal as plain values, None where a deal had no choice after the moment drawn for it.

    The agent plays every seat up to a random moment; the first decision after it between several cards is the position.
    """
    game = Rules.parse(rules)
    player = agents.make_known(agent, game, stream(seed, first))
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:], history=want_history((player,)))
    moment = np.random.default_rng([seed, first]).integers(0, game.deck_size, deals)
    rows, played = np.arange(deals), 0
    sampled: list[int] = []
    states: list[State] = []
    while len(rows):
        is_choice = (engine.action_mask[rows, :NUM_KINDS].sum(axis=1) > 1) & (moment[rows] <= played)
        sampled += rows[is_choice].tolist()
        states.append(engine.state[rows[is_choice]])
        rows = rows[~is_choice]
        step(engine, player, rows)
        rows, played = rows[~engine.finished[rows]], played + 1
    found: list[Any] = [None] * deals
    if sampled:
        positions = play_each(game, agent, stream(seed, first, 1), np.concatenate(states).view(np.recarray))
        for row, position in zip(sampled, positions, strict=True):
            found[row] = [position.hand, [list(play) for play in position.plays]]
    return found


def play_each(rules: Rules, agent: str, seed: int, states: State) -> list[Position]:
    """Return the positions of some states, each between several cards, with the game played out after each card."""
    here = Engine.from_state(rules, states, check=False)
    player = agents.make_known(agent, rules, seed)
    values = values_of(player)(here.observation, here.action_mask)
    rows, cards = np.nonzero(here.action_mask[:, :NUM_KINDS])
    every, seats = np.arange(len(rows)), here.seat[rows]
    engine = here.select(rows)
    engine.step(cards)
    while len(pending := np.flatnonzero(engine.state.pending != NO_CARD)):  # a capture is being chosen
        step(engine, player, pending)
    points = engine.state.points[every, seats] - here.state.points[rows, seats]
    creeps = engine.state.table.sum(axis=1) > here.state.table[rows].sum(axis=1)
    leaves = kinds_of_tables(engine.state.table, engine.state.table_sum)
    margins = _play_out(engine, player)[every, seats % rules.num_teams]
    plays: list[list[TriedPlay]] = [[] for _ in states]
    columns = zip(cards, creeps, points, leaves, values[rows, cards], margins, strict=True)
    for row, play in zip(rows.tolist(), columns, strict=True):
        plays[row].append(TriedPlay(*(each.item() for each in play)))
    hands = here.state.hand_size[np.arange(len(states)), here.seat].tolist()
    return [Position(hand, each) for hand, each in zip(hands, plays, strict=True)]


def _play_out(engine: Engine, player: Agent) -> FloatArray:
    """Play an engine's games to the end, and return by how much each side is ahead of the others' mean, (B, S)."""
    rules = engine.rules
    seats = play_table(engine, [player], np.zeros((engine.num_games, rules.num_teams), np.int64)).scores
    return leads_over_others(rules, by_side(seats, rules.num_teams).astype(float))
