"""The whole state for critics: each block says what the game says, and what no block says does not matter."""

import itertools

import numpy as np
import pytest
from support.games import EACH

from krypenv import Engine, Game, Rules
from krypenv.cards import BUILD, NUM_KINDS, card_name, parse_card
from krypenv.game.positions import CLASSES, barred_names
from krypenv.whole_state import LAYOUT, layout_of, whole_state

SEATS = 6  # of which absent ones are 0
BUILT = ("built", "built_twin")
OTHERS = (
    "mini-double players=3",
    "krypkasino set_aside=spades last_capture_points=1",
    "kasino-finland tie_break=finnish initial_match_bonus=5",
    "kasino-finland building=True",
)
every_rules = pytest.mark.parametrize("rules", [*EACH.values(), *map(Rules.parse, OTHERS)], ids=str)


def vector(game):
    return whole_state(game.rules, game.state)


def random_session(rules, seed):
    """A session at each of its random decisions and at the end of each game."""
    game, rng = Game(rules, seed=seed), np.random.default_rng(seed)
    while True:
        yield game
        if game.session_over:
            return
        if game.is_over:
            game = game.next_game()
        else:
            legal = game.legal_actions()
            builds = [action for action in legal if action > BUILD]
            game.act(int(rng.choice(builds or legal)))


def joined(lists):
    """Lists in a row."""
    return list(itertools.chain.from_iterable(lists))


def counts(cards):
    """How many copies of each kind there are."""
    return np.bincount([parse_card(card) for card in cards], minlength=NUM_KINDS).tolist()


def by_seat(game, of):
    """What a function says of each seat, 0 for those that are absent."""
    return [of(seat) if seat < game.rules.players else 0 for seat in range(SEATS)]


def barred(game, seat):
    """For each rank and the two special cards, whether a hand is known not to hold it."""
    return [int(name in barred_names(game, seat)) for name in CLASSES] if seat < game.rules.players else [0] * 15


def blocks_of(game, earlier):
    """What each block says, by its name; `earlier` are the totals of the games before."""
    rules, row = game.rules, game.state
    seats, spades = range(SEATS), [f"{rank}S" for rank in "A23456789TJQK"]
    stock = [parse_card(card) for card in game.deck[rules.deck_size - game.stock_size :]]
    builds = {value: (seat + 1, is_multiple) for value, _, seat, is_multiple in game.builds}
    pending = [game.pending] if game.pending else []
    won, laid = joined(map(game.captured, range(rules.players))), joined(cards for _, cards, *_ in game.builds)
    return {
        "hands": joined(counts(game.hand(seat)) if seat < rules.players else [0] * NUM_KINDS for seat in seats),
        "table": counts(game.table),
        "stock": stock + [-1] * (104 - len(stock)),
        "seen": counts([*game.table, *laid, *game.set_aside, *won, *pending]),
        "set_aside": counts(game.set_aside),
        "pending": counts(pending),
        "taken": counts(game.taken),
        "points": by_seat(game, lambda seat: game.points(seat) + row["bonus"][seat]),
        "sweeps": by_seat(game, game.sweeps),
        "last_capturer": [int(game.last_capturer == seat) for seat in seats],
        "dealer": [int(game.dealer == seat) for seat in seats],
        "turn": [int(game.turn == seat and not game.is_over) for seat in seats],
        "session_total": by_seat(game, earlier.__getitem__),
        "cannot_hold": joined(barred(game, seat)[:13] for seat in seats),
        "cannot_hold_special": joined(barred(game, seat)[13:] for seat in seats),
        "deals_left": [len(rules.deal_sizes()) - game.deal_number],
        "games_left": [max(rules.games - game.game_number, 0)],
        "cards_won": by_seat(game, lambda seat: len(game.captured(seat))),
        "spades_won": by_seat(game, lambda seat: sum(card in spades for card in game.captured(seat))),
        "void_sweeps": by_seat(game, lambda seat: game.sweeps(seat) - game.counted_sweeps(seat)),
        "mulles": by_seat(game, game.mulles),
        "mulle_scores": by_seat(game, game.mulle_scores),
        "bonus": by_seat(game, lambda seat: row["bonus"][seat]),
        "build_owner": [builds.get(value, (0, False))[0] for value in range(1, 17)],
        "build_multiple": [builds.get(value, (0, False))[1] for value in range(1, 17)],
        "building": [game.building or 0],
    }


