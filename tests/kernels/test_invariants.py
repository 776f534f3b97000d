"""Random rules are drawn from all fields, and play by all families keeps every invariant after every ply."""

from __future__ import annotations

import dataclasses

import pytest
from support.checked_play import CheckedPlay
from support.games import RULES
from support.relatives import ALL_RELATIVES

from krypenv import Rules
from krypenv.families.field_checks import CHOICES, SWITCHES
from krypenv.families.random_rules import DRAWS
from krypenv.families.variants import FAMILIES
from krypenv.rules import FIELDS

MANY_PLIES = 1_000_000
LONG = (  # sessions whose totals an observation cuts off, and short ones with odd deals
    "krypkasino players=2 games=0 threshold=500",
    "krypkasino players=3 games=0 threshold=5000",
    "krypkasino players=3 games=300 sweep_points=20",
    "krypkasino players=2 games=2 spade_points=20 ace_points=20",
    "mini-low players=5 later_deal=((1,0),) first_deal=((1,3),) games=129",
    "mini-high players=3 games=0 threshold=9000 sweep_points=20",
    "mini-low players=2 first_deal=((2,0),) later_deal=((1,1),)",
)
TEXTS = [*RULES, *ALL_RELATIVES, *LONG]


def test_every_field_and_preset_is_drawn_and_read_again() -> None:
    drawn = [Rules.random(seed) for seed in range(110)]
    for rules in drawn:
        assert Rules.parse(str(rules)) == rules == Rules(**dataclasses.asdict(rules))
    assert set(DRAWS) == set(FIELDS)
    for field in DRAWS:
        others = {repr(getattr(rules, field)) for rules in drawn if getattr(rules, field) != _base(rules, field)}
        assert others, field
    for field, words in CHOICES.items():
        assert {getattr(rules, field) for rules in drawn} == set(words)
    for field in SWITCHES:
        assert {getattr(rules, field) for rules in drawn} == {False, True}
    assert {rules.name for rules in drawn} == {name for family in FAMILIES for name in family.variants.values()}
    assert {rules.players for rules in drawn} == {2, 3, 4, 5, 6}
    assert {rules.teams for rules in drawn} == {None, 2, 3}


def _base(rules: Rules, field: str) -> object:
    players = 2 if rules.players == 2 else rules.players
    teams = rules.teams if rules.name == "mulle-glimne" else None
    return getattr(Rules.preset(rules.name, players=players, teams=teams), field) if field != "players" else 2


@pytest.mark.few(30)
@pytest.mark.parametrize("text", TEXTS)
def test_k7_b5_b6_a_million_plies_of_all_families_keep_every_invariant(text: str) -> None:
    play = CheckedPlay(Rules.parse(text), 7)
    while play.plies < MANY_PLIES // len(TEXTS) or (play.sessions == 0 and text not in LONG):
        play.go_on()
