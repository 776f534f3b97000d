"""What knows only Krypkasino, or what it was trained for, refuses other games in one sentence."""

import dataclasses

import pytest

from krypenv import Rules
from krypenv.agents.base import check_krypkasino
from krypenv.families import krypkasino
from krypenv.observation import extra_blocks
from krypenv.training import TrainSettings, lab

RELATIVES = ["kasino-sweden", "overspader", "kasino-finland", "laistokasino", "mulle"]
every_relative = pytest.mark.parametrize("name", RELATIVES)
KNOWS = r"^[\w -]+ knows only games like Krypkasino, and [\w-]+ with \d players has .*$"


def refusal(make):
    """The sentence with which something is refused."""
    with pytest.raises(ValueError, match=KNOWS) as refused:
        make()
    return str(refused.value)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"goal": "high"}, "goal='high'"),
        ({"capture": "optional"}, "capture='optional'"),
        ({"sweep_payer": "nobody"}, "sweep_payer='nobody'"),
        ({"most_cards_points": 1}, "most_cards_points=1"),
        ({"mulle_points": 5}, "mulle_points=5"),
        ({"spades_above": 6}, "spades_above=6"),
        ({"storan_hand_value": 16}, "storan_hand_value=16"),
        ({"tie_break": "spades"}, "tie_break='spades'"),
        ({"hand_values": ((1, 14), *range(2, 14))}, "two values in hand_values"),
        ({"table_values": ((1, 14), *range(2, 14))}, "two values in table_values"),
    ],
)
def test_any_field_that_makes_it_another_game_is_named(fields, named):
    assert named in refusal(lambda: check_krypkasino(Rules.preset(**fields), "who"))


def test_the_main_game_and_its_variants_are_known():
    known = [
        *(Rules.preset(name) for name in krypkasino.PRESETS),
        Rules.preset(players=6, teams=3, games=0, threshold=60),
        Rules.preset("howto", packs=1, forced_sweep=False, storan_points=0, initial_match_bonus=-5),
        Rules.preset(set_aside="spades", last_capture_points=1, first_deal="six_table"),
    ]
    for rules in known:
        check_krypkasino(rules, "who")
        assert not extra_blocks(rules)
    for name in RELATIVES:
        turned = dataclasses.replace(Rules.preset(name), goal="low")
        refusal(lambda turned=turned: check_krypkasino(turned, "who"))


@every_relative
def test_a_network_for_krypkasino_too_and_studies_of_krypkasino_refuse_a_relative(name, tmp_path):
    rules = Rules.preset(name)
    with pytest.raises(ValueError, match="one network can't learn"):
        TrainSettings(also=(str(rules),))
    with pytest.raises(ValueError, match=f"the study x knows only games like Krypkasino, and {name} with"):
        lab.run_study(lab.compare("x", "Which?", {}), lab.Setup(rules, "greedy", 1), tmp_path / "out")
    assert not (tmp_path / "out").exists()
