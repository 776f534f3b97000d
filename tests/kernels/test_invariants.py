"""Random rules, and play by them with every invariant after every ply: what `make soak` does for an hour."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz.text import check_rules
from support.checked_play import LOOK_AFTER, ROWS, STEPS, CheckedPlay
from support.games import seen_by, viewers_of
from support.relatives import ALL_RELATIVES, BUILDING, GLIMNE, RELATIVES, SESSIONS

from krypenv import Engine, Rules, determinize
from krypenv.families.field_checks import CHOICES, SWITCHES
from krypenv.families.random_rules import DRAWS
from krypenv.families.variants import FAMILIES
from krypenv.kernels.scoring import running_scores, side_scores
from krypenv.rules import FIELDS
from krypenv.worlds.invariants import check_state

MANY_PLIES = 1_000_000
TEXTS = [*RELATIVES, *BUILDING, *GLIMNE, *(text for text, rules in SESSIONS.items() if rules.threshold)]


def test_every_field_and_preset_is_drawn_and_read_again() -> None:
    drawn = [Rules.random(seed) for seed in range(110)]
    for rules in drawn:
        check_rules(rules)
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


@pytest.mark.parametrize("seed", range(0, 130, 5))
def test_random_rules_keep_every_invariant(seed: int) -> None:
    play = CheckedPlay(Rules.random(seed), seed)
    for _ in range(4 * LOOK_AFTER):
        play.go_on()
    assert play.plies >= 4 * LOOK_AFTER * ROWS * STEPS
    assert play.counts[1] > 0  # games that ended


@pytest.mark.parametrize("text", TEXTS)
def test_k7_b5_b6_a_million_plies_of_all_families_keep_every_invariant(text: str) -> None:
    play = CheckedPlay(ALL_RELATIVES[text], 7)
    while play.plies < MANY_PLIES // len(TEXTS) or play.counts.min() == 0:
        play.go_on()


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
