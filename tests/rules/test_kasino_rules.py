"""Rulings of docs/rulings.md on Kasino, Överspader, Laistokasino and Mulle, played; `test_ends.py` has their ends."""

import pytest
from support.games import gained, lay
from support.relatives import captures, deal, finish

from krypenv import Game, Rules, determinize
from krypenv.cards import STOP, TAKE, parse_card
from krypenv.worlds.invariants import check_state

SWEDEN, FINLAND, LAISTO = "kasino-sweden players=2", "kasino-finland players=2", "laistokasino players=2"
SESSION = "games=0 threshold=16"
ONE_PACK = ("kasino-sweden", "overspader", "kasino-finland")
NAMES = (*ONE_PACK, "mulle")

# ---------------------------------------------------------------------- what the relatives have in common


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


def test_k2_cards_are_taken_in_ascending_order_and_stop_ends_a_capture():
    game = lay("2C 3D 4H 5S 7C", "7D KC", "QC QD", rules=SWEDEN)
    game.act(parse_card("7D"))
    assert game.legal_actions() == [*takes("2C", "7C", "3D"), STOP]  # 4H and 5S come later than what they need
    game.act(TAKE + parse_card("2C"))
    assert game.legal_actions() == takes("7C", "3D", "5S")  # a two alone is no capture
    game.act(TAKE + parse_card("3D"))
    assert game.legal_actions() == takes("4H")  # the only legal action is one still
    game.act(TAKE + parse_card("4H"))
    assert game.legal_actions() == takes("5S")
    game.act(TAKE + parse_card("5S"))
    assert game.last_move.takes == ("2C", "3D", "4H", "5S")  # the play ends where only stop would be legal
    assert game.turn == 1


def test_k2_who_must_sweep_takes_everything_without_a_stop():
    game = lay("9C 4D 5H", "9D 2C", "QC QD", rules=f"{SWEDEN} forced_sweep=True")
    assert game.legal_actions() == [parse_card("9D")]
    game.act(parse_card("9D"))
    assert (game.table, game.sweeps(0), game.turn) == ([], 1, 1)


def test_k6_m3_a_game_is_a_session_by_default():
    for name in NAMES:
        rules = Rules.preset(name)
        assert (rules.games, rules.threshold, rules.goal) == (1, None, "high")
    assert Rules.preset("mulle").tie_break == Rules.preset("kasino-sweden").tie_break == "spades"


def test_k7_what_a_side_has_as_a_whole_stands_with_its_first_seat():
    stock = "4C 4D 4H 4S 5C 5D 5H 5S 6C 6D 6H 6S 7C 7D 7H 7S"
    more = f"captured 2: 2C 2D; captured 3: rest; last-capturer: 3; sweeps: 0 0 2 1; stock: {stock}"
    game = lay("9C", "9D", "QC", "QD", "QH", rules="kasino-finland players=4 teams=2", more=more)
    assert game.scores() == [-1, -1, 2, 1 + 4 + 1 + 2]
    assert gained(game, "9Dx9C") == [1, 0, 0, 0]


# ---------------------------------------------------------------------- Kasino in Sweden, Överspader


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", ONE_PACK)
def test_s2_f2_two_at_a_time_to_each_hand_and_the_table(name, players):
    game = Game(Rules.preset(name, players=players), seed=players)
    deck, around = game.deck, 2 * players + 2
    for seat in range(players):
        at = 2 * seat
        assert sorted(game.hand(seat)) == sorted(deck[at : at + 2] + deck[around + at : around + at + 2])
    assert sorted(game.table) == sorted(deck[around - 2 : around] + deck[2 * around - 2 : 2 * around])
    deal(game, 2)
    start = 2 * around
    for seat in range(players):
        at = start + 2 * seat
        assert sorted(game.hand(seat)) == sorted(deck[at : at + 2] + deck[at + 2 * players : at + 2 * players + 2])
    assert game.stock_size == 52 - start - 4 * players
    assert len(game.rules.deal_sizes()) == {2: 6, 3: 4, 4: 3}[players]


def test_s3_points():
    for cards, points in [("AC AD AH AS", 4), ("TD", 2), ("2S", 1), ("KS TS 2C TC", 0)]:
        more = f"captured 0: {cards} 3C 3D; captured 1: rest; stock: -; last-capturer: 0"
        assert lay("9C", "9D 4C", "QC QD", rules=SWEDEN, more=more).points(0) == points


