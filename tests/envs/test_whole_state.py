"""The whole state for critics: PettingZoo's own test, its space, and that it decides the future."""

import importlib
import warnings

import numpy as np
import pytest
from support.environments import every_environment, play, some_environments

from krypenv import Engine, Game, Rules, krypkasino_v0
from krypenv.cards import NUM_KINDS, card_name, card_names
from krypenv.whole_state import LAYOUT, layout_of, whole_state

STATE_TEST = importlib.import_module("pettingzoo.test.state_test")  # without its parallel half
RULES = [
    "mini-low",
    "mini-low players=3",
    "mini-double players=3",
    "mini-high",
    "krypkasino players=4 teams=2",
    "howto players=3 initial_match_bonus=-5",
    "krypkasino set_aside=spades last_capture_points=1",
]

OTHERS = [
    "kasino-sweden players=3",
    "overspader games=2",
    "kasino-finland",
    "kasino-finland players=4 teams=2 games=0 threshold=16",
    "kasino-finland forced_sweep=True",
    "kasino-finland tie_break=finnish initial_match_bonus=5",
    "mulle",
    "mulle players=4 teams=2",
    "mulle-glimne",
    "kasino-finland building=True",
]


def vector(game):
    return whole_state(game.rules, game.state)


def random_game(rules, seed):
    """A game, yielded before each of its random actions and at its end."""
    game, rng = Game(rules, seed=seed), np.random.default_rng(seed)
    while not game.is_over:
        yield game
        game.act(int(rng.choice(game.legal_actions())))
    yield game


