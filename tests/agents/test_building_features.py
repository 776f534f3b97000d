"""Action features where cards are built, beside every legal move of small tables."""

from __future__ import annotations

import numpy as np
import pytest
from support.builds import positions
from support.relatives import BUILDING, GLIMNE

from krypenv import Game, Move, Rules
from krypenv.agents.neural.action_features import columns_of, descriptions_of, gather_action_features
from krypenv.cards import BUILD, STOP, TAKE, TAKE_BUILD, parse_card
from krypenv.engine import Engine
from krypenv.worlds.determinize import determinize

RULES = {"small": next(iter(BUILDING.values())), **GLIMNE}
LAYOUT = columns_of(GLIMNE["mulle-glimne players=2"])


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


def told(row: np.ndarray) -> tuple[object, ...]:
    """The same from the features of an action."""
    part = {name: row[columns] for name, columns in LAYOUT.items()}
    made = np.flatnonzero(part["made"])
    return (
        int(part["gain"][0]),
        int(made[0]) if len(made) else 0,
        int(part["cards"][0]),
        int(part["left_cards"][0]),
        frozenset(np.flatnonzero(part["own_builds"]).tolist()),
        frozenset(np.flatnonzero(part["other_builds"]).tolist()),
    )


@pytest.mark.parametrize("text", RULES)
def test_b2_each_action_is_told_by_a_move_that_it_leads_to(text: str) -> None:
    listed, total = 0, 0
    for game in positions(RULES[text], 1):
        if game.stock_size == 0:  # the end of a game gives what is left to the last capturer
            break
        observation, mask = game.observation(), game.action_mask()
        found = gather_action_features(game.rules, observation[None], mask[None])
        moves = [(first_actions(game, move), effects(game, move)) for move in game.legal_moves()]
        for action, row in zip(found.actions.tolist(), found.features, strict=True):
            total += 1
            if row[LAYOUT["listed"]][0]:
                listed += 1
                assert told(row) in [effect for actions, effect in moves if action in actions]
    assert listed > 0.8 * total > 50


def test_features_tell_nothing_of_hidden_cards() -> None:
    rules = GLIMNE["mulle-glimne players=2"]
    engine = Engine(rules, 32, seed=4)
    rng = np.random.default_rng(0)
    for _ in range(60):
        seen, masks = engine.observation, engine.action_mask
        other = Engine.from_state(rules, determinize(seen, 1, rules), check=False)
        for one, two in zip(
            gather_action_features(rules, seen, masks),
            gather_action_features(rules, other.observation, other.action_mask),
            strict=True,
        ):
            assert np.array_equal(one, two)
        engine.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))


def test_every_feature_is_described_and_used() -> None:
    rules = Rules.preset("mulle-glimne")
    assert list(descriptions_of(rules)) == list(columns_of(rules))
    engine, largest = Engine(rules, 256, seed=1), np.zeros(max(part.stop for part in LAYOUT.values()), np.int64)
    rng = np.random.default_rng(0)
    for _ in range(80):
        found = gather_action_features(rules, engine.observation, engine.action_mask)
        largest = np.maximum(largest, np.abs(found.features.astype(np.int64)).max(axis=0))
        engine.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in engine.action_mask]))
    unused = {name for name, part in LAYOUT.items() if not largest[part].any()}
    assert unused == {"cards_lead", "spades_lead"}  # where piles count
