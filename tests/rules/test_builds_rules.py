"""Each ruling of Mulle after Glimne (G) and of builds (B), as small positions."""

from __future__ import annotations

import pytest
from support.games import after, gained
from support.relatives import at

from krypenv import Game, Rules
from krypenv.cards import BUILD, STOP, TAKE, TAKE_BUILD, parse_card
from krypenv.worlds.invariants import check_state

FINLAND = "kasino-finland players=2 building=True"
PAIRS = "mulle-glimne players=4 teams=2"


def moves(game: Game, card: str) -> set[str]:
    """Return the moves with a card, without the card."""
    return {str(move)[2:] for move in game.legal_moves() if move.card == card}


# ---------------------------------------------------------------------- G: Mulle after Glimne


@pytest.mark.parametrize(("players", "teams", "deals"), [(2, None, 12), (4, 2, 6)])
def test_g1_k1_the_deal(players: int, teams: int | None, deals: int) -> None:
    rules = Rules.preset("mulle-glimne", players=players, teams=teams)
    game = Game(rules, deck=sorted(f"{rank}{suit}" for rank in "A23456789TJQK" for suit in "CDHS" for _ in range(2)))
    assert len(game.deck) == 104
    first = [game.deck[2 * seat : 2 * seat + 2] for seat in range(players)]
    second = [game.deck[2 * players + 4 :][2 * seat : 2 * seat + 2] for seat in range(players)]
    for seat in range(players):
        assert sorted(game.hand(seat)) == sorted(first[seat] + second[seat])
    assert sorted(game.table) == sorted(game.deck[2 * players : 2 * players + 4] + game.deck[4 * players + 4 :][:4])
    assert [sum(hands) for hands, _ in rules.deal_sizes()] == [4 * players] * deals
    assert [table for _, table in rules.deal_sizes()] == [8] + [0] * (deals - 1)


@pytest.mark.parametrize("seats", [{"players": 3}, {"players": 4}, {"players": 5}, {"players": 6, "teams": 2}])
def test_k1_glimne_is_for_two_or_two_teams(seats: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"mulle-glimne is (not )?played by"):
        Rules.preset("mulle-glimne", **seats)


def test_g1_values_are_those_of_finland() -> None:
    game = at("2C KC TD 6C AD 5H", "2S TD AC 9S", "3C 3D 3H 4C")
    assert moves(game, "2S") >= {"x2CKC", "xTD5H"}
    assert moves(game, "TD") >= {"x6CTD"}
    assert moves(game, "AC") >= {"xKCAD"}
    assert "xAD" not in moves(game, "AC")


@pytest.mark.parametrize(
    ("table", "card", "move", "points"),
    [
        ("6C 3D", "6C", "6Cx6C", 6),
        ("6C 2D 4D", "6C", "6Cx2D4D6C#", 6 + 1),  # with other cards too, and a sweep
        ("AC KD 3H", "AC", "ACxACKD", 14),  # the ace-mulle of the description
        ("TD 6C 3H", "TD", "TDx6CTD", 16 + 3 + 3),  # its 10-mulle: two tens of diamonds are worth 3 each
        ("2S KC 3H", "2S", "2SxKC2S", 15 + 2 + 2),
        ("6D 3D", "6C", "6Cx6D", 0),  # not the identical copy
    ],
)
def test_g2_a_mulle_scores_the_hand_value(table: str, card: str, move: str, points: int) -> None:
    game = at(table, f"{card} QC", "JC JD")
    assert gained(game.copy(), move) == [points, 0]
    assert after(game, move).mulles(0) == (points > 0)


def test_g2_m2_a_mulle_in_a_build_whoever_laid_it() -> None:
    game = at("4H", "9C 5H", "9D QC", build_9="9C 4C 5D", owner_9="1")
    assert gained(game.copy(), "9Cx[9]") == [9, 0]
    assert after(game, "9Cx[9]").mulle_scores(0) == 9


@pytest.mark.parametrize(
    ("rules", "card", "points"),
    [
        ("howto players=2", "JC", 11),
        ("howto players=2", "KC", 13),
        ("howto players=2", "9C", 9),
        ("howto players=2 hand_values=(14,2,3,4,5,6,7,8,9,10,(5,9),12,13)", "JC", 5),
        ("krypkasino players=2", "KC", 13),
        ("krypkasino players=2 hand_values=((1,14),2,3,4,5,6,7,8,9,10,11,12,13)", "AC", 1),
    ],
)
def test_g2_h2_a_mulle_counts_the_hand_value_of_a_picture_and_the_lower_of_two(
    rules: str, card: str, points: int
) -> None:
    rules += " mulle_by_value=True capture=optional sweep_points=0 spade_points=0 storan_points=0 ace_points=0"
    game = at(f"{card} QD", f"{card} 2H", "3H 4H", rules=rules)
    move = f"{card}x{card}"
    assert gained(game.copy(), move) == [points, 0]
    assert after(game, move).mulle_scores(0) == points
    check_state(game.rules, after(game, move).state.reshape(1))


