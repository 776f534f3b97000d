"""Every ruling of docs/rulings.md on Kasino, Överspader, Laistokasino and Mulle, played; each test bears its id."""

import pytest
from support.relatives import SPADES, captures, deal, finish, lay, mask, play, scores

from krypenv import Game, Rules, determinize
from krypenv.cards import STOP
from krypenv.worlds.invariants import check_state

SWEDEN, FINLAND, LAISTO = "kasino-sweden players=2", "kasino-finland players=2", "laistokasino players=2"
SESSION = "games=0 threshold=16"
ONE_PACK = ("kasino-sweden", "overspader", "kasino-finland")

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
        assert lay(SWEDEN, "9C", "9D 4C", "QC QD", more=more).points(0) == points
    engine = finish(SWEDEN, "rest", "3C 3D", table="KD 4D")
    assert scores(engine) == [4 + 2 + 1 + 2 + 1, 1]
    engine = finish(SWEDEN, "rest", "3C 3D", table="KD")
    assert scores(engine) == [4 + 2 + 1 + 2 + 1, 1 + 1]


def test_k3_tabbe_after_the_player_before_left_a_five():
    game = lay(SWEDEN, "9C 5D", "9H 2D", "5C KC", more="captured 0: rest; stock: -")
    play(game, "9H", "9C")
    assert play(game, "5C", "5D") == [0, 1]
    assert captures(game, "2D") == {""}  # who comes after must put a card on the empty table
    play(game, "2D")
    assert game.table == ["2D"]


def test_k4_what_is_left_goes_to_the_king_that_captured_last():
    rules = "kasino-sweden players=3"
    more = "captured 1: rest; stock: -"
    game = lay(rules, "2C 7D 8H TC KC", "KD", "3C", "AC", more=more)
    play(game, "KD", "KC")
    assert captures(game, "3C") == {""}
    play(game, "3C")
    assert game.table == ["2C", "3C", "TC", "7D", "8H"]
    assert captures(game, "AC") == {""}
    play(game, "AC")
    assert game.captured(0) == ["AC", "2C", "3C", "TC", "KC", "7D", "KD", "8H"]
    assert game.scores() == [1 + 1, 3 + 2 + 1 + 2 + 1, 0]


@pytest.mark.parametrize(("spades", "worth"), [(5, 0), (6, 0), (7, 1), (9, 3), (10, 4)])
def test_o1_points_for_each_spade_above_six(spades, worth):
    engine = finish("overspader players=3", " ".join(["3C", *SPADES[-spades:]]), "4C 4D", "rest")
    assert scores(engine) == [worth, 0, 4 + 2 + 1 + 1 + 1 + 1 + max(0, 13 - spades - 6)]


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
    assert scores(finish(str(rules), *piles, "rest")) == scores(finish(str(finland), *piles, "rest"))


def test_l1_the_lowest_score_of_two_teams_wins():
    engine = finish("laistokasino players=4 teams=2", "AC 3C", "TD 4C", "AD 5C", "rest")
    assert scores(engine)[:3] == [1, 2 + 3, 1]  # what is won as a team stands with its first seat
    assert engine.rewards[0].tolist() == [1, 0, 1, 0]


def test_l2_any_card_may_be_played_though_another_could_capture_or_sweep():
    game = lay(LAISTO, "3C 7C", "TC 3D KS", "QD 8C JC")
    assert sorted(move.card for move in game.legal_moves()) == ["3D", "KS", "TC"]  # one takes, one creeps, one sweeps
    assert play(game, "KS") == [0, 0]
    assert game.table == ["3C", "7C", "KS"]


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
    engine = finish(str(rules), *map(" ".join, piles), "rest")
    points = [sum({"AS": 1, "2S": 1}.get(card, 0) for card in pile) for pile in piles]
    expected = [own + most for own, most in zip([*points, 7 * rules.packs - sum(points)], worth, strict=True)]
    expected[(rules.players - 1) % rules.num_teams] += 1  # most cards
    assert scores(engine) == expected