def test_k3_tabbe_after_the_player_before_left_a_five():
    game = lay("9C 5D", "9H 2D", "5C KC", rules=SWEDEN, more="captured 0: rest; stock: -")
    game.push("9Hx9C")
    assert gained(game, "5Cx5D") == [0, 1]
    assert captures(game, "2D") == {""}  # who comes after must put a card on the empty table
    game.push("2D")
    assert game.table == ["2D"]


def test_k4_what_is_left_goes_to_the_king_that_captured_last():
    game = lay("2C 7D 8H TC KC", "KD", "3C", "AC", rules="kasino-sweden players=3")
    game.push("KDxKC")
    assert captures(game, "3C") == {""}
    game.push("3C")
    assert game.table == ["2C", "3C", "TC", "7D", "8H"]
    assert captures(game, "AC") == {""}
    game.push("AC")
    assert game.captured(0) == ["AC", "2C", "3C", "TC", "KC", "7D", "KD", "8H"]
    assert game.scores() == [1 + 1, 3 + 2 + 1 + 2 + 1, 0]


# ---------------------------------------------------------------------- Kasino in Finland, and Laistokasino

of_both = pytest.mark.parametrize("rules", [FINLAND, LAISTO])


@pytest.mark.parametrize("seats", ["players=2", "players=3", "players=4", "players=4 teams=2"])
def test_l1_cards_deals_and_points_are_those_of_finland(seats):
    rules, finland = Rules.parse(f"laistokasino {seats}"), Rules.parse(f"kasino-finland {seats}")
    assert (rules.games, rules.threshold) == (1, None)
    game, twin = Game(rules, seed=3), Game(finland, seed=3)
    assert [game.hand(seat) for seat in range(rules.players)] == [twin.hand(seat) for seat in range(rules.players)]
    assert game.table == twin.table
    assert rules.deal_sizes() == finland.deal_sizes()
    piles = ["2S AC 3S 4S", "TD AD AH AS 5S", "3C 3D", "4C 4D"][: rules.players - 1]
    ends = [finish(str(each), *piles, "rest").final_scores[0].tolist() for each in (rules, finland)]
    assert ends[0] == ends[1]


def test_l2_any_card_may_be_played_though_another_could_capture_or_sweep():
    game = lay("3C 7C", "TC 3D KS", "QD 8C JC", rules=LAISTO)
    assert sorted(move.card for move in game.legal_moves()) == ["3D", "KS", "TC"]  # one takes, one creeps, one sweeps
    assert gained(game, "KS") == [0, 0]
    assert game.table == ["3C", "7C", "KS"]


MIDDLE = (
    "captured 0: KC KD KH QC QH JC; stock: rest"  # of a game of two, in the first deal, with two cards on the table
)


@pytest.mark.parametrize(
    ("rules", "sweeps", "counted"),
    [
        (FINLAND, (3, 0), (3, 0)),
        (FINLAND, (3, 1), (2, 0)),
        (FINLAND, (2, 2), (0, 0)),
        (LAISTO, (1, 1), (0, 0)),
        ("kasino-finland players=3", (2, 1, 0), (2, 1, 0)),
        ("kasino-finland players=3", (2, 1, 1), (1, 0, 0)),
        ("kasino-finland players=4 teams=2", (0, 1, 2, 0), (-1, 0, 2, 0)),
        ("kasino-finland players=4 teams=2", (1, 2, 1, 1), (-1, 0, 1, 1)),
    ],
)
def test_f4_l3_sweeps_of_all_sides_cancel(rules, sweeps, counted):
    players = len(sweeps)
    low = {seat: f"{seat + 3}C {seat + 3}D {seat + 3}H" for seat in range(players - 1)}
    captured = "; ".join(f"captured {seat}: {cards}" for seat, cards in low.items())
    hands = ["9C", "9D", "9H", "9S"][:players]
    more = f"{captured}; captured {players - 1}: rest; stock: -; last-capturer: 0; sweeps: {' '.join(map(str, sweeps))}"
    game = lay("KC", *hands, rules=rules, more=more)
    assert game.scores() == [own + 7 * (seat == players - 1) for seat, own in enumerate(counted)]
    assert [game.sweeps(seat) for seat in range(players)] == list(sweeps)


@of_both
def test_f5_l3_sweeps_of_the_last_deal_do_not_count_and_cancel_nothing(rules):
    game = lay("3C", "3D 2C", "QD AC", rules=rules, more="captured 1: rest; stock: -; sweeps: 0 1")
    before = game.scores()
    assert gained(game, "3Dx3C") == [0, 0]
    assert (game.scores(), game.sweeps(0)) == (before, 1)