def test_g3_points() -> None:
    game = at("AS 9S JS", "KC 2C", "JD QD", captured_0="4C 4D", captured_1="rest", **{"last-capturer": "1"})
    points = {"TD": 3, "2S": 2, "AS": 2, "9S": 1, "KS": 1, "AC": 0, "AH": 0, "TC": 0}
    assert {name: int(game.rules.card_points[parse_card(name)]) for name in points} == points
    end = after(game, "KC", "JDxJS", "2C", "QD")
    assert end.scores() == [0, int(game.rules.card_points @ game.rules.deck_counts)]  # no majorities, no last capture
    assert end.scores()[1] == 2 * (3 + 2 + 2 + 11)
    assert gained(at("7C", "7D KC", "JD QD"), "7Dx7C#") == [1, 0]  # a sweep


# ---------------------------------------------------------------------- B1 to B6: moves, position by position

SIX, NINE, OWN_NINE, OWN_SIX = (  # builds: of seat 1, but the last two of seat 0
    {"build_6": "2C 4D", "owner_6": "1"},
    {"build_9": "3C 6D", "owner_9": "1"},
    {"build_9": "4C 5D", "owner_9": "0"},
    {"build_6": "2C 4D", "owner_6": "0"},
)
TWO_SUMS = "9H 5C 4C KD", "3C 9C", "6C QD"
PARTNERS = "KD", "3C", "9C", "3D", "9D"
# table and hands, builds, and by card of the seat to act its moves without the card; "-" is to trail
MOVES = [
    # B1: a build is taken whole, and is in no sum: not 7 + 2
    (
        ("2C", "9D 7H 3C", "7C KD KH"),
        {"build_7": "3C 4D", "owner_7": "1"},
        {"9D": "-", "7H": "- x[7] +2C=9", "3C": "-"},
    ),
    # B1, K2: loose cards and a build of the same kinds are two things
    (("2C 4C", "6D KC", "6H KD"), {"build_6": "2C 4C", "owner_6": "1"}, {"6D": "- x2C4C x[6] x2C4C[6]#"}),
    # B2: a card and loose cards that sum to a card left in the hand, in groups, and not the card alone
    (("5D KH", "4S 9C", "QC QD"), {}, {"4S": "- +5D=9", "9C": "-"}),
    (("5D KH", "4S 8C", "QC QD"), {}, {"4S": "-"}),
    (("3C 5D 6C 9H KH", "4S 9C", "QC QD"), {}, {"4S": "- +5D=9 +5D9H=9 +3C6C5D=9 +3C6C5D9H=9"}),
    (("KH", "9C 9D", "QC QD"), {}, {"9C": "-"}),
    (("9H KH", "9C 9D", "QC QD"), {}, {"9C": "- x9H +9H=9"}),
    (("4D", "5C 9C 9D", "9S QC QD"), {"build_9": "9H 9S", "owner_9": "1"}, {"5C": "- +4D[9]=9"}),
    # B2: values of the hand and of the table
    (("KH", "AC AD", "QC QD"), {}, {"AC": "- +KH=14"}),  # 1 + 13, for the other ace
    (("KH", "2C 2S", "QC QD"), {}, {"2C": "- +KH=15"}),
    (("6H", "TC TD", "QC QD"), {}, {"TC": "- +6H=16"}),
    (("AH", "AC 2C", "QC QD"), {}, {"AC": "- +AH=2"}),
    (("KH", "2S 2C", "QC QD"), {}, {"2S": "-"}),
    # B3: a card of the hand raises a single build, anybody's, and loose groups may join in the same play
    (("", "3C 9C", "6C QD"), SIX, {"3C": "- +[6]=9"}),
    (("", "3C 9C", "6C QD"), SIX | {"build_6": "2C 4D 6H"}, {"3C": "-"}),  # a multiple one keeps its value
    (TWO_SUMS, SIX, {"3C": "- +[6]=9 +9H[6]=9 +4C5C[6]=9 +4C5C9H[6]=9"}),
    (("AC", "2C 9C", "6C QD"), SIX, {"2C": "-"}),  # not 6 + 2 + the loose ace
    (("", "3C 6C 9C", "QC QD KD"), OWN_SIX, {"3C": "+[6]=9"}),
    (("", "6C QH", "QC QD"), OWN_SIX, {"6C": "x[6]# +[6]=12"}),  # with the six itself: the queen keeps the promise
    # B4: what makes a second build of a value joins the first, a card of its table value too, and a raised build
    (("5D", "4C 9C 9D", "9H QC QD"), NINE, {"4C": "- +5D[9]=9"}),
    (("", "9C 9D", "9H QC"), NINE, {"9C": "- x[9]# +[9]=9"}),
    (("", "3C 9C", "6C 9D"), SIX | {"build_9": "4C 5D", "owner_9": "1"}, {"3C": "- +[6][9]=9"}),
    # B5: an owner may not trail, and keeps its last card of the value
    (("KH", "9C QH 3C", "JC JD QC"), OWN_NINE, {"9C": "x[9]", "QH": "", "3C": "+[9]=12"}),
    (("KH", "9C QH 3C", "9D JD QC"), OWN_NINE | {"owner_9": "1"}, {"QH": "-"}),
    (("9H 5H 4H", "9C KC", "QC QD"), OWN_NINE, {"9C": "x[9] x9H[9] x4H5H[9] x4H5H9H[9]#"}),
    (("9H", "9C 9D", "QC QD"), OWN_NINE, {"9C": "x9H x[9] x9H[9]# +[9]=9 +9H[9]=9"}),
    (PARTNERS, OWN_NINE | {"rules": PAIRS, "owner_9": "1"}, {"3C": "-"}),  # partners promise by themselves
    (("KH 9H", "9C", "QC"), OWN_NINE, {"9C": "x[9] x9H[9]"}),  # B6: an owner's last card captures its build
    (("5D KH", "4S 9C", "QC QD"), {"rules": FINLAND}, {"4S": "- +5D=9"}),
]


