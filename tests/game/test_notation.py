"""Positions and records as text: they round-trip, and a torn or impossible one is refused with line and reason."""

import pytest
from support.games import play_out

from krypenv import Game, Move, Rules
from krypenv.notation import NotationError

POSITION = """
rules: krypkasino players=2   # the last cards
dealer: 1; turn: 0
hand 0: 8S 9D
hand 1: 4C KD
table: 2H 6D JC
captured 0: AC AD
captured 1: rest
last-capturer: 1
"""
RECORD = """[Rules "mini-low players=2"]
[Dealer "1"]
[Deck "AC 2C AD 2D 3C 4C 5C 6C 3D 4D 5D 6D AH 2H 3H 4H 5H 6H AS 2S 3S 4S 5S 6S"]
[Event "a test"]

Deal 1:
1. 5Cx5D {taken} 2D

*
"""


def test_a_torn_record_is_refused():
    text = RECORD.rstrip()
    for at in range(len(text)):
        with pytest.raises(NotationError, match=r"^line \d+: "):
            Game.replay(text[:at])


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("rules: krypkasino players=2", "", 9, "no entry 'rules'"),
        ("turn: 0", "turn: 1", 3, "it is 'turn: 0'"),
        ("turn: 0", "turn: -", 3, "it is 'turn: 0'"),
        ("turn: 0", "deal: 3", 3, "it is 'deal: 12'"),
        ("turn: 0", "tunr: 0", 3, "'tunr' is no key"),
        ("turn: 0", "dealer: 0", 3, "is already in line 3"),
        ("dealer: 1", "dealer: one", 3, "1 whole number"),
        ("dealer: 1", "dealer: 0", 3, "it is 'turn: 1'"),
        ("8S 9D", "8S 9", 4, "'9' is no card"),
        ("8S 9D", "9D 9D 9D", 4, "9D is here once too often"),
        ("8S 9D", "8S 9D 2C 3C 4D 5C 6C 7C", 4, "the hands have 10 cards"),
        ("table: 2H 6D JC", "table: rest", 8, "the rest already"),
        ("table: 2H 6D JC", "table: JC JD QC QD KC", 6, "5 cards on the table should have been set aside"),
        ("table: 2H 6D JC", "table: 2H\naside: 6D", 7, "don't put such cards aside"),
        ("captured 1: rest", "captured 1: 2C 2D", 9, "are missing (AC, 2C, 3C, 3C, 4C ...)"),
        ("captured 0: AC AD", "captured 0: AC", 7, "two cards at least"),
        ("last-capturer: 1", "", 9, "seat 0 or 1; say which"),
        ("last-capturer: 1", "sweeps: 3 0; last-capturer: 1", 9, "can't have made so many sweeps"),
        ("last-capturer: 1", "took: 2H; last-capturer: 1", 9, "no card pending"),
        ("last-capturer: 1", "cannot-hold 1: K; last-capturer: 1", 9, "holds a rank that it can't hold"),
        ("last-capturer: 1", "bonus: 1 0; last-capturer: 1", 9, "can't have a bonus of 1"),
        ("last-capturer: 1", "game: 2; last-capturer: 1", 9, "game 2 is none of the session's 1 games"),
        ("last-capturer: 1", "stock: AC AD; last-capturer: 1", 9, "2 cards, and between deals it has 88, 80, 72, "),
    ],
)
def test_an_impossible_position_is_refused(old, new, line, reason):
    assert old in POSITION
    with pytest.raises(NotationError, match=r"^line \d+: [^\n]+$") as caught:
        Game.from_position(POSITION.replace(old, new))
    assert reason in str(caught.value)
    assert caught.value.line in (line, line - 1)  # less where the last entry has gone


SWEDEN, FINLAND, SESSION = "kasino-sweden", "kasino-finland", "kasino-finland games=0 threshold=16"
BASE = "table: 9C; hand 0: 9D 2C; hand 1: 5C 6C; captured 1: rest"
END = "captured 0: AC AD AH AS 2S; captured 1: rest; last-capturer: 1"
CHOICE = "table: 2C 3C 4C 5C 8C TD; hand 0: -; hand 1: 2D; captured 1: rest"
NO_CHOICE = "the seat to act has nothing to choose from"
COUNTED = "the points or the sweeps are not those of the cards captured"
MULLE = "table: 9S; hand 0: 9S; captured 0: 8C 8C 7D KD; captured 1: rest; last-capturer: 1"
TOTALS = "the games and the totals of the session can't be right"
HOLDS = "table: 9C 6D KH; hand 0: 2S; hand 1: 3C 4C; captured 1: rest"


