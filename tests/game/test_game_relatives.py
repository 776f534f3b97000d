"""One game of the relatives: optional captures, what scores, sessions that end at once, and their texts."""

import pytest
from support.games import lay

from krypenv import Game, IllegalMove, Rules
from krypenv.cards import STOP, parse_action
from krypenv.notation import NotationError

SWEDEN, FINLAND = "kasino-sweden players=2", "kasino-finland players=2"
SESSION = "kasino-finland players=2 games=0 threshold=16"

# ---------------------------------------------------------------------- captures


def test_k2_a_stop_or_a_take_that_cannot_be_completed_is_illegal():
    game = lay("2C 3D 4H KH", "5C 9D", "4C KD", rules=SWEDEN)
    game.act(parse_action("play 5C"))
    assert game.legal_actions() == [parse_action("take 2C"), STOP]
    with pytest.raises(IllegalMove, match=r"^take 4H is illegal; seat 0 may take 2C, stop$"):
        game.act(parse_action("take 4H"))
    game.act(parse_action("take 2C"))
    before = game.position()
    with pytest.raises(IllegalMove, match=r"^stop is illegal; seat 0 may take 3D$"):
        game.act(STOP)
    for move in ("5Cx2C", "5Cx2C4H", "5C", "9D", "5Cx2C3D#"):
        with pytest.raises(IllegalMove, match=r"is illegal; seat 0 may 5Cx2C3D$"):
            game.push(move)
    assert game.position() == before
    game.push("5Cx3D2C")
    game.pop()
    assert game.taken == ["2C"]
    game.act(parse_action("take 3D"))
    assert game.last_move.takes == ("2C", "3D")


def test_k2_k4_no_move_is_found_by_listing_the_others_where_nobody_captures():
    """The whole deck of two packs comes to lie on the table."""
    game, crowded = Game(Rules.preset("mulle", players=3), seed=3), 0
    while not game.is_over:
        game.push(game.hand(game.turn)[-1])
        if len(game.table) in (40, 80):
            with pytest.raises(ValueError, match=r"^seat \d has more than 10,000 legal moves; legal_actions\(\)"):
                game.legal_moves()
            with pytest.raises(
                IllegalMove, match=r"^\w\w is illegal; seat \d has more than 100 legal moves; legal_actions"
            ):
                game.push(game.table[0])
            crowded += 1
    assert crowded == 2
    assert len(game.table) == 104
    assert game.last_capturer is None
    assert game.scores() == [0, 0, 0]
    assert Game.from_position(game.position()).position() == game.position()
    assert Game.replay(game.record()).position() == game.position()


# ---------------------------------------------------------------------- points


def finnish(table, hand_0, more="", session=FINLAND):
    """A game of two in the last deal but one."""
    stock = "AC 2D 3D 4D 5D 6D 7D 8D"
    return lay(table, hand_0, "5C 6C 7C 8C", f"stock: {stock}; captured 1: rest; {more}", session)


def test_m2_a_mulle_that_sweeps_with_the_last_card():
    game = lay("9S", "9S", "-", rules="mulle players=2")
    assert game.announcement == ""
    game.push("9Sx9S#")
    assert (game.mulles(0), game.sweeps(0), game.counted_sweeps(0), game.scores()[0]) == (1, 1, 1, 5 + 1 + 1)
    assert "mulles: 1 0" in game.position()


def test_f5_a_sweep_may_not_count():
    game = finnish("9C", "9D 2C 3C 4C", "game: 2; totals: 0 4", SESSION)
    game.push("9Dx9C#")
    assert (game.sweeps(0), game.counted_sweeps(0), game.scores()) == (1, 0, [0, 6])
    assert "counted: 0 0" in game.position()
    assert "totals     seat 0 0, seat 1 4" in str(game)


def test_f6_the_session_ends_in_the_middle_of_a_game():
    game = lay("AC 4D KH", "5C 2D", "3C 9D", "captured 1: rest; game: 2; totals: 15 5", SESSION)
    game.push("5CxAC4D")
    assert (game.is_over, game.ended_at_once, game.session_over, game.turn) == (True, True, True, -1)
    assert (game.scores(), game.totals) == ([1, 6], [16, 11])
    assert (game.table, game.hand(0), game.hand(1)) == (["KH"], ["2D"], ["3C", "9D"])
    assert (game.captured(0), game.pile_counts(0)) == (["AC", "5C", "4D"], (3, 0))
    assert game.legal_moves() == game.legal_actions() == []
    with pytest.raises(IllegalMove, match="the game is over"):
        game.push("3C")
    with pytest.raises(ValueError, match="the session is over after game 2"):
        game.next_game()
    text = game.position()
    assert "ended: at once" in text
    assert "turn: -" in text
    twin = Game.from_position(text)
    assert twin.position() == text
    assert (twin.totals, twin.session_over, twin.captured(0)) == (game.totals, True, game.captured(0))
    assert Game.replay(game.record()).position() == text
    assert game.record().endswith("\n1-6\n")
    assert str(game).splitlines()[-1] == "The game is over: seat 0 wins."


END = "captured 0: AC AD AH AS 2S; captured 1: rest; last-capturer: 1"