@some_environments
def test_pettingzoo_s_own_test(module, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        STATE_TEST.test_state_space(module.env(**arguments))
        STATE_TEST.test_state(module.env(**arguments), num_cycles=3)


@every_environment
def test_wrapped_and_raw_say_the_same(module, arguments):
    env = module.env(**arguments)
    assert env.state_space is env.unwrapped.state_space
    layout = layout_of(env.unwrapped.rules)
    assert env.state_space.shape == (max(part.stop for part in layout.values()),)
    assert layout == LAYOUT or module is not krypkasino_v0
    for _ in play(env, 4, np.random.default_rng(4)):
        state = env.state()
        assert state in env.state_space
        assert state.dtype == np.int32
        np.testing.assert_array_equal(state, env.unwrapped.state())
        state[:] = 9
        assert not (env.state() == 9).all()


@pytest.mark.parametrize("text", [*RULES, *OTHERS])
def test_it_says_what_lies_where(text):
    rules = Rules.parse(text)
    layout, players = layout_of(rules), range(rules.players)
    assert layout.keys() >= LAYOUT.keys()
    for game in random_game(rules, 3):
        state = vector(game)
        assert state.shape == (max(where.stop for where in layout.values()),)
        part = {name: state[where] for name, where in layout.items()}
        assert [card_names(hand.tolist()) for hand in part["hands"].reshape(6, NUM_KINDS)[: rules.players]] == [
            game.hand(seat) for seat in players
        ]
        assert not part["hands"].reshape(6, NUM_KINDS)[rules.players :].any()
        assert card_names(part["table"].tolist()) == game.table
        assert card_names(part["set_aside"].tolist()) == game.set_aside
        stock = part["stock"][: game.stock_size]
        assert [card_name(kind) for kind in stock.tolist()] == game.deck[rules.deck_size - game.stock_size :]
        assert (part["stock"][game.stock_size :] == -1).all()
        assert card_names(part["pending"].tolist()) == ([game.pending] if game.pending else [])
        assert card_names(part["taken"].tolist()) == game.taken
        assert part["sweeps"][: rules.players].tolist() == [game.sweeps(seat) for seat in players]
        assert np.flatnonzero(part["turn"]).tolist() == ([] if game.is_over else [game.turn])
        assert np.flatnonzero(part["dealer"]).tolist() == [game.dealer]
        capturer = game.last_capturer
        assert np.flatnonzero(part["last_capturer"]).tolist() == ([] if capturer is None else [capturer])
        assert part["deals_left"] == len(rules.deal_sizes()) - game.deal_number
        if "cards_won" in part:
            piles = [game.captured(seat) for seat in players]
            assert part["cards_won"][: rules.players].tolist() == [len(pile) for pile in piles]
            assert part["spades_won"][: rules.players].tolist() == [
                sum(card[1] == "S" for card in pile) for pile in piles
            ]
        if "void_sweeps" in part:
            assert (part["void_sweeps"] <= part["sweeps"]).all()
        if "bonus" in part and not game.is_over:
            assert part["bonus"].sum() in (0, rules.initial_match_bonus)
        assert part["points"][: rules.players].sum() >= sum(map(game.points, players))


def test_states_that_differ_in_their_future_differ():
    rules = Rules.parse("mini-low players=3")
    known = {}
    for seed in range(60):
        for game in random_game(rules, seed % 12):
            told = (game.position(), game.scores(), game.turn)
            assert known.setdefault(vector(game).tobytes(), told) == told
    game = next(random_game(rules, 1))
    for first, second in ((len(game.deck) - 1, len(game.deck) - 2), (0, len(game.deck) - 1)):
        deck = game.deck
        if deck[first] == deck[second]:
            continue
        deck[first], deck[second] = deck[second], deck[first]
        assert (vector(Game(rules, deck=deck)) != vector(Game(rules, deck=game.deck))).any()


TOLD = (  # fields of a state that a vector tells, the rules given; all else is spoilt below
    "hands", "table", "seen", "set_aside", "pending", "points", "bonus", "sweeps", "void_sweeps", "mulles", "cards_won",
    "spades_won", "last_capturer", "dealer", "seat", "totals", "cannot_hold", "deal_number", "game_number", "over",
    "next_card", "hand_size", "mulle_scores", "builds", "multiple_builds", "build_owner", "built", "build_value",
)  # fmt: skip
DERIVED = (  # and fields that follow from those
    "hand_kinds", "table_ranks", "taken_ranks", "legal_plays", "legal_takes", "legal_builds", "sweep_values",
    "table_sum",
)  # fmt: skip


@pytest.mark.parametrize("text", [*RULES, *OTHERS])
def test_k7_what_a_vector_does_not_tell_does_not_matter(text):
    """A game in which everything else is spoilt looks the same, plays on alike and ends with the same scores."""
    rules = Rules.parse(text)
    layout = layout_of(rules)
    for seed in range(2):
        for ply, game in enumerate(random_game(rules, seed)):
            if ply % 11 != 5 or game.is_over:
                continue
            twin = game.copy()
            row, told = twin.state, vector(game)
            for name in row.dtype.names:
                if name not in (*TOLD, *DERIVED, "deck", "taken", "taken_builds", "rng"):
                    row[name] = 1
            row["deck"][: row["next_card"]] = 0
            row["taken"] = row["taken"] if game.pending else 0
            for name in ("mulles", "cards_won", "spades_won"):  # void sweeps are 0 where they can't be
                if name not in layout:
                    row[name] = 3
            np.testing.assert_array_equal(vector(twin), told)
            rng = np.random.default_rng(ply)
            while not game.is_over:
                assert twin.action_mask().tolist() == game.action_mask().tolist()
                for seat in range(rules.players):
                    np.testing.assert_array_equal(twin.observation(seat), game.observation(seat))
                action = int(rng.choice(np.flatnonzero(game.action_mask())))
                twin.act(action)
                game.act(action)
                np.testing.assert_array_equal(vector(twin), vector(game))
            assert twin.scores() == game.scores()
            assert list(twin.tie_breaks()) == list(game.tie_breaks())
            break


def test_b1_the_builds_on_the_table_are_told_by_value():
    rules, several = Rules.parse("kasino-finland building=True"), 0
    layout = layout_of(rules)
    for seed in range(20):
        for game in random_game(rules, seed):
            state, builds = vector(game), {value: rest for value, *rest in game.builds}
            for value, owner in enumerate(state[layout["build_owner"]].tolist(), 1):
                _, seat, is_multiple = builds.get(value, ([], -1, False))
                assert owner == seat + 1
                assert state[layout["build_multiple"]][value - 1] == is_multiple
            cards = [
                kind
                for first in ("built", "built_twin")
                for kind, value in enumerate(state[layout[first]].tolist())
                if value
            ]
            assert sorted(card_name(kind) for kind in cards) == sorted(
                card for held, *_ in builds.values() for card in held
            )
            several += len(builds) > 1
    assert several > 5


@pytest.mark.parametrize(
    "game",
    [None, "x", np.zeros(3), Engine(Rules.preset(), 2).state, Rules.preset()],
    ids=lambda game: type(game).__name__,
)
def test_what_is_no_record_of_a_game_is_refused(game):
    with pytest.raises(ValueError, match=r"a game is one record of krypenv\.state\.GAME, not ") as raised:
        whole_state(Rules.preset(), game)
    assert len(str(raised.value).splitlines()) == 1