@pytest.mark.parametrize(
    ("rules", "text", "reason"),
    [
        (FINLAND, f"{BASE}; counted: 0 1", COUNTED),
        (SWEDEN, f"{BASE}; sweeps: 0 1; counted: 0", "'counted' takes 2 whole numbers"),
        (FINLAND, f"{BASE}; mulles: 0 1", "seat 1 can't have made so many sweeps or mulles"),
        ("mulle", f"{MULLE}; mulles: 2 0", "seat 0 can't have made so many sweeps or mulles"),
        ("mulle", f"{MULLE}; mulles: -1 0", "'mulles' takes 2 whole numbers from 0 to 104, not '-1 0'"),
        (FINLAND, f"{BASE}; ended: at once", TOTALS),
        (SESSION, f"{BASE}; ended: soon", "a game can have ended 'at once'"),
        (SESSION, f"{BASE}; game: 2; totals: 0 16", "the session was over"),
        (f"{SWEDEN} games=0 threshold=6 tie_break=play_on", f"{BASE}; game: 2; totals: 6 5", "was over when a total"),
        (SWEDEN, f"{END}; bonus: 1 4", "seat 0 can't have a bonus of 1 here"),
        (FINLAND, f"{BASE}; pending: 8D; took: -", NO_CHOICE),
        ("krypkasino", f"{CHOICE}; pending: AC; took: 9C", "still among the cards of the table"),
        ("krypkasino", f"{CHOICE}; pending: AC; took: TD", NO_CHOICE),  # then the 4 is sure, and the play was complete
        ("krypkasino", f"{CHOICE}; pending: AC KC", "one card is pending at most"),
        (f"{FINLAND} forced_sweep=True", f"{HOLDS}; cannot-hold 0: 2S", "holds a rank that it can't hold"),
        (f"{SWEDEN} forced_sweep=True", f"{HOLDS}; cannot-hold 0: 2S", "nothing in this deal shows"),
    ],
)
def test_f5_f6_k6_an_impossible_position_of_a_relative_is_refused(rules, text, reason):
    with pytest.raises(NotationError, match=reason) as caught:
        Game.from_position(f"rules: {rules}; {text}")
    assert len(str(caught.value).splitlines()) == 1


def test_r10_f1_what_a_hand_cannot_hold_may_be_a_single_card():
    game = Game.from_position(
        f"rules: {FINLAND} forced_sweep=True; table: 9C 6D; hand 0: KH 3C; hand 1: 2S 4C; captured 1: rest"
    )
    game.push("KH")
    assert "cannot-hold 0: 2S\n" in game.position()
    assert Game.from_position(game.position()).position() == game.position()


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ('[Rules "mini-low players=2"]\n', "", 3, "'Rules' and 'Deck'"),
        ("mini-low", "maxi-low", 1, "unknown preset 'maxi-low'"),
        ('[Dealer "1"]', '[Dealer "2"]', 3, "seat 2 can't deal"),
        ('[Dealer "1"]', '[Dealer "1"', 2, "this tag does not end"),
        ('[Dealer "1"]', '[Rules "mini-low"]', 2, "is already in line 1"),
        ('[Dealer "1"]', '[Game "3"]', 2, "game 3 is none"),
        ('[Dealer "1"]', '[Position "rules: mini-low"]', 1, "a record that begins from a position has no tag"),
        ("AC 2C AD", "AC 2C", 3, "the deck has 0 of AD, and that of mini-low"),
        ("AC 2C AD", "AC 2C A", 3, "'A' is no card"),
        ("{taken}", "{taken", 7, "this comment does not end"),
        ("5Cx5D", "5Cx5", 7, "'5Cx5' is no move"),
        ("5Cx5D", "5C", 7, "5C is illegal; seat 0 may"),
        ("5Cx5D", "5Cx5D..", 7, "take 5D is illegal; seat 1 may"),
        ("2D\n", "2D ]\n", 7, "']' is no move"),
        ("*", "5-6", 9, "the game is not over"),
        ("*", "* 3C", 9, "the record ended with '*'"),
        ("*", "", 7, "ends without '*' or the final scores"),
    ],
)
def test_a_faulty_record_is_refused(old, new, line, reason):
    assert old in RECORD
    with pytest.raises(NotationError, match=r"^line \d+: [^\n]+$") as caught:
        Game.replay(RECORD.replace(old, new))
    assert reason in str(caught.value)
    assert caught.value.line == line


