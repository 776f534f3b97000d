"""Any mixture of the fields of `Rules` in decks of up to sixteen cards: the engine and `Game` beside the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.games import full_deck
from support.relatives import play_beside

from krypenv import Rules

VALUES = st.one_of(st.integers(1, 16), st.tuples(st.integers(1, 8), st.integers(9, 16)))


@st.composite
def mixed_rules(draw: st.DrawFn) -> Rules:
    """Rules of small decks, with every field of the relatives."""
    ranks = draw(st.sets(st.sampled_from([1, 1, 2, 3, 4, 5, 10, 11, 13]), min_size=2, max_size=5))
    suits = draw(st.sets(st.integers(0, 3), min_size=1, max_size=4))
    packs = draw(st.integers(1, 2))
    assume(6 <= len(ranks) * len(suits) * packs <= 16)
    players = draw(st.integers(2, 4))
    given: dict[str, Any] = {
        "players": players,
        "teams": draw(st.sampled_from([None, 2])) if players == 4 else None,
        "ranks": tuple(sorted(ranks)),
        "suits": tuple(sorted(suits)),
        "packs": packs,
        "first_deal": ((1, draw(st.integers(0, 2))),),
        "later_deal": ((1, draw(st.integers(0, 1))),),
        "short_last_deal": True,
        "set_aside": draw(st.sampled_from(["none", "none", "pictures", "spades"])),
        "capture": draw(st.sampled_from(["optional", "optional", "maximal"])),
        "lillan_hand_value": draw(st.sampled_from([None, 3, 15])),
        "storan_hand_value": draw(st.sampled_from([None, 5, 16])),
        "double_sweep": draw(st.sampled_from(["none", "identical", "rank"])),
        "sweep_payer": draw(st.sampled_from(["nobody", "seat_before"])),
        "sweep_limit": draw(st.sampled_from([None, 1, 2, 4])),
        "goal": draw(st.sampled_from(["high", "low"])),
        "sweep_points": draw(st.integers(0, 3)),
        "most_spades_points": draw(st.sampled_from([0, 2, 4])),
        "most_cards_points": draw(st.integers(0, 1)),
        "spades_tie": draw(st.sampled_from(["nobody", "two_share"])),
        "spades_above": draw(st.sampled_from([None, 0, 2])),
        "mulle_points": draw(st.sampled_from([0, 5])) if packs == 2 else 0,
        "last_capture_points": draw(st.integers(0, 1)),
        "initial_match_bonus": draw(st.sampled_from([0, -5, 3])),
        "storan_points": draw(st.integers(0, 3)),
        "lillan_points": draw(st.integers(0, 2)),
        "ace_points": draw(st.integers(0, 2)),
        "spade_points": draw(st.integers(0, 1)),
        "tie_break": draw(st.sampled_from(["share", "spades", "finnish", "play_on"])),
    }
    for switch in ("pictures_in_sums", "forced_sweep", "sweeps_cancel", "last_deal_sweeps", "threshold_at_once"):
        given[switch] = draw(st.booleans())
    for name in ("hand_values", "table_values"):
        values: list[Any] = list(range(1, 14))
        for rank in ranks if draw(st.booleans()) else ():
            values[rank - 1] = draw(VALUES)
        given[name] = tuple(values)
    given["games"] = draw(st.integers(1, 3))
    given["threshold"] = draw(st.sampled_from([None, 3, 6]))
    try:
        return Rules(name="mulle", **given)
    except ValueError:  # such as a threshold without points
        assume(False)
        raise


@pytest.mark.parametrize("examples", [80, pytest.param(200, marks=pytest.mark.slow)])
def test_k2_any_mixture_is_played_as_by_the_reference(examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mixed_rules(), st.integers(0, 2**32), st.sampled_from(["random", "take", "choose"]), st.booleans())
    def play(rules: Rules, seed: int, style: str, stacked: bool) -> None:
        deck = np.random.default_rng(seed).permutation(full_deck(rules)).tolist()
        single = rules.games == 1
        play_beside(rules, seed, style, deck if stacked and single else None)

    play()
