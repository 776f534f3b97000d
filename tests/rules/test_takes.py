"""What each card may take, and what a play scores, position by position: rulings, and examples of the descriptions."""

from __future__ import annotations

import pytest
from support.games import gained, lay
from support.relatives import captures

from krypenv import Rules
from krypenv.cards import card_name, parse_card

SWEDEN, FINLAND, LAISTO = "kasino-sweden players=2", "kasino-finland players=2", "laistokasino players=2"
MULLE = "mulle players=2"
MAXIMAL, FORCED = f"{SWEDEN} capture=maximal", f"{SWEDEN} forced_sweep=True"
# rules, table, hand of seat 0, and what its cards may take but for nothing, separated by bars
CAPTURES = [
    # the examples of the description of Nordic casino; its suits are chosen
    (SWEDEN, "7C 5D 9H QC", "2C 9C TC KD", {"9C": "9H", "2C": "", "TC": "", "KD": ""}),
    (SWEDEN, "7C 5D 9H QC", "8D", {"8D": ""}),
    (SWEDEN, "2C 3D 7H AC", "QC 4C", {"QC": "2C 3D 7H", "4C": "AC 3D"}),
    (SWEDEN, "9C 4D 3H 2C", "9D", {"9D": "9C | 2C 4D 3H | 2C 9C 4D 3H"}),
    (SWEDEN, "2C 3D 5H 8C", "TC", {"TC": "2C 3D 5H | 2C 8C"}),  # the two is in one set or the other
    (SWEDEN, "AC 4D 9H KC", "AD KD", {"KD": "4D 9H | KC | KC 4D 9H", "AD": "AC | AC KC | AC 4D 9H"}),
    (SWEDEN, "2D", "2C 3C", {"2C": "2D", "3C": ""}),
    (SWEDEN, "QS 9C 7D 2H", "QC 9H", {"QC": "QS", "9H": "9C | 7D 2H | 9C 7D 2H"}),
    (SWEDEN, "2C 3S 4S KC", "2S 9S", {"2S": "2C", "9S": "2C 3S 4S"}),
    (SWEDEN, "2C 5D 8H QC", "TS TD", {"TD": "2C 8H"}),
    (SWEDEN, "2C 5D 8H QC TS", "TD", {"TD": "2C 8H | TS | 2C 8H TS"}),
    (SWEDEN, "3C 5D 7H QC", "QD 2C", {"QD": "QC | 5D 7H | QC 5D 7H"}),
    (FINLAND, "AC 4D 9H KC", "AD 2S TD 2C", {"AD": "AC KC | AC 4D 9H", "2C": "", "2S": "", "TD": ""}),  # no single ace
    (FINLAND, "2S TD KC 6C", "2D 2H TC 2C", {"2D": "2S", "TC": "TD"}),
    (FINLAND, "2C TC KC 6C", "2S TD", {"2S": "2C KC", "TD": "6C TC"}),
    # S1
    (
        SWEDEN,
        "5C 6D AH TD JD QD KD",
        "JC QC KC TC",
        {
            "JC": "5C 6D | TD AH | JD | 5C 6D JD | TD JD AH | 5C 6D TD AH | 5C 6D TD JD AH",
            "QC": "QD | JD AH | 5C 6D AH | JD QD AH | 5C 6D QD AH",
            "KC": "KD | QD AH | QD KD AH",
            "TC": "TD",
        },
    ),
    # S1: each ace is one or fourteen by itself
    (SWEDEN, "AC AD 5H 8C", "AH QD", {"AH": "AC | AD | AC AD | AC 8C 5H | 8C AD 5H | AC 8C AD 5H"}),
    (
        SWEDEN,
        "AC KC KD 2S QH",
        "AH 9D",
        {"AH": "AC | AC KC | AC KD | QH 2S | AC QH 2S | AC KC QH 2S | AC KD QH 2S"},
    ),
    (SWEDEN, "AC AD AH", "AS 9D", {"AS": "AC | AD | AH | AC AD | AC AH | AD AH | AC AD AH"}),
    (SWEDEN, "AC 3C", "AS 4D", {"4D": "AC 3C"}),
    # F1: an ace is 1 on the table and 14 from the hand, storan 10 and 16, lillan 2 and 15
    (FINLAND, "AC 2S TD 3H KC", "AD 2D", {"AD": "AC KC | AC TD 3H"}),
    (FINLAND, "AC 2C TD 3H KC", "2S TC", {"2S": "2C KC | 2C TD 3H", "TC": "TD"}),
    (FINLAND, "AC 2C TC 3H KC", "TD 2D", {"TD": "KC 3H | AC 2C TC 3H | AC 2C KC", "2D": "2C"}),
    # K2: any union of groups; what two values take is one choice; a second copy
    (
        SWEDEN,
        "2C 3D 4H 5S 7C",
        "7D KC",
        {"7D": "7C | 2C 5S | 3D 4H | 2C 7C 5S | 7C 3D 4H | 2C 3D 4H 5S | 2C 7C 3D 4H 5S"},
    ),
    (SWEDEN, "AC AD KC", "AH 2C", {"AH": "AC | AD | AC AD | AC KC | KC AD | AC KC AD"}),
    (MULLE, "9S 9S 4C", "9C 2C", {"9C": "9S | 9S 9S"}),
    (SWEDEN, "9C", "9D 2C", {"9D": "9C"}),  # K3: nobody must sweep
    (FORCED, "9C 4D 6H", "9D 2C", {"9D": "9C"}),  # without a sweep captures are as free as ever
    # K2: a maximal capture is so among all hand values
    (MAXIMAL, "AC KC 2C", "AH 9C", {"AH": "AC KC"}),
    (MAXIMAL, "AC AD 5H 8C", "AH 9C", {"AH": "AC 8C AD 5H"}),
    (MAXIMAL, "2C 3C 5C 8C", "TH 9C", {"TH": "2C 3C 5C | 2C 8C"}),
    (MAXIMAL, "2C 3C", "TH 9C", {"TH": ""}),
    # L2: so are all captures in Laistokasino
    (LAISTO, "AC 2C 3C 3D 4C 5C", "6H KS", {"6H": "AC 2C 3C 4C 5C 3D"}),  # A + 5, 2 + 4 and 3 + 3
    (LAISTO, "2C 6C 9D KH", "8D 2S", {"8D": "2C 6C", "2S": "2C 6C 9D KH"}),  # fifteen: 2 + K and 6 + 9
    (LAISTO, "AC 2C 9D", "TD AD TS", {"TD": "", "AD": "", "TS": "AC 9D"}),  # sixteen; fourteen, and no single ace
    (LAISTO, "2C 3C 4C 5C 8D TH", "AD KS", {"AD": "4C TH | 2C 4C 8D | 2C 3C 4C 5C"}),  # example C
]
# rules, table, hand of seat 0, its play, and what it scores at once
PLAYS = [
    (SWEDEN, "2C 3D 7H AC", "QC 4C", "4C", "AC 3D", 1),  # the better choice, for the ace
    (SWEDEN, "2S 3D 7H AC", "QS 4C", "QS", "2S 3D 7H", 1),  # lillan, and a spade more
    (SWEDEN, "9C 4D 3H 2C", "9D 8D", "9D", "9C 4D 3H 2C", 1),  # a sweep (K3)
    (SWEDEN, "AC 4D 9H KC", "AD KD", "KD", "4D 9H KC", 0),
    (SWEDEN, "AC 4D 9H KC", "AD KD", "AD", "AC 4D 9H", 2),
    (SWEDEN, "3C 6D 9H", "9C 2D", "9C", "3C 6D 9H", 1),
    (SWEDEN, "AC AD 2C 4D 6H", "AH KC", "AH", "AC AD 2C 4D 6H", 3 + 1),
    (SWEDEN, "AC AD", "AH 2C", "AH", "AC AD", 3 + 1),
    (SWEDEN, "AC AD", "AH 2C", "2C", "AC AD", 2 + 1),
    (SWEDEN, "AC AD 5H 8C", "AH QD", "AH", "AC AD 5H 8C", 3 + 1),  # one ace as fourteen, and one as one
    (SWEDEN, "3C QC", "3D 2C", "3D", "3C", 0),
    (SWEDEN, "9C", "9D 2C", "9D", "9C", 1),
    # K3: a sweep is one point wherever cards are captured by choice, and none is double
    *(
        (f"{name} players=2 last_deal_sweeps=True", "5C 4D", "9D 2C", "9D", "5C 4D", 1)
        for name in ("kasino-sweden", "overspader", "kasino-finland", "mulle")
    ),
    (MULLE, "9C", "9C 2C", "9C", "9C", 1 + 5),
    (FINLAND, "3C", "3D 2C", "3D", "3C", 0),  # F5: none counts in the last deal
    # M2: the identical copy alone
    (MULLE, "9S 4C", "9S 2C", "9S", "9S", 5),
    (MULLE, "9S", "9S 2C", "9S", "9S", 5 + 1),  # a tabbe too
    (MULLE, "9S 4C 5D", "9S 2C", "9S", "9S", 5),
    (MULLE, "9S 4C 5D", "9S 2C", "9S", "4C 9S 5D", 1),  # not alone, and all of the table
    (MULLE, "9S 4C 5C KC", "9S 2C", "9S", "9S 4C 5C", 0),
    (MULLE, "9S 9C 2D", "9S 2C", "9S", "9S", 5),
    (MULLE, "9S 9C 2D", "9S 2C", "9S", "9C", 0),
    (MULLE, "9S 9C 2D", "9S 2C", "9S", "9C 9S", 0),
    (MULLE, "9C 2D", "9S 2C", "9S", "9C", 0),
    (MULLE, "AS KC", "AS 2C", "AS", "AS", 5 + 2),  # an ace takes its copy
]


