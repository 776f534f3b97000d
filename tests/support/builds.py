"""Positions with builds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from krypenv import Game, Move, Rules
from krypenv.agents.neural.action_features import features_of
from krypenv.cards import BUILD, STOP, TAKE, TAKE_BUILD, card_name, parse_card
from support.games import small_first
from support.relatives import lay

SMALL = 7  # loose cards on a table whose moves the tests list


def positions(rules: Rules, seed: int) -> Iterator[Game]:
    """A game at each of its plays; whoever can build often does."""
    rng = np.random.default_rng(seed)
    game = Game(rules, deck=map(card_name, small_first(rules, rng)))
    while not game.is_over:
        if len(game.table) > SMALL:  # a table that grows too large is left to the actions
            game.act(int(rng.choice(np.flatnonzero(game.action_mask()))))
            continue
        yield game
        moves = game.legal_moves()
        builds = [move for move in moves if move.build is not None or move.builds]
        chosen = builds if builds and rng.random() < 0.6 else moves
        game.push(chosen[int(rng.integers(len(chosen)))])


def at(table: str, *hands: str, rules: str = "mulle-glimne players=2", **more: str) -> Game:
    """Return a position in which all other cards lie in the pile of seat 1; `build_9` and `owner_9` tell of a build."""
    told = {name.replace("_", " "): text for name, text in more.items()}
    told = {"captured 1": "rest", "stock": "-"} | told
    return lay(rules, table, *hands, more="; ".join(f"{key}: {text}" for key, text in told.items()))


def first_actions(game: Game, move: Move) -> set[int]:
    """The actions that can come next on the way to a move: its cards come in ascending order, builds last."""
    card, takes, _, build, builds = move.kinds()
    if game.pending is None:
        return {card}
    if build and not game.building:
        return {BUILD + build}
    taken = [parse_card(name) for name in game.taken]
    if len(takes) > len(taken):
        return {TAKE + takes[len(taken)]}
    others = [value for value in builds if value != build]
    return {TAKE_BUILD + others[0]} if others else {STOP}


def effects(game: Game, move: Move) -> tuple[object, ...]:
    """What a move does, as the features tell it."""
    seat, twin = game.turn, game.copy()
    twin.push(move)
    sides = game.rules.num_teams
    lead = [sum(scores[seat % sides :: sides]) * 2 - sum(scores) for scores in (game.scores(), twin.scores())]
    own = {value for value, _, owner, _ in twin.builds if (owner - seat) % sides == 0}
    return (
        min(10 * (lead[1] - lead[0]), 127),
        move.build or 0,
        len(move.takes),
        len(twin.table),
        frozenset(own),
        frozenset(value for value, *_ in twin.builds) - own,
    )


def told(rules: Rules, row: np.ndarray) -> tuple[object, ...]:
    """The same from the features of an action."""
    part = {name: row[columns] for name, columns in features_of(rules).columns.items()}
    made = np.flatnonzero(part["made"])
    return (
        int(part["gain"][0]),
        int(made[0]) if len(made) else 0,
        int(part["loose"][0]),
        int(part["left_cards"][0]),
        frozenset(np.flatnonzero(part["own_builds"]).tolist()),
        frozenset(np.flatnonzero(part["other_builds"]).tolist()),
    )