@pytest.mark.parametrize(("cards", "more", "expected"), MOVES)
def test_b1_b2_b3_b4_b5_k2_moves(cards: tuple[str, ...], more: dict[str, str], expected: dict[str, str]) -> None:
    game = at(*cards, **more)
    for card, listed in expected.items():
        assert moves(game, card) == {"" if move == "-" else move for move in listed.split()}


@pytest.mark.parametrize(
    ("cards", "more", "move", "builds"),
    [
        (("5D KH", "4S 9C", "QC QD"), {}, "4S+5D=9", [(9, ["5D", "4S"], 0, False)]),
        (("5D 9H KH", "4S 9C", "QC QD"), {}, "4S+5D9H=9", [(9, ["5D", "9H", "4S"], 0, True)]),
        (("", "3C 9C", "6C QD"), SIX, "3C+[6]=9", [(9, ["2C", "3C", "4D"], 0, False)]),
        (TWO_SUMS, SIX, "3C+4C5C[6]=9", [(9, ["2C", "3C", "4C", "5C", "4D"], 0, True)]),
        (("5D", "4C 9C 9D", "9H QC QD"), NINE, "4C+5D[9]=9", [(9, ["3C", "4C", "5D", "6D"], 0, True)]),
        (("", "9C 9D", "9H QC"), NINE, "9C+[9]=9", [(9, ["3C", "9C", "6D"], 0, True)]),
        (
            ("", "3C 9C", "6C 9D"),
            SIX | {"build_9": "4C 5D", "owner_9": "1"},
            "3C+[6][9]=9",
            [(9, ["2C", "3C", "4C", "4D", "5D"], 0, True)],
        ),
    ],
)
def test_b2_b3_b4_who_makes_raises_or_joins_a_build_owns_it(
    cards: tuple[str, ...], more: dict[str, str], move: str, builds: list[object]
) -> None:
    made = after(at(*cards, **more), move)
    assert made.builds == builds
    assert made.last_move is not None
    assert str(made.last_move) == move


def test_b1_the_builds_of_a_game() -> None:
    game = at("", "KC QD", "9C 7D", build_9="9D 4C 5C", owner_9="1", build_7="3C 4D", owner_7="1")
    assert game.builds == [(7, ["3C", "4D"], 1, False), (9, ["4C", "5C", "9D"], 1, True)]
    game = at("2C", "9D 7H 3C", "7C KD KH", build_7="3C 4D", owner_7="1")
    assert sorted(after(game, "7Hx[7]").captured(0)) == ["3C", "4D", "7H"]


