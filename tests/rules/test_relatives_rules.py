"""Every ruling of docs/rulings.md on what the relatives have in common, played; each test bears its id."""

import pytest
from support.relatives import SPADES, finish, lay, mask, play, scores

from krypenv import Rules
from krypenv.cards import STOP, TAKE, parse_card

SWEDEN = "kasino-sweden players=2"
NAMES = ("kasino-sweden", "overspader", "kasino-finland", "mulle")


def takes(*names):
    return [TAKE + parse_card(name) for name in names]


@pytest.mark.parametrize("name", NAMES)
def test_k1_two_to_four_play_or_two_teams_of_two(name):
    for players in (2, 3, 4):
        assert Rules.preset(name, players=players).num_teams == players
    rules = Rules.preset(name, players=4, teams=2)
    assert [rules.team_of(seat) for seat in range(4)] == [0, 1, 0, 1]
    for players in (1, 5, 6):
        with pytest.raises(ValueError, match=f"{name} is not played by {players} players"):
            Rules.preset(name, players=players)
    for players in (2, 3):
        with pytest.raises(ValueError, match="can't form"):
            Rules.preset(name, players=players, teams=2)


def test_k1_partners_piles_count_as_one_for_majorities():
    piles = ("3S 4S 5S 6S", "7S 8S 9S TS JS 3C", "QS KS 2S 4C 5C 6C", "rest")
    alone, together = (scores(finish(f"kasino-sweden players=4{teams}", *piles)) for teams in ("", " teams=2"))
    assert alone == [0, 2, 1, 4 + 2 + 1 + 1 + 1]  # five spades of seat 1; cards, sistan and a tabbe of seat 3
    assert together == [2, 1, 1, 4 + 2 + 1 + 1]  # seven spades of seats 0 and 2, most cards of seats 1 and 3 (K7)


def test_k2_cards_are_taken_in_ascending_order_and_stop_ends_a_capture():
    game = lay(SWEDEN, "2C 3D 4H 5S 7C", "7D KC", "QC QD")
    game.act(parse_card("7D"))
    assert mask(game) == [*takes("2C", "7C", "3D"), STOP]  # 4H and 5S come later than what they need
    game.act(TAKE + parse_card("2C"))
    assert mask(game) == takes("7C", "3D", "5S")  # a two alone is no capture
    game.act(TAKE + parse_card("3D"))
    assert mask(game) == takes("4H")  # the only legal action is one still
    game.act(TAKE + parse_card("4H"))
    assert mask(game) == takes("5S")
    game.act(TAKE + parse_card("5S"))
    assert game.last_move.takes == ("2C", "3D", "4H", "5S")  # the play ends where only stop would be legal
    assert game.turn == 1


def test_k2_who_must_sweep_takes_everything_without_a_stop():
    rules = f"{SWEDEN} forced_sweep=True"
    game = lay(rules, "9C 4D 5H", "9D 2C", "QC QD")
    assert mask(game) == [parse_card("9D")]
    game.act(parse_card("9D"))
    assert (game.table, game.sweeps(0), game.turn) == ([], 1, 1)


def test_k4_what_is_left_goes_to_the_last_capture_without_a_sweep():
    engine = finish(SWEDEN, "rest", "3C 3D", last="9C", table="9D 2C", last_capturer="0")
    assert engine.final_sweeps[0].tolist() == [0, 0]
    assert scores(engine) == [4 + 2 + 1 + 2 + 1, 1]
    engine = finish(SWEDEN, "rest", "3C 3D", last="5S", table="9D 2C AS", last_capturer="1")  # it trails
    assert engine.final_points[0].tolist() == [3 + 2 + 1, 1]


@pytest.mark.parametrize(("spades", "worth"), [(6, 0), (7, 2)])
def test_k5_the_majority_is_strict(spades, worth):
    engine = finish(SWEDEN, " ".join(["3C", *SPADES[-spades:]]), "rest")
    assert scores(engine)[0] == worth


