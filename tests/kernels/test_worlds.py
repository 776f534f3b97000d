"""What a seat sees: the layout, nothing that leaks, and hidden hands drawn from all that agree with it."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare
from support.games import RULES, full_deck, refresh, seen_by, shuffle_hidden, stacked, viewers_of
from support.relatives import ALL_RELATIVES

from krypenv import Engine, Game, Rules, determinize
from krypenv.cards import parse_card
from krypenv.features import SIZE as FEATURES
from krypenv.kernels.scoring import running_scores, side_scores
from krypenv.observation import DESCRIPTIONS, EXTRA, LAYOUT, SIZE
from krypenv.worlds.invariants import check_state

MAIN = Rules.preset("krypkasino")


def moments(rules: Rules) -> list[Engine]:
    """Engines stopped at different plies."""
    engine, stops = Engine(rules, 16, seed=8, features=True), []
    for steps in (1, 10, 45):
        for _ in range(steps):
            engine.step(engine.sample_actions())
        stops.append(engine.copy())
    return stops


def test_the_layout_covers_the_vector_once() -> None:
    covered = np.concatenate([np.arange(SIZE)[part] for part in LAYOUT.values()])
    assert covered.tolist() == list(range(SIZE))
    assert list(DESCRIPTIONS) == [*LAYOUT, *EXTRA]
    assert Engine(MAIN, 1).observation.shape == (1, SIZE)
    assert Engine(MAIN, 1, features=True).observation.shape == (1, SIZE + FEATURES)


def shuffled(engine: Engine, viewers: np.ndarray) -> Engine:
    """A copy of an engine in which all that the given seats, (B,), can't see is dealt anew."""
    hidden, rng = engine.copy(), np.random.default_rng(0)
    for row, seat in zip(hidden.state, viewers, strict=True):
        shuffle_hidden(engine.rules, row, int(seat), rng)
    refresh(hidden)
    return hidden


@pytest.mark.parametrize("rules", [*RULES.values(), *ALL_RELATIVES.values()], ids=str)
def test_no_leak_of_cards_that_a_seat_cannot_know(rules: Rules) -> None:
    """Whatever other hands and stock are made of, observation, features and mask stay the same, for who waits too."""
    for engine in moments(rules):
        hidden, waiting = shuffled(engine, engine.seat), (engine.seat + 1) % rules.players
        assert (hidden.observation == engine.observation).all()
        assert (hidden.action_mask == engine.action_mask).all() or rules.building  # an owner keeps a card
        assert (seen_by(shuffled(engine, waiting), waiting) == seen_by(engine, waiting)).all()


def test_determinize_takes_one_observation_and_knows_the_main_rulebook() -> None:
    seen = Engine("krypkasino players=6 teams=3", 1, seed=3).observation
    assert (Engine.from_state("krypkasino players=6 teams=3", determinize(seen[0], 5)).observation == seen).all()


@pytest.mark.parametrize("rules", [MAIN, Rules.preset("howto", players=3), Rules.preset("mini-high")], ids=str)
def test_the_end_of_a_game_is_shown_too(rules: Rules) -> None:
    for seed in range(20):
        game = Game(rules, seed=seed)
        while not game.is_over:
            game.act(game.legal_actions()[seed % len(game.legal_actions())])
        for seat in range(rules.players):
            world = determinize(game.observation(seat), seed, rules)
            assert world.over[0]
            assert world.points[0].sum() + world.bonus[0].sum() == sum(map(game.points, range(rules.players)))


# ---------------------------------------------------------------------- which worlds, and how often


@pytest.mark.parametrize("plies", [0, 3, 6])
def test_each_possible_world_appears_as_often_as_any_other(plies: int) -> None:
    """All hands that a small deck allows, by enumeration: those without the ranks that a sweep rules out."""
    rules, weights, hidden, seed = Rules.preset("mini-high"), Counter[tuple[int, ...]](), set[int](), 0
    while len(weights) < 5 or (plies > 0 and not hidden):  # until a missed sweep has ruled out an unseen rank
        deck = np.random.default_rng(seed).permutation(full_deck(rules)).tolist()
        engine, seed = stacked(rules, np.array([deck])), seed + 1
        for _ in range(plies):
            engine.step(engine.sample_actions())
        seen = engine.observation[0]
        barred = set(np.flatnonzero(seen[LAYOUT["cannot_hold"]][:13]).tolist())
        unseen = np.repeat(np.arange(52), rules.deck_counts - seen[LAYOUT["seen"]]).tolist()
        hidden = barred & {card % 13 for card in unseen}
        hands = itertools.combinations(unseen, int(seen[LAYOUT["hand_size"]][1]))
        weights = Counter(tuple(sorted(hand)) for hand in hands if not any(card % 13 in barred for card in hand))
    state = determinize(np.repeat(seen[None], 200 * len(weights), 0), 7, rules)
    check_uniform(state.hands[:, 1 - int(engine.seat[0])], weights)


