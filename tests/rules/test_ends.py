"""How games and sessions of the relatives end, after the last play: scores, totals, and who wins."""

from __future__ import annotations

import numpy as np
import pytest
from support.relatives import SPADES, finish

from krypenv import Rules

SWEDEN, FINLAND, LAISTO = "kasino-sweden players=2", "kasino-finland players=2", "laistokasino players=2"
TO_16 = "games=0 threshold=16"
ALL = "rest", "3C 3D"  # seat 0 has all that counts but what is left
SEVEN = "3C 3S 4S 5S 6S 7S 8S 9S", "rest"  # most spades and no points, or most cards and all points
FEW = [f"{rank}{suit}" for rank in "3456789JQ" for suit in "CDH"]  # cards that count nothing
SIX = " ".join(["3C", *SPADES[:6]]), "rest"  # two points and six spades
SECOND = {"table": "KD 2C", "game": "2"}  # the last play of the second game of a session
STORAN, OF_TWO = "TD 3S 4S 3C 4C", "laistokasino players=3"
# rules, piles before the last play, the play (of KC on KD) and more, the scores or the new totals (None: whichever),
# and the shares of the win, if it is looked at; "on" where the session goes on
ENDS = [
    # S3: aces, storan, lillan, most spades and most cards; the last capture, and a sweep
    (SWEDEN, ALL, {"table": "KD 4D"}, [4 + 2 + 1 + 2 + 1, 1], None),
    (SWEDEN, ALL, {}, [4 + 2 + 1 + 2 + 1, 1 + 1], None),
    # O1: a point for each spade above six
    *(
        ("overspader players=3", (" ".join(["3C", *SPADES[-spades:]]), "4C 4D", "rest"), {}, [worth, 0, rest], None)
        for spades, worth, rest in ((5, 0, 12), (6, 0, 11), (7, 1, 10), (9, 3, 10), (10, 4, 10))
    ),
    # F3, L1: nothing for the last capture; the lowest score wins in Laistokasino
    (FINLAND, ALL, {"table": "KD 4D"}, [4 + 2 + 1 + 2 + 1, 0], [1, 0]),
    (LAISTO, ALL, {"table": "KD 4D"}, [4 + 2 + 1 + 2 + 1, 0], [0, 1]),
    ("laistokasino players=4 teams=2", ("AC 3C", "TD 4C", "AD 5C", "rest"), {}, [1, 2 + 3, 1, None], [1, 0, 1, 0]),
    # F6, L4: the last card ends the session at once (spades and cards would bring seat 0 to seventeen), or seat 0 gets
    # the ace that is left, then spades and cards; or the other one takes it
    *(
        (f"{rules} {TO_16}", ALL, {**SECOND, "table": table, "last": last, "totals": totals}, ends, won)
        for rules, turned in ((FINLAND, False), (LAISTO, True))
        for table, last, totals, ends, won in (
            ("KC AC 5D", "AS", "9 14", [9 + 5, 14 + 2], [turned, not turned]),
            ("KC AC 5D", "9S", "8 14", [8 + 7 + 3, 14], [not turned, turned]),
            ("9D AC 5D", "9S", "8 15", [8 + 6 + 3, 15 + 1], [not turned, turned]),
            ("9D AC 5D", "9S", "4 14", [4 + 6 + 3, 14 + 1], "on"),
        )
    ),
    # F7: more spades, or as many and more cards, or shared; and before both the points of cards
    *(
        (f"kasino-finland players=3 {TO_16} goal={goal}", piles, SECOND | {"totals": totals}, [16, 16, None], won)
        for piles, totals, high in (
            (("TD 3S 4S 5S 6S 7S 8S 9S", "rest", "AH AS 2S"), "12 13 0", [1, 0, 0]),
            (("TD 3S 4S 5S 6S 7S", "rest", "AH AS 2S KS"), "13 12 0", [0, 1, 0]),
            (("TD 3S 4S 5S 6S 7S 3C", "AC AD 8S 9S TS JS QS", "rest"), "13 13 0", [0.5, 0.5, 0]),
        )
        for goal, won in (("high", high), ("low", [0, 0, 1]))
    ),
    *(
        (f"{rules} {TO_16}", SEVEN, SECOND | {"totals": "14 8"}, [16, 16], won)
        for rules, won in ((FINLAND, [0, 1]), (f"{FINLAND} goal=low", [1, 0]), (LAISTO, [1, 0]))
    ),
    # L5: then fewer spades, then fewer cards; in a single game, too
    *(
        (f"{OF_TWO} {session}", (STORAN, second, "rest"), more, [first, first, third], won)
        for session, more, first, third in ((TO_16, {"totals": "5 5 12", "game": "2"}, 7, 18), ("", {}, 2, 6))
        for second, won in (
            ("AC AD 5S 3D 3H 4H", [0, 1, 0]),
            ("AC AD 5S 6S 3D 3H", [1, 0, 0]),
            ("AC AD 5S 6S 3D", [0.5, 0.5, 0]),
        )
    ),
    # M2: a mulle with the last card is a sweep and the last capture too. M3: most spades, and nothing for most cards
    ("mulle players=3", ("rest", "3C 3D", "4C 4D"), {"last": "9S", "table": "9S"}, [15, 0, 5 + 1 + 1], None),
    ("mulle players=3", ("rest", "3C 3D", "4C 4D"), {"table": "KD 4D"}, [8 + 4 + 2 + 1, 0, 1], None),
    (  # thirteen spades, and thirteen
        "mulle players=3", (" ".join(["3C", *SPADES[2:], *SPADES[2:4]]), "rest", "3D 4C"), {"table": "KD 4D"},
        [0, 14, 1], None,
    ),
    # K1, K7: partners' piles count as one, and what a side has as a whole stands with its first seat
    *(
        (f"kasino-sweden players=4{teams}", ("3S 4S 5S 6S", "7S 8S 9S TS JS 3C", "QS KS 2S 4C 5C 6C", "rest"), {}, *end)
        for teams, *end in (("", [0, 2, 1, 4 + 2 + 3], None), (" teams=2", [2, 1, 1, 4 + 2 + 2], None))
    ),
    ("overspader players=4 teams=2", ("3S 4S 5S", "3C 4C", "6S 7S 8S 9S TS", "rest"), {}, [2, 1, 0, 9], None),
    # K4: what is left goes to the last capture without a sweep; the last card trails
    (SWEDEN, ALL, {"last": "9C", "table": "9D 2C", "last_capturer": "0"}, [4 + 2 + 1 + 2 + 1, 1], None),
    # K5: majorities are strict, and the card played and the cards left belong to the pile
    *((SWEDEN, (" ".join(["3C", *SPADES[-n:]]), "rest"), {}, [worth, None], None) for n, worth in ((6, 0), (7, 2))),
    *((SWEDEN, (" ".join(FEW[:n]), "rest"), {}, [worth, None], None) for n, worth in ((26, 0), (27, 1))),
    (SWEDEN, SIX, {"last": "KS", "last_capturer": "0"}, [1 + 1, None], None),  # the seventh spade is not its own
    (SWEDEN, SIX, {"last": "KS", "table": "QD", "last_capturer": "0"}, [1 + 1 + 2 + 1, None], None),
    (SWEDEN, SIX, {"last": "KS", "table": "QD", "last_capturer": "1"}, [1 + 1, None], None),
    # K6: a session ends after the game in which a total reaches the threshold; seat 0 gets 2, and seat 1 gets 9
    *(
        (f"{SWEDEN} {TO_16} goal={goal}", SEVEN, SECOND | {"totals": totals}, ends, won)
        for goal, totals, ends, won in (
            ("high", "14 0", [16, 9], [1, 0]),
            ("high", "13 7", [15, 16], [0, 1]),
            ("high", "15 15", [17, 24], [0, 1]),
            ("high", "13 6", [15, 15], "on"),
            ("low", "14 0", [16, 9], [0, 1]),
            ("low", "15 15", [17, 24], [1, 0]),
            ("low", "13 6", [15, 15], "on"),
        )
    ),
    # K6, S4: equal totals
    *(
        (f"{SWEDEN} {fields}", SEVEN, SECOND | {"totals": "15 8"}, [17, 17], won)
        for fields, won in (
            (TO_16, [1, 0]),  # by seven spades to six
            (f"{TO_16} goal=low", [0, 1]),
            (f"{TO_16} tie_break=share", [0.5, 0.5]),
            (f"{TO_16} tie_break=play_on", "on"),
            (f"{TO_16} tie_break=play_on goal=low", "on"),
            ("threshold=16 tie_break=play_on games=3", "on"),
            ("threshold=16 tie_break=play_on games=2", [0.5, 0.5]),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "piles", "play", "ends", "won"), ENDS)
def test_k1_k4_k5_k6_k7_s3_s4_o1_f3_f6_f7_l1_l4_l5_m2_m3_scores_totals_and_winners_at_the_end(
    rules, piles, play, ends, won
):
    engine = finish(rules, *piles, **play)
    found = engine.state.totals[0].tolist() if won == "on" else engine.final_scores[0].tolist()
    assert [one for one, end in zip(found, ends, strict=False) if end is not None] == [e for e in ends if e is not None]
    assert engine.finished[0] == (won != "on")
    if won == "on":
        assert (engine.state.game_number[0], engine.state.dealer[0]) == (3, 0)
    elif won:
        assert engine.rewards[0].tolist() == won


def test_k4_the_last_card_may_trail_and_what_is_left_makes_no_sweep():
    engine = finish(SWEDEN, *ALL, last="5S", table="9D 2C AS", last_capturer="1")
    assert engine.final_points[0].tolist() == [3 + 2 + 1, 1]
    assert engine.final_sweeps[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("rules", "spades", "worth"),
    [
        ("players=2", (7, 6), [2, 0]),
        ("players=2 packs=2 short_last_deal=True", (13, 13), [0, 0]),
        ("players=3", (6, 6, 1), [1, 1, 0]),
        ("players=3", (6, 5, 2), [2, 0, 0]),
        ("players=4", (5, 5, 2, 1), [1, 1, 0, 0]),
        ("players=4", (4, 4, 4, 1), [0, 0, 0, 0]),
        ("players=4 teams=2", (5, 3, 2, 3), [2, 0, 0, 0]),
    ],
)
def test_f3_most_spades(rules, spades, worth):
    rules = Rules.parse(f"kasino-finland {rules}")
    left = SPADES * rules.packs
    piles = [[left.pop() for _ in range(count)] for count in spades[:-1]]
    points = [np.isin(pile, ["AS", "2S"]).sum() for pile in piles]
    expected = [own + most for own, most in zip([*points, 7 * rules.packs - sum(points)], worth, strict=True)]
    expected[(rules.players - 1) % rules.num_teams] += 1  # most cards
    assert finish(str(rules), *map(" ".join, piles), "rest").final_scores[0].tolist() == expected