@pytest.mark.parametrize(("count", "worth"), [(26, 0), (27, 1)])
def test_k5_a_tie_for_most_cards_is_nobodys(count, worth):
    cards = [f"{rank}{suit}" for rank in "3456789JQ" for suit in "CDH"]  # that count nothing
    assert scores(finish(SWEDEN, " ".join(cards[:count]), "rest"))[0] == worth


def test_k5_the_card_played_and_the_cards_left_belong_to_the_pile():
    piles = " ".join(["3C", *SPADES[:6]]), "rest"
    assert scores(finish(SWEDEN, *piles, last="KS", table="KD", last_capturer="0"))[0] == 1 + 1  # its 7th spade
    assert scores(finish(SWEDEN, *piles, last="KS", table="QD", last_capturer="0"))[0] == 1 + 1 + 2 + 1
    assert scores(finish(SWEDEN, *piles, last="KS", table="QD", last_capturer="1"))[0] == 1 + 1


# Seat 0 gets 2 points for seven spades, seat 1 gets 9: aces, storan, lillan, cards and the last capture.
SESSION, PILES = f"{SWEDEN} games=0 threshold=16", ("3C 3S 4S 5S 6S 7S 8S 9S", "rest")


def end(rules, totals, **entries):
    """The end of a game of a session; totals are those before it."""
    return finish(rules, *PILES, table="KD 2C", totals=totals, game="2", **entries)


@pytest.mark.parametrize(
    ("goal", "totals", "won"),
    [
        ("high", "14 0", [1, 0]),
        ("high", "13 7", [0, 1]),
        ("high", "15 15", [0, 1]),
        ("high", "13 6", None),
        ("low", "14 0", [0, 1]),
        ("low", "15 15", [1, 0]),
        ("low", "13 6", None),
    ],
)
def test_k6_the_session_ends_after_the_game_in_which_a_total_reaches_the_threshold(goal, totals, won):
    engine = end(f"{SESSION} goal={goal}", totals)
    assert engine.finished[0] == (won is not None)
    new = [int(total) + score for total, score in zip(totals.split(), (2, 9), strict=True)]
    if won:
        assert scores(engine) == new
        assert engine.rewards[0].tolist() == won
    else:
        assert engine.state.totals[0, :2].tolist() == new
        assert (engine.state.game_number[0], engine.state.dealer[0]) == (3, 0)


@pytest.mark.parametrize(
    ("fields", "won"),
    [
        ("", [1, 0]),  # by seven spades to six
        ("goal=low", [0, 1]),
        ("tie_break=share", [0.5, 0.5]),
        ("tie_break=play_on", None),
        ("tie_break=play_on goal=low", None),
        ("tie_break=play_on games=3", None),
        ("tie_break=play_on games=2", [0.5, 0.5]),
    ],
)
def test_k6_equal_totals(fields, won):
    rules = f"{SWEDEN} threshold=16 {fields}" if "games" in fields else f"{SESSION} {fields}"
    engine = end(rules, "15 8")
    assert engine.finished[0] == (won is not None)
    if won:
        assert scores(engine) == [17, 17]
        assert engine.rewards[0].tolist() == won
    else:
        assert engine.state.totals[0, :2].tolist() == [17, 17]


def test_k6_a_game_is_a_session_by_default():
    for name in NAMES:
        rules = Rules.preset(name)
        assert (rules.games, rules.threshold, rules.goal) == (1, None, "high")


def test_k7_what_a_side_has_as_a_whole_stands_with_its_first_seat():
    over = finish("overspader players=4 teams=2", "3S 4S 5S", "3C 4C", "6S 7S 8S 9S TS", "rest")
    assert scores(over) == [2, 1, 0, 4 + 2 + 1 + 1 + 1]
    stock = "4C 4D 4H 4S 5C 5D 5H 5S 6C 6D 6H 6S 7C 7D 7H 7S"
    more = f"captured 2: 2C 2D; captured 3: rest; last-capturer: 3; sweeps: 0 0 2 1; stock: {stock}"
    game = lay("kasino-finland players=4 teams=2", "9C", "9D", "QC", "QD", "QH", more=more)
    assert game.scores() == [-1, -1, 2, 1 + 4 + 1 + 2]
    assert play(game, "9D", "9C") == [1, 0, 0, 0]