@pytest.mark.parametrize(
    ("rules", "more", "winners"),
    [
        (FINLAND, "", [0]),
        (f"{FINLAND} goal=low", "", [1]),
        (SWEDEN, "; sweeps: 1 0", [1]),
        (f"{SWEDEN} tie_break=share", "; sweeps: 1 0", [0, 1]),
    ],
)
def test_f7_s4_k6_a_tie_is_broken(rules, more, winners):
    game = Game.from_position(f"rules: {rules}; {END}{more}")
    assert game.scores()[0] == game.scores()[1]
    assert game.winners == winners


def test_k6_a_session_plays_on_until_one_is_alone_at_the_top():
    rules = f"{SWEDEN} games=0 threshold=6 tie_break=play_on"
    game = Game.from_position(f"rules: {rules}; {END}; sweeps: 1 0")
    assert (game.session_over, game.winners) == (False, [])
    assert str(game).splitlines()[-1] == "The game is over, and the session goes on."
    following = game.next_game()
    assert (following.totals, following.dealer) == ([6, 6], 0)
    assert Game.from_position(following.position()).position() == following.position()
    with pytest.raises(NotationError, match="the session was over when a total reached 6"):
        Game.from_position(following.position().replace("totals: 6 6", "totals: 6 5"))


# ---------------------------------------------------------------------- texts


def test_k3_nobody_announces_a_sweep_that_nobody_must_make():
    game = lay("9C", "9D 2C", "5C 6C", rules=SWEDEN)
    assert (game.announcement, game.sweep_ranks()) == ("", [9])
    game = lay("9C", "9D 2C", "5C 6C", rules=f"{SWEDEN} forced_sweep=True")
    assert game.announcement == "sweep for a 9"


def test_r10_f1_what_a_hand_cannot_hold_may_be_a_single_card():
    rules = f"{FINLAND} forced_sweep=True"
    game = lay("9C 6D", "KH 3C", "2S 4C", rules=rules)
    game.push("KH")
    assert "cannot-hold 0: 2S\n" in game.position()
    assert Game.from_position(game.position()).position() == game.position()
    text = f"rules: {rules}; table: 9C 6D KH; hand 0: 2S; hand 1: 3C 4C; captured 1: rest; cannot-hold 0: "
    with pytest.raises(NotationError, match="holds a rank that it can't hold"):
        Game.from_position(text + "2S")
    assert "cannot-hold 0: 2\n" in Game.from_position(text + "2").position()
    with pytest.raises(NotationError, match="nothing in this deal shows"):
        Game.from_position((text + "2S").replace(rules, f"{SWEDEN} forced_sweep=True"))


BASE = f"rules: {FINLAND}; table: 9C; hand 0: 9D 2C; hand 1: 5C 6C; captured 1: rest"
CHOICE = "rules: krypkasino; table: 2C 3C 4C 5C 8C TD; hand 0: -; hand 1: 2D; captured 1: rest"
NO_CHOICE = "the seat to act has nothing to choose from"
COUNTED = "the points or the sweeps are not those of the cards captured"
MULLE = "rules: mulle players=2; table: 9S; hand 0: 9S; captured 0: 8C 8C 7D KD; captured 1: rest; last-capturer: 1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{BASE}; counted: 0 1", COUNTED),
        (f"{BASE}; sweeps: 0 2; counted: 0 3", COUNTED),
        (f"{BASE}; sweeps: 0 1; counted: 0".replace(FINLAND, SWEDEN), "'counted' takes 2 whole numbers"),
        (f"{BASE}; sweeps: 0 1; counted: 0 0".replace(FINLAND, SWEDEN), COUNTED),
        (f"{BASE}; mulles: 0 1", "seat 1 can't have made so many sweeps or mulles"),
        (f"{MULLE}; mulles: 2 0", "seat 0 can't have made so many sweeps or mulles"),
        (f"{MULLE}; mulles: -1 0", "'mulles' takes 2 whole numbers from 0 to 104, not '-1 0'"),
        (f"{BASE}; ended: at once", "the games and the totals of the session can't be right"),
        (f"{BASE}; ended: at once".replace(FINLAND, SESSION), "the games and the totals of the session can't be right"),
        (f"{BASE}; ended: soon".replace(FINLAND, SESSION), "a game can have ended 'at once'"),
        (f"{BASE}; game: 2; totals: 0 14".replace(FINLAND, SESSION), "the totals of the session can't be right"),
        (f"{BASE}; game: 2; totals: 0 16".replace(FINLAND, SESSION), "the session was over"),
        (f"rules: {SWEDEN}; {END}; bonus: 1 4", "seat 0 can't have a bonus of 1 here"),
        (f"rules: {SWEDEN}; {END}; bonus: 0 3", "seat 1 can't have a bonus of 3 here"),
        (f"{BASE}; pending: 8D; took: -", NO_CHOICE),
        (f"{CHOICE}; pending: AC; took: TD 8C", NO_CHOICE),
        (f"{CHOICE}; pending: AC; took: 9C", "still among the cards of the table"),
        (f"{CHOICE}; pending: AC; took: TD", NO_CHOICE),  # then the 4 is sure, and the play was complete
        (f"{CHOICE}; pending: AC KC", "one card is pending at most"),
        (f"{CHOICE}; pending: 6C", NO_CHOICE),
    ],
)
def test_impossible_positions_are_refused(text, reason):
    with pytest.raises(NotationError, match=reason) as caught:
        Game.from_position(text)
    assert len(str(caught.value).splitlines()) == 1