def test_r4_a_later_deal_may_put_a_card_beside_its_equal():
    text = "rules: mini-low players=2 first_deal=((1,0),) later_deal=((1,1),); table: 5C 6C 5D; hand 0: 6D; hand 1: AC"
    assert Game.from_position(f"{text}; stock: rest").table == ["5C", "6C", "5D"]


def test_wrong_scores_are_refused():
    game = play_out(Game(Rules.preset("mini-high"), seed=1))
    scores = "-".join(map(str, game.scores()))
    assert game.record().endswith(f"\n{scores}\n")
    for wrong in ("*", "1000-1000"):
        with pytest.raises(NotationError, match=f"the final scores are {scores}, not "):
            Game.replay(game.record().replace(f"\n{scores}\n", f"\n{wrong}\n"))


def test_the_record_of_a_seed_needs_no_deck():
    game = Game(Rules.preset("mini-double"), seed=5)
    again = Game.replay('[Rules "mini-double"] [Seed "5"] *')
    assert (again.deck, again.record()) == (game.deck, game.record())


@pytest.mark.parametrize(
    ("tags", "comments", "reason"),
    [
        ({}, {0: "a } b"}, "a comment can't hold"),
        ({}, {0: "}" * 10**6}, "a comment can't hold"),
        ({}, {0: None}, "a comment is"),
        ({"Deck": "mine"}, {}, "'Deck' can't be a further tag"),
        ({"Event": 3}, {}, "tag"),
        ({3: "x"}, {}, "tag"),
        ({"a b" * 1000: "x"}, {}, "tag"),
        *(({}, {ply: "lost"}, f"a comment stands after 0 to 2 moves of this game, and not after '?{ply}")
          for ply in (3, -1, "last")),
    ],
)  # fmt: skip
def test_what_a_record_cannot_hold_is_refused(tags, comments, reason):
    game = Game.replay(RECORD)
    game.tags, game.comments = tags, comments
    with pytest.raises(ValueError, match=reason) as caught:
        game.record()
    assert len(str(caught.value)) < 300


def test_comments_go_with_the_moves_that_are_undone():
    game = Game.replay(RECORD)
    game.comments |= {0: "begun", 2: "the last"}
    assert game.rewound().comments == {0: "begun"}
    game.pop()
    assert game.comments == {0: "begun", 1: "taken"}
    assert Game.replay(game.record()).comments == game.comments


@pytest.mark.parametrize(
    ("read", "text"),
    [(Game.replay, RECORD), (Game.from_position, POSITION), (Rules.parse, "mini-low"), (Move.parse, "8S")],
)
def test_a_byte_order_mark_is_ignored(read, text):
    assert str(read(f"\ufeff{text}")) == str(read(text))


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("8S", Move("8S")),
        (" 8s x 6d 2h # ", Move("8S", ("6D", "2H"), 1)),
        ("10♦x9DAD", Move("TD", ("AD", "9D"))),
        ("5Dx5D##", Move("5D", ("5D",), 2)),
        ("4S+5D[5]=9", Move("4S", ("5D",), 0, 9, (5,))),
    ],
)
def test_a_move_is_read_as_people_write_it(text, move):
    assert Move.parse(text) == Move.parse(str(move)) == move
    for wrong in ("", "8", "8Sx", "8S6D", "8Sx2H###", "x2H"):
        with pytest.raises(ValueError, match="is no move"):
            Move.parse(wrong)


def test_a_position_is_read_and_shown_to_people():
    game = Game.from_position(POSITION)
    assert [str(move) for move in game.legal_moves()] == ["9D", "8Sx6D2H"]
    assert str(game).splitlines() == [
        "krypkasino players=2, deal 12 of 12, stock 0",
        "  table      JC 6D 2H",
        "> seat 0     9D 8S  points  2  sweeps 0  score   2",
        "  seat 1     4C KD  points 39  sweeps 0  score  39 (dealer)",
        "Seat 0 is to play.",
    ]
    game.push("8Sx2H6D")
    assert str(game).splitlines()[-1] == 'Seat 1 is to play. "sweep for a jack"'
