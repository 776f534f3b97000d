"""The relatives in the engine and in `Game` against the slow reference: whole games and sessions, at every ply."""

from __future__ import annotations

import numpy as np
import pytest
from relatives import MIXTURES, RELATIVES, SESSIONS, play_beside
from support import full_deck, small_first

STYLES = ("random", "take", "choose")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("text", RELATIVES)
def test_k2_games_are_those_of_the_reference(text: str, style: str) -> None:
    rules = RELATIVES[text]
    rng = np.random.default_rng([len(text), len(style)])
    for game in range(3):
        deck = small_first(rules, rng) if game == 1 else rng.permutation(full_deck(rules)).tolist()
        assert play_beside(rules, game, style, deck)["plies"] >= rules.deck_size - 8


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("text", MIXTURES)
def test_mixtures_of_fields_are_those_of_the_reference(text: str, style: str) -> None:
    rules = MIXTURES[text]
    rng = np.random.default_rng([len(text), len(style)])
    for game in range(2):
        deck = small_first(rules, rng) if game == 1 else rng.permutation(full_deck(rules)).tolist()
        play_beside(rules, game, style, deck)


@pytest.mark.parametrize("text", SESSIONS)
def test_k6_sessions_are_those_of_the_reference(text: str) -> None:
    rules = SESSIONS[text]
    for seed, style in enumerate(STYLES):
        end = play_beside(rules, seed, style)
        assert rules.games == 0 or end["games"] <= rules.games