@pytest.mark.few(6)
@every_rules
def test_each_block_says_what_the_game_says(rules):
    layout, earlier, several = layout_of(rules), [0] * rules.players, 0
    for game in random_session(rules, 3):
        state = vector(game)
        assert (state.dtype, len(state)) == (np.int32, max(where.stop for where in layout.values()))
        earlier = earlier if game.is_over else game.totals
        blocks = blocks_of(game, earlier)
        assert layout.keys() - blocks.keys() <= set(BUILT)
        for name in layout.keys() & blocks.keys():
            assert state[layout[name]].tolist() == blocks[name], name
        if rules.building:
            built = [(state[layout[name]][kind], card_name(kind)) for name in BUILT for kind in range(NUM_KINDS)]
            assert sorted(each for each in built if each[0]) == sorted(
                (value, card) for value, cards, *_ in game.builds for card in cards
            )
            several += len(game.builds) > 1
    assert several > 0 or not rules.building


TOLD = (  # fields of a state that a vector tells, the rules given; all else is spoilt below
    "hands", "table", "seen", "set_aside", "pending", "points", "bonus", "sweeps", "void_sweeps", "mulles", "cards_won",
    "spades_won", "last_capturer", "dealer", "seat", "totals", "cannot_hold", "deal_number", "game_number", "over",
    "next_card", "hand_size", "mulle_scores", "builds", "multiple_builds", "build_owner", "built", "build_value",
)  # fmt: skip
DERIVED = (  # and fields that follow from those
    "hand_kinds", "table_ranks", "taken_ranks", "legal_plays", "legal_takes", "legal_builds", "sweep_values",
    "table_sum",
)  # fmt: skip


def spoilt(game):
    """A copy of a game in which all that a vector does not tell is another."""
    twin, layout = game.copy(), layout_of(game.rules)
    row = twin.state
    for name in row.dtype.names:
        if name not in (*TOLD, *DERIVED, "deck", "taken", "taken_builds", "rng"):
            row[name] = 1
    row["deck"][: row["next_card"]] = 0
    row["taken"] = row["taken"] if game.pending else 0
    for name in ("mulles", "cards_won", "spades_won"):  # void sweeps are 0 where they can't be
        if name not in layout:
            row[name] = 3
    return twin


@every_rules
def test_k7_what_a_vector_does_not_tell_does_not_matter(rules):
    """A game in which everything else is spoilt looks the same, plays on alike and ends with the same scores."""
    rng = np.random.default_rng(1)
    for seed in range(2):
        game = next(game for ply, game in enumerate(random_session(rules, seed)) if ply == 5 + 11 * seed)
        twin = spoilt(game)
        while True:
            np.testing.assert_array_equal(vector(twin), vector(game))
            assert twin.action_mask().tolist() == game.action_mask().tolist()
            for seat in range(rules.players):
                np.testing.assert_array_equal(twin.observation(seat), game.observation(seat))
            if game.is_over:
                break
            action = int(rng.choice(game.legal_actions()))
            twin.act(action)
            game.act(action)
        assert twin.scores() == game.scores()
        assert list(twin.tie_breaks()) == list(game.tie_breaks())


def test_the_first_blocks_are_the_same_for_all_rules_and_only_a_record_is_a_game():
    assert list(layout_of(Rules.preset("mulle-glimne")).items())[: len(LAYOUT)] == list(LAYOUT.items())
    for wrong in (None, np.zeros(3), Engine(Rules.preset(), 2).state):
        with pytest.raises(ValueError, match=r"^a game is one record of krypenv\.state\.GAME, not [^\n]*$"):
            whole_state(Rules.preset(), wrong)