@of_both
@pytest.mark.parametrize(
    ("totals", "worth"), [("0 0", 1), ("9 0", 1), ("10 0", 0), ("15 0", 0), ("0 9", 1), ("0 10", 0), ("0 15", 0)]
)
def test_f5_l3_no_sweep_counts_once_some_side_had_ten(rules, totals, worth):
    game = lay("3C 7C", "TC 9D", "QD 8C", rules=f"{rules} {SESSION}", more=f"{MIDDLE}; totals: {totals}; game: 2")
    assert gained(game, "TCx3C7C") == [worth, 0]
    assert game.sweeps(0) == 1


@pytest.mark.parametrize(("total", "worth"), [(7, 1), (8, 0)])
def test_f5_the_running_score_is_that_before_the_card_and_has_this_games_points(total, worth):
    more = f"captured 0: AC AD KH QC QH JC; stock: rest; totals: {total} 0; game: 2"
    game = lay("AH KC", "AS 9D", "QD 8C", rules=f"{FINLAND} {SESSION}", more=more)
    assert gained(game, "ASxAHKC") == [2 + worth, 0]


@of_both
@pytest.mark.parametrize("total", [13, 14])
def test_f6_l4_a_session_ends_at_once_in_the_middle_of_a_game(rules, total):
    game = lay("3C TD", "5D 9D", "TC 8C", rules=f"{rules} {SESSION}", more=f"{MIDDLE}; totals: 3 {total}; game: 2")
    game.push("5D")
    game.push("TCxTD")  # 2 points
    assert game.is_over == game.session_over == (total == 14)
    assert game.table == ["3C", "5D"]  # nobody gets it
    assert game.scores() == [0, 2]


@pytest.mark.parametrize(
    ("bonus", "more"),
    [(5, "games=0 threshold=4"), (5, "games=1 threshold=4"), (-5, "games=0 threshold=4 tie_break=play_on")],
)
def test_f6_h5_points_of_the_first_layout_end_no_game_before_a_play(bonus, more):
    rules = Rules.parse(f"mini-mulle players=2 threshold_at_once=True initial_match_bonus={bonus} {more}")
    text = Game(rules, deck=["AS", "2S", "3S", "3S", "2S", "AS"]).position()
    if "play_on" in more:  # tied at the threshold before this game, and now one side is alone at the top
        text = text.replace("deal: 1", "game: 2\ntotals: 9 9\ndeal: 1")
    for game in (Game.from_position(text), Game.from_position(Game.from_position(text).position())):
        assert game.scores() == [bonus, 0]
        assert not game.is_over
        check_state(rules, game.state.reshape(1))
        worlds = determinize(game.observation(0), 1, rules)
        assert not worlds.over[0]
        check_state(rules, worlds)
        game.act(game.legal_actions()[0])
        if game.pending:
            game.act(STOP)
        assert game.is_over
        assert game.session_over


# ---------------------------------------------------------------------- Mulle after Sassersson


@pytest.mark.parametrize(("players", "last_hands"), [(2, [5, 4]), (3, [3, 3, 3]), (4, [5, 5, 5, 4])])
def test_m1_five_in_one_batch_and_a_last_deal_one_at_a_time(players, last_hands):
    game = Game(Rules.preset("mulle", players=players), seed=players)
    for seat in range(players):
        assert sorted(game.hand(seat)) == sorted(game.deck[5 * seat : 5 * seat + 5])
    assert sorted(game.table) == sorted(game.deck[5 * players : 5 * players + 5])
    deal(game, 2)
    for seat in range(players):
        start = 5 * players + 5 + 5 * seat
        assert sorted(game.hand(seat)) == sorted(game.deck[start : start + 5])
    deal(game, len(game.rules.deal_sizes()))
    assert game.stock_size == 0
    rest = game.deck[-sum(last_hands) :]
    for seat in range(players):
        assert sorted(game.hand(seat)) == sorted(rest[seat::players])
    assert [len(game.hand(seat)) for seat in range(players)] == last_hands


def test_m1_a_seat_without_a_card_is_passed_over():
    game = Game(Rules.preset("mulle", players=4), seed=1)
    deal(game, len(game.rules.deal_sizes()))
    turns = []
    while not game.is_over:
        turns.append(game.turn)
        game.act(game.legal_actions()[0])
        while game.pending:
            game.act(game.legal_actions()[-1])
    assert turns == [0, 1, 2, 3] * 4 + [0, 1, 2]  # the dealer is not the last to play


def test_m3_points():
    rules = Rules.preset("mulle")
    assert rules.deck_counts @ rules.card_points == 8 + 4 + 2