@pytest.mark.parametrize(("rules", "won"), [(FINLAND, [1, 0]), (LAISTO, [0, 1])])
def test_f3_l1_nothing_for_the_last_capture(rules, won):
    engine = finish(rules, "rest", "3C 3D", table="KD 4D")
    assert scores(engine) == [4 + 2 + 1 + 2 + 1, 0]  # aces, storan, lillan, most spades, most cards
    assert engine.rewards[0].tolist() == won


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
    game = lay(rules, "KC", *hands, more=more)
    assert game.scores() == [own + 7 * (seat == players - 1) for seat, own in enumerate(counted)]
    assert [game.sweeps(seat) for seat in range(players)] == list(sweeps)


@of_both
def test_f5_l3_sweeps_of_the_last_deal_do_not_count_and_cancel_nothing(rules):
    game = lay(rules, "3C", "3D 2C", "QD AC", more="captured 1: rest; stock: -; sweeps: 0 1")
    before = game.scores()
    assert play(game, "3D", "3C") == [0, 0]
    assert (game.scores(), game.sweeps(0)) == (before, 1)


@of_both
@pytest.mark.parametrize(
    ("totals", "worth"), [("0 0", 1), ("9 0", 1), ("10 0", 0), ("15 0", 0), ("0 9", 1), ("0 10", 0), ("0 15", 0)]
)
def test_f5_l3_no_sweep_counts_once_some_side_had_ten(rules, totals, worth):
    game = lay(f"{rules} {SESSION}", "3C 7C", "TC 9D", "QD 8C", more=f"{MIDDLE}; totals: {totals}; game: 2")
    assert play(game, "TC", "3C 7C") == [worth, 0]
    assert game.sweeps(0) == 1


@pytest.mark.parametrize(("total", "worth"), [(7, 1), (8, 0)])
def test_f5_the_running_score_is_that_before_the_card_and_has_this_games_points(total, worth):
    more = f"captured 0: AC AD KH QC QH JC; stock: rest; totals: {total} 0; game: 2"
    game = lay(f"{FINLAND} {SESSION}", "AH KC", "AS 9D", "QD 8C", more=more)
    assert play(game, "AS", "AH KC") == [2 + worth, 0]


@of_both
@pytest.mark.parametrize("total", [13, 14])
def test_f6_l4_a_session_ends_at_once_in_the_middle_of_a_game(rules, total):
    game = lay(f"{rules} {SESSION}", "3C TD", "5D 9D", "TC 8C", more=f"{MIDDLE}; totals: 3 {total}; game: 2")
    play(game, "5D")
    play(game, "TC", "TD")  # 2 points
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


def last_play(rules, *piles, table, last="KC", totals):
    """The last play of the second game of a session, by the last seat."""
    return finish(f"{rules} {SESSION}", *piles, table=table, last=last, totals=totals, game="2")


@of_both
@pytest.mark.parametrize(
    ("table", "last", "totals", "ends", "best"),
    [
        ("KC AC 5D", "AS", "9 14", [9 + 5, 14 + 2], 1),  # at once: spades and cards would bring seat 0 to seventeen
        ("KC AC 5D", "9S", "8 14", [8 + 7 + 3, 14], 0),  # trails: seat 0 gets the ace too, then spades and cards
        ("9D AC 5D", "9S", "8 15", [8 + 6 + 3, 15 + 1], 0),  # takes, and gets the ace
        ("9D AC 5D", "9S", "4 14", [4 + 6 + 3, 14 + 1], None),  # and play goes on
    ],
)
def test_f6_l4_the_last_card_of_a_game_ends_the_session(rules, table, last, totals, ends, best):
    """Seat 0 has most spades and cards and 6 points of its cards; the lowest total wins in Laistokasino."""
    engine = last_play(rules, "rest", "3C 3D", table=table, last=last, totals=totals)
    assert engine.finished[0] == (best is not None)
    if best is None:
        assert engine.state.totals[0, :2].tolist() == ends
    else:
        assert scores(engine) == ends
        assert engine.rewards[0].argmax() == (best if rules == FINLAND else 1 - best)