def check_uniform(hands: np.ndarray, weights: Counter[tuple[int, ...]]) -> None:
    """Assert that hands, (B, 52) counts, are drawn by their weights."""
    drawn = Counter(tuple(np.repeat(np.arange(52), hand).tolist()) for hand in hands)
    assert set(drawn) == set(weights)
    expected = np.array([*weights.values()]) * len(hands) / weights.total()
    assert chisquare([drawn[hand] for hand in weights], expected).pvalue > 1e-6


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


def test_r10_hands_that_hardly_any_deal_allows_are_found() -> None:
    """No shuffle finds them: each other seat can hold no rank but those of the cards that it has."""
    rules, first = Rules.preset("krypkasino", players=6), np.zeros(16, np.int64)
    engine = Engine(rules, 16, seed=5)
    state = engine.state
    while len(rows := np.flatnonzero((state.hand_size.sum(axis=1) > 24) | (state.pending >= 0))):
        engine.step(engine.sample_actions(rows), rows)  # until each seat has played once
    held = state.hands.reshape(16, 6, 4, 13).any(axis=2)
    state.cannot_hold[:] = np.where(held, 0, 1 << np.arange(13)).sum(axis=2)
    check_state(rules, state)
    seen = seen_by(engine, first)
    for seed in range(20):
        assert (seen_by(Engine.from_state(rules, determinize(seen, seed, rules)), first) == seen).all()
    state.cannot_hold[:, 1] = (1 << 13) - 1  # and now none is left
    with pytest.raises(ValueError, match=r"observation 0 is .*: no deal of the unseen cards gives each seat cards"):
        determinize(seen_by(engine, first), 0, rules)


# ---------------------------------------------------------------------- points and totals beyond a byte


RICH = "mulle-glimne spade_points=17 ace_points=13 spade_ace_points=1 sweep_points=2 most_spades_points=2"


@pytest.mark.parametrize(
    "text",
    [
        "mulle players=2 spade_points=18 initial_match_bonus=2",
        "mulle players=2 spade_points=18 initial_match_bonus=-18 first_deal=((5,1),)",
        "mulle players=2 mulle_points=20 suits=(0,) capture=maximal first_deal=((5,1),) initial_match_bonus=5",
        "krypkasino players=3 spade_points=20 ace_points=20 first_deal=((2,1),) short_last_deal=True "
        "initial_match_bonus=-5",
        f"{RICH} players=2 threshold=150 threshold_at_once=True",
        f"{RICH} players=4 teams=2 threshold=150 threshold_at_once=True",
    ],
)
def test_k7_f6_points_that_an_observation_cuts_off_belong_to_who_shows_them(text: str) -> None:
    """A world has them too, and whoever has taken nothing has nothing; the leader's bonus is one that there is.

    Sides whose points are cut off below a threshold stay below it.
    """
    rules = Rules.parse(text)
    engine, points = Engine(rules, 256, seed=3), rules.layout["points"]
    least, shown, plies = 1 + int(rules.threshold is not None), 0, 0  # seats whose points are cut off, in twenty games
    while shown < 20 or plies < rules.deck_size:
        engine.step(engine.sample_actions())
        plies += 1
        for viewer in range(rules.players):
            seen = seen_by(engine, np.full(len(engine.seat), viewer))
            cut = np.flatnonzero((seen[:, points] == 127).sum(1) >= least)
            shown += len(cut)
            if len(cut) > 0:
                worlds = determinize(seen[cut], 1, rules)
                check_state(rules, worlds)
                there = seen_by(Engine.from_state(rules, worlds), viewers_of(seen[cut], rules.players))
                assert (there == seen[cut]).all()
                if rules.threshold is None:
                    assert (worlds.points.sum(1) == engine.state.points[cut].sum(1)).all()
                else:
                    assert side_scores(rules, running_scores(rules, worlds)).max() < rules.threshold
