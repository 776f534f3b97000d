"""What a seat sees: the layout, nothing that leaks, and the worlds that agree with it."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from support.games import RULES, full_deck, refresh, seen_by, shuffle_hidden, stacked

from krypenv import Engine, Game, Rules, determinize
from krypenv.cards import parse_card
from krypenv.features import SIZE as FEATURES
from krypenv.observation import DESCRIPTIONS, EXTRA, LAYOUT, SIZE

every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


def some_games(rules: Rules, games: int = 32, features: bool = False) -> list[Engine]:
    """Engines stopped at many different plies."""
    engine = Engine(rules, games, seed=8, features=features)
    stops = []
    for ply in range(rules.deck_size + 20):
        if ply % 5 == 0:
            stops.append(engine.copy())
        engine.step(engine.sample_actions())
    return stops


def test_layout_covers_the_vector_once() -> None:
    covered = np.concatenate([np.arange(SIZE)[part] for part in LAYOUT.values()])
    assert covered.tolist() == list(range(SIZE))
    assert list(DESCRIPTIONS) == [*LAYOUT, *EXTRA]
    assert Engine(Rules.preset(), 1).observation.shape == (1, SIZE)
    assert Engine(Rules.preset(), 1, features=True).observation.shape == (1, SIZE + FEATURES)


@every_rules
def test_no_leak_of_cards_that_a_seat_cannot_know(rules: Rules) -> None:
    """Whatever other hands and stock are made of, observation, features and mask stay the same, for who waits too."""
    for engine in some_games(rules, features=True):
        hidden, waiting = shuffled(engine, engine.seat), (engine.seat + 1) % rules.players
        assert (hidden.observation == engine.observation).all()
        assert (hidden.action_mask == engine.action_mask).all()
        assert (seen_by(shuffled(engine, waiting), waiting) == seen_by(engine, waiting)).all()


def shuffled(engine: Engine, viewers: np.ndarray) -> Engine:
    """A copy of an engine in which all that the given seats, (B,), can't see is dealt anew."""
    hidden, rng = engine.copy(), np.random.default_rng(0)
    for row, seat in zip(hidden.state, viewers, strict=True):
        shuffle_hidden(engine.rules, row, int(seat), rng)
    refresh(hidden)
    return hidden


@pytest.mark.parametrize("text", ["krypkasino players=2", "krypkasino players=6 teams=3", "krypkasino players=4"])
def test_determinize_takes_one_observation_and_knows_the_main_rulebook(text: str) -> None:
    engine = Engine(Rules.parse(text), 1, seed=3)
    world = Engine.from_state(engine.rules, determinize(engine.observation[0], 5))
    assert (world.observation == engine.observation).all()


@pytest.mark.parametrize("plies", [0, 3, 7])
def test_each_possible_world_appears_as_often_as_any_other(plies: int) -> None:
    """All hands that a small deck allows, by enumeration: those without the ranks that a sweep rules out."""
    rules = Rules.preset("mini-high")
    engine, deck = None, None
    for seed in range(200):  # a game in which a missed sweep has ruled out ranks
        deck = np.random.default_rng(seed).permutation(full_deck(rules)).tolist()
        engine = stacked(rules, np.array([deck]))
        for _ in range(plies):
            engine.step(engine.sample_actions())
        if plies == 0 or engine.observation[0][LAYOUT["cannot_hold"]].any():
            break
    seen = engine.observation[0]
    unseen = np.repeat(np.arange(52), rules.deck_counts - seen[LAYOUT["seen"]])
    size = int(seen[LAYOUT["hand_size"]][1])
    barred = {rank for rank in range(13) if seen[LAYOUT["cannot_hold"]][rank]}
    assert plies == 0 or barred
    hands = itertools.combinations(unseen.tolist(), size)
    weights = Counter(tuple(sorted(hand)) for hand in hands if not any(card % 13 in barred for card in hand))
    state = determinize(np.repeat(seen[None], 200 * len(weights), 0), 7, rules)
    check_uniform(state.hands[:, 1 - int(engine.seat[0])], weights)


def check_uniform(hands: np.ndarray, weights: Counter[tuple[int, ...]]) -> None:
    """Assert that hands, (B, 52) counts, are drawn by their weights (chi-square)."""
    drawn = Counter(tuple(np.repeat(np.arange(52), hand).tolist()) for hand in hands)
    assert set(drawn) == set(weights)
    expected = {hand: len(hands) * weight / weights.total() for hand, weight in weights.items()}
    freedom = len(weights) - 1
    chi2 = sum((drawn[hand] - expected[hand]) ** 2 / expected[hand] for hand in weights)
    assert chi2 < freedom + 5 * math.sqrt(2 * freedom) + 5


def test_b5_determinize_gives_the_owner_a_card_of_its_build_and_is_uniform() -> None:
    game = Game.from_position(
        "rules: mulle-glimne players=2; table: KH; hand 0: KC KD; hand 1: 9D 4C; stock: 9H QD JD 3H 2H 7D 6S 5S; "
        "build 9: 9C 5D 4D; owner 9: 1; captured 1: rest"
    )
    names = ["9D", "4C", "9H", "QD", "JD", "3H", "2H", "7D", "6S", "5S"]
    worlds = determinize(np.repeat(game.observation(0)[None], 6000, axis=0), 1, game.rules)
    nines = {parse_card("9D"), parse_card("9H")}
    allowed = [tuple(sorted(pair)) for pair in itertools.combinations(map(parse_card, names), 2) if nines & set(pair)]
    check_uniform(worlds.hands[:, 1], Counter(allowed))
