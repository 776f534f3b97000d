"""The engine and `Game` agree with the slow reference at every ply, whatever the rules."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.beside import STYLES, play_beside, reference_of
from support.games import RULES, full_deck, small_first
from support.random_rules import draw_small_rules
from support.reference import Reference
from support.relatives import BUILDING, GLIMNE, MIXTURES, RELATIVES, SESSIONS

from krypenv import Game
from krypenv.cards import card_name

ALL = {**RULES, **RELATIVES, **MIXTURES, **BUILDING, **GLIMNE}
OF_RELATIVES = {**RELATIVES, **MIXTURES}
pytestmark = pytest.mark.few(5)


@pytest.mark.few(4)
@pytest.mark.parametrize("style", ["random", "creep", "choose"])
@pytest.mark.parametrize("text", RULES)
def test_r7_games_of_krypkasino_are_those_of_the_reference(text: str, style: str) -> None:
    rng = np.random.default_rng([len(text), len(style)])
    for game in range(2):
        deck = rng.permutation(full_deck(RULES[text])).tolist() if style == "random" else small_first(RULES[text], rng)
        play_beside(RULES[text], len(style) + game, style, deck)


@pytest.mark.parametrize("style", ["random", "take", "choose"])
@pytest.mark.parametrize("text", OF_RELATIVES)
def test_k2_games_of_the_relatives_are_those_of_the_reference(text: str, style: str) -> None:
    rules = OF_RELATIVES[text]
    rng = np.random.default_rng([len(text), len(style)])
    for game in range(2):
        deck = small_first(rules, rng) if game else rng.permutation(full_deck(rules)).tolist()
        play_beside(rules, game, style, deck)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("text", SESSIONS)
def test_r15_h5_s4_k6_sessions_are_those_of_the_reference(text: str, seed: int) -> None:
    rules = SESSIONS[text]
    games = play_beside(rules, seed, STYLES[(len(text) + seed) % 3])
    assert rules.games == 0 or games <= rules.games


@pytest.mark.few(2)
@pytest.mark.parametrize("text", [*BUILDING, *GLIMNE])
def test_g1_b1_b6_games_with_builds_are_those_of_the_reference(text: str) -> None:
    styles = ("choose", "take") if text in GLIMNE else ("choose", "choose")
    for seed, style in enumerate(styles[: ALL[text].games + 1]):  # one session, or two games
        play_beside(ALL[text], seed, style)


@pytest.mark.few(3)
@pytest.mark.parametrize("part", range(16))
def test_k2_r10_random_rules_of_small_decks_are_played_as_by_the_reference(part: int) -> None:
    rng = random.Random(part)
    for seed in range(20):
        rules = draw_small_rules(rng)
        deck = np.random.default_rng(seed).permutation(full_deck(rules)).tolist()
        play_beside(rules, seed, rng.choice(STYLES), deck if rules.games == 1 and rng.random() < 0.5 else None)


# ---------------------------------------------------------------------- counts of staged actions

COUNTS = {  # of eight actions from a stacked deck, or of seven with builds; made with the reference once
    "mini-double players=2": 312,
    "kasino-sweden players=2": 2_958,
    "kasino-sweden players=3": 3_658,
    "kasino-finland players=2": 2_958,
    "kasino-finland players=4 teams=2": 5_416,
    "mulle players=2": 15_212,
    "mulle players=3": 17_227,
    "kasino-sweden players=2 forced_sweep=True": 2_802,
    "kasino-finland players=3 capture=maximal forced_sweep=True": 8_178,
    "howto players=2 capture=optional lillan_hand_value=15 storan_hand_value=16": 95,
    "mini-double players=3 capture=optional mulle_points=5 most_cards_points=1": 688,
    next(iter(BUILDING)): 7_948,
    "kasino-finland players=2 building=True": 1_352,
    "mulle-glimne players=2": 2_510,
}


def count(position: Game | Reference, depth: int) -> int:
    """Return the number of sequences of staged actions from a position; a finished game has none."""
    actions = position.legal_actions()
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        after = position.copy()
        after.act(action)
        total += count(after, depth - 1)
    return total


def starts(text: str) -> tuple[Game, Reference]:
    """Return a game and the reference of it, from a deck with small cards in front that is always the same."""
    rules = ALL[text]
    deck = small_first(rules, np.random.default_rng(4))
    return Game(rules, deck=map(card_name, deck)), reference_of(rules)(rules, deck)


@pytest.mark.parametrize("text", COUNTS)
def test_k2_b1_counts_of_staged_actions(text: str) -> None:
    assert count(starts(text)[0], 7 if ALL[text].building else 8) == COUNTS[text]


@pytest.mark.parametrize("text", ALL)
def test_k2_b1_counts_of_staged_actions_are_those_of_the_reference(text: str) -> None:
    stored = "kasino-finland players=2", "mini-double players=3 capture=optional mulle_points=5 most_cards_points=1"
    depth = 8 if text in stored else 3 if ALL[text].building else 4
    game, reference = starts(text)
    assert count(game, depth) == count(reference, depth)