@pytest.mark.parametrize(
    ("piles", "totals", "won"),
    [
        # Storan and seven spades (2), two aces and most cards (1): more spades win.
        (("TD 3S 4S 5S 6S 7S 8S 9S", "rest", "AH AS 2S"), "12 13 0", [1, 0, 0]),
        # Five spades each (1 each), and most cards (1) for the second: more cards win.
        (("TD 3S 4S 5S 6S 7S", "rest", "AH AS 2S KS"), "13 12 0", [0, 1, 0]),
        # Five spades each (1 each) and as many cards, too: shared.
        (("TD 3S 4S 5S 6S 7S 3C", "AC AD 8S 9S TS JS QS", "rest"), "13 13 0", [0.5, 0.5, 0]),
    ],
)
def test_f7_ties_are_decided_by_spades_and_then_by_cards(piles, totals, won):
    for goal in ("high", "low"):
        rules = f"kasino-finland players=3 games=0 threshold=16 goal={goal}"
        engine = finish(rules, *piles, table="KD 2C", totals=totals, game="2")
        assert scores(engine)[:2] == [16, 16]
        assert engine.rewards[0].tolist() == (won if goal == "high" else [0, 0, 1])


@pytest.mark.parametrize(("rules", "won"), [(FINLAND, [0, 1]), (f"{FINLAND} goal=low", [1, 0]), (LAISTO, [1, 0])])
def test_f7_l5_ties_are_decided_by_points_of_cards_first(rules, won):
    piles = "3C 3S 4S 5S 6S 7S 8S 9S", "rest"  # most spades and no points, or most cards and all points
    engine = last_play(rules, *piles, table="KD 2C", totals="14 8")
    assert scores(engine) == [16, 16]
    assert engine.rewards[0].tolist() == won


@pytest.mark.parametrize(
    ("second", "won"),
    [
        ("AC AD 5S 3D 3H 4H", [0, 1, 0]),  # one spade against two
        ("AC AD 5S 6S 3D 3H", [1, 0, 0]),  # as many spades, and one card more
        ("AC AD 5S 6S 3D", [0.5, 0.5, 0]),
    ],
)
def test_l5_and_then_by_fewer_spades_and_fewer_cards(second, won):
    piles = "TD 3S 4S 3C 4C", second, "rest"
    engine = last_play("laistokasino players=3", *piles, table="KD", totals="5 5 12")
    assert scores(engine) == [5 + 2, 5 + 2, 12 + 3 + 3]
    assert engine.rewards[0].tolist() == won
    single = finish("laistokasino players=3", *piles, table="KD")  # a single game, too
    assert single.rewards[0].tolist() == won
    assert scores(single) == [2, 2, 3 + 3]


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
        game.act(mask(game)[0])
        while game.pending:
            game.act(mask(game)[-1])
    assert turns == [0, 1, 2, 3] * 4 + [0, 1, 2]  # the dealer is not the last to play


def test_m2_a_mulle_with_the_last_card_is_a_tabbe_and_the_last_capture_too():
    engine = finish("mulle players=3", "rest", "3C 3D", "4C 4D", last="9S", table="9S")
    assert scores(engine)[2] == 5 + 1 + 1


def test_m3_points():
    rules = Rules.preset("mulle")
    assert rules.deck_counts @ rules.card_points == 8 + 4 + 2
    engine = finish("mulle players=3", "rest", "3C 3D", "4C 4D", table="KD 4D")
    assert scores(engine) == [8 + 4 + 2 + 1, 0, 1]  # most spades; nothing for most cards; the last capture
    piles = " ".join(["3C", *SPADES[2:], *SPADES[2:4]]), "rest", "3D 4C"  # thirteen spades, and thirteen
    assert scores(finish("mulle players=3", *piles, table="KD 4D")) == [0, 14, 1]


def test_m3_sessions_as_in_sweden_without_a_usual_threshold():
    assert Rules.preset("mulle").threshold is None
    assert Rules.preset("mulle").tie_break == Rules.preset("kasino-sweden").tie_break == "spades"