def laid(rules: str, table: str, hand: str):
    """A game with a table and the hand of seat 0; seat 1 holds as many other cards, or what a last deal leaves it."""
    cards = [card_name(kind) for kind in range(52) if card_name(kind) not in f"{table} {hand}".split()]
    size = len(hand.split()) - (Rules.parse(rules).packs == 2)
    return lay(table, hand, " ".join(cards[-size:]), rules=rules)


@pytest.mark.parametrize(("rules", "table", "hand", "expected"), CAPTURES)
def test_s1_f1_k2_k3_l2_what_cards_may_take(rules, table, hand, expected):
    game = laid(rules, table, hand)
    assert game.legal_actions() == sorted(map(parse_card, hand.split()))  # nobody must sweep, or can
    for card, listed in expected.items():
        choices = {takes.strip() for takes in listed.split("|")}
        assert captures(game, card) == (choices if game.rules.capture == "maximal" else {"", *choices})


@pytest.mark.parametrize(("rules", "table", "hand", "card", "takes", "scored"), PLAYS)
def test_k3_f5_m2_what_a_play_scores(rules, table, hand, card, takes, scored):
    game = laid(rules, table, hand)
    assert gained(game, f"{card}x{''.join(takes.split())}") == [scored, 0]
    assert game.sweeps(0) == (set(takes.split()) == set(table.split()))
    assert sorted(game.captured(0)) == sorted([card, *takes.split()])