def test_b5_whoever_loses_a_build_is_free_of_its_promise() -> None:
    game = at("KD", "3C 9C QC", "6C 9D QD", **SIX)
    assert moves(after(game, "3C+[6]=9"), "QD") == {""}
    assert moves(game, "QC") == {""}
    assert moves(after(game, "QC"), "QD") == {"xQC"}  # without its build it might trail too
    assert moves(after(at(*PARTNERS, rules=PAIRS, build_9="4C 5D", owner_9="1"), "3C"), "9C") == {"x[9]"}


def test_b6_a_sweep_leaves_neither_loose_cards_nor_builds() -> None:
    game = at("9H", "9C QH", "QC 7D", build_7="3C 4D", owner_7="1")
    assert after(game, "9Cx9H").sweeps(0) == 0
    game = at("9H", "9C QH", "9D 7D", build_9="4C 5D", owner_9="1")
    assert [after(game, move).sweeps(0) for move in ("9Cx9H", "9Cx[9]", "9Cx9H[9]")] == [0, 0, 1]


def test_b6_at_the_end_no_build_is_left() -> None:
    end = after(at("KH 9H", "9C", "QC", **OWN_NINE), "9Cx[9]", "QC")
    assert (end.is_over, end.builds, end.table) == (True, [], [])
    assert sum(len(end.captured(seat)) for seat in (0, 1)) == 104


# ---------------------------------------------------------------------- staged actions


def test_b2_k2_each_choice_has_one_sequence_of_actions() -> None:
    game = at("9H 5C 4C KD", "3C 9C", "6C QD", build_6="2C 4D", owner_6="1")
    game.act(parse_card("3C"))
    assert game.legal_actions() == [STOP, BUILD + 9]
    game.act(BUILD + 9)
    assert game.building == 9
    assert game.legal_actions() == [TAKE + parse_card(card) for card in ("4C", "9H")] + [TAKE_BUILD + 6]
    game.act(TAKE + parse_card("4C"))
    assert game.legal_actions() == [TAKE + parse_card("5C")]  # a take that is the only legal action is an action
    game.act(TAKE + parse_card("5C"))
    assert game.legal_actions() == [TAKE + parse_card("9H"), TAKE_BUILD + 6]
    game.act(TAKE_BUILD + 6)  # and ends by itself
    assert [str(move) for move in game.moves] == ["3C+4C5C[6]=9"]


# ---------------------------------------------------------------------- rules with builds


def test_b2_rules_that_can_have_builds() -> None:
    assert Rules.preset("kasino-finland", building=True).num_actions == 139
    for text, reason in {
        "kasino-sweden building=True": "one value in the hand and one on the table",
        "mulle building=True": "one value in the hand and one on the table",
        "krypkasino building=True": "optional captures",
        "kasino-finland building=True capture=maximal": "optional captures",
        "kasino-finland building=True pictures_in_sums=False": "pictures_in_sums=True",
        "kasino-finland building=True forced_sweep=True": "forced_sweep=False",
        "kasino-finland building=1": "building is True or False, not 1",
        "kasino-finland mulle_by_value=True": "packs=2",
        "mulle mulle_by_value=True": "set one of them",
        "mulle spade_ace_points=-1": "spade_ace_points is a whole number from 0 to 20 or None",
    }.items():
        with pytest.raises(ValueError, match=reason):
            Rules.parse(text)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"build_9": "4C 5D"}, "each build has an owner"),
        ({"owner_9": "0"}, "an owner has a build"),
        ({"build_9": "4C 6D", "owner_9": "0"}, "play can't lead to these builds"),
        ({"build_9": "4C 5D 8C TC", "owner_9": "0"}, "play can't lead to these builds"),
        ({"build_17": "9H 8H", "owner_17": "0"}, "is no key of a position"),
        ({"building": "9"}, "there is no card pending that takes or builds"),
    ],
)
def test_b1_b5_positions_that_can_not_be(entries: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        at("KH", "9C KC", "QC QD", **entries)


def test_b2_a_begun_build_in_a_position_and_in_a_record() -> None:
    game = at("5D 4D 9H", "4S 9C", "QC QD")
    game.act(parse_card("4S"))
    game.act(BUILD + 9)
    assert "4S+=9.." in game.record()
    game.act(TAKE + parse_card("5D"))
    assert "building: 9" in game.position()
    for twin in (Game.from_position(game.position()), Game.replay(game.record())):
        assert (twin.pending, twin.building, twin.taken) == ("4S", 9, ["5D"])
        assert twin.legal_actions() == game.legal_actions()
        twin.push("4S+5D=9")
        assert twin.builds == after(game, "4S+5D=9").builds
