"""The rows of some games: played by agents, then replayed decision by decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.advice.values import examined
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.rules import Rules
from krypenv.training.data.columns import Column, encode_rows
from krypenv.training.evaluation.arena.arena import Seating
from krypenv.training.evaluation.luck.game_luck import luck_of_game
from krypenv.training.evaluation.matches.margins import leads_over_others
from krypenv.training.evaluation.matches.mixed_table import play_table
from krypenv.training.evaluation.matches.players import make_fresh_player, make_player, seed_of

Rows = dict[str, list[Any]]  # by column


@dataclass(frozen=True)
class Games:
    """The inputs of the rows of n games, which are played in parallel."""

    rules: Rules
    first: int  # number of the first game
    seeds: npt.NDArray[np.uint64]  # (n,) of their deals
    agents: tuple[str, ...]
    names: tuple[str, ...]  # of the agents
    seatings: tuple[Seating, ...]  # in turn
    seed: int  # of the agents' random choices
    columns: tuple[Column, ...]  # of the rows
    analysts: tuple[str, ...] = ()  # the agent that values the moves of each agent; empty for no values


def play_rows(games: Games) -> bytes:
    """Play games with fresh agents, and return the bytes of the file of their rows."""
    rules, sides = games.rules, games.rules.num_teams
    lineup = np.array(
        [games.seatings[number % len(games.seatings)] for number in games.first + np.arange(len(games.seeds))]
    )
    made = [
        make_fresh_player(source, rules, seed_of(games.seed, games.first, at)) for at, source in enumerate(games.agents)
    ]
    actions: list[list[int]] = [[] for _ in games.seeds]

    def note_actions(rows: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64]) -> None:
        for row, action in zip(rows.tolist(), chosen.tolist(), strict=True):
            actions[row].append(action)

    scores = play_table(made, rules, games.seeds, lineup, on_step=note_actions).scores
    margins = leads_over_others(rules, scores)
    rows: Rows = {column.name: [] for column in games.columns}
    for row, game_actions in enumerate(actions):
        begin = len(rows["ply"])
        _replay(rows, games, int(games.seeds[row]), game_actions, lineup[row])
        seats = np.array(rows["seat"][begin:]) % sides
        rows["game"] += [games.first + row] * len(seats)
        rows["score"] += scores[row, seats].tolist()
        rows["margin"] += margins[row, seats].tolist()
        rows["agent"] += [games.names[agent] for agent in lineup[row, seats]]
    return encode_rows(rows, games.columns)


def _replay(rows: Rows, games: Games, seed: int, actions: list[int], lineup: npt.NDArray[np.int64]) -> None:
    """Add the decisions of one game, or of all games of a session, to some rows, without the columns of its result."""
    game = Game(games.rules, seed=seed)
    before, count = game, 0  # the game before the current move, and the number of the move's actions so far
    for ply, action in enumerate(actions):
        if game.is_over:
            game = game.next_game()
        if count == 0 and games.analysts:
            before = game.copy()
        if "text" in rows:
            rows["text"].append(None if count else game.view(game.turn))
        for name, value in (
            ("seed", seed), ("ply", ply), ("deal", game.deal_number), ("seat", game.turn), ("action", action),
            ("observation", game.observation()), ("mask", game.action_mask()),
        ):  # fmt: skip
            rows[name].append(value)
        game.act(action)
        count += 1
        move = None if game.pending else game.last_move
        if move:
            rows["move"] += [str(move)] * count
            if games.analysts:
                analyst = games.analysts[lineup[before.turn % games.rules.num_teams]]
                _add_values(rows, before, move, analyst, games.seed, count)
            count = 0
        if game.is_over and "luck" in rows:
            _add_luck(rows, game)


def _add_values(rows: Rows, game: Game, move: Move, analyst: str, seed: int, actions: int) -> None:
    """Add the values of the open moves, as in an analysis of the game, to the first row of a move."""
    moves, evaluation = examined(game, make_player(analyst, game.rules, seed), played=move)
    margins = evaluation.margins
    order = np.argsort(-margins.mean(axis=0), kind="stable").tolist()
    names = [str(moves[at]) for at in order]
    behind = margins[:, order[0]] - margins[:, order[names.index(str(move))]]
    within = [None] * (actions - 1)
    rows["moves"] += [names, *within]
    rows["margins"] += [[float(margins[:, at].mean()) for at in order], *within]
    rows["regret"] += [float(behind.mean()), *within]


def _add_luck(rows: Rows, game: Game) -> None:
    """Add the luck of each deal to the last rows, those of a finished game."""
    luck, sides = luck_of_game(game), game.rules.num_teams
    begin = len(rows["luck"])
    for deal, seat in zip(rows["deal"][begin:], rows["seat"][begin:], strict=True):
        rows["luck"].append(float(luck.luck[luck.deals.index(deal), seat % sides]))
