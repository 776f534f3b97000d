"""Which games are like Krypkasino."""

from krypenv import Rules
from krypenv.agents.base import is_main
from krypenv.families import krypkasino
from krypenv.observation import extra_blocks


def test_the_main_game_is_one_with_its_variants_and_with_no_other():
    variants = [
        *(Rules.preset(name) for name in krypkasino.PRESETS),
        Rules.preset(players=6, teams=3, games=0, threshold=60),
        Rules.preset("howto", packs=1, forced_sweep=False, storan_points=0, initial_match_bonus=-5),
        Rules.preset(set_aside="spades", last_capture_points=1, first_deal="six_table"),
    ]
    assert all(is_main(rules) and not extra_blocks(rules) for rules in variants)
    others = [
        {"capture": "optional"}, {"sweep_payer": "nobody"}, {"most_cards_points": 1}, {"mulle_points": 5},
        {"spades_above": 6}, {"storan_hand_value": 16}, {"tie_break": "spades"},
        {"hand_values": ((1, 14), *range(2, 14))},
    ]  # fmt: skip
    assert not any(is_main(Rules.preset(**fields)) for fields in others)
