"""What a seat knows in OpenSpiel: perfect recall, tensors, and hands that are drawn anew."""

import itertools
from collections import Counter, defaultdict

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation
from support.spiel import TINY, play_at_random, walk

from krypenv import Game, IllegalMove, Move, Rules
from krypenv.cards import card_name
from krypenv.envs import openspiel
from krypenv.observation import HISTORY_COLUMNS


def information_states(game):
    """Yield each decision of a game: the state, its text, and what the seat has known and done before."""

    def go(state, past):
        player = state.current_player()
        text = state.information_state_string(player) if player >= 0 else ""
        if text:
            yield state, text, past[player]
        for action in [] if state.is_terminal() else state.legal_actions():
            following = dict(past)
            if text:
                following[player] = (*past[player], (text, action))
            yield from go(state.child(action), following)

    return go(game.new_initial_state(), {0: (), 1: ()})


@pytest.mark.parametrize(
    "rules",
    [TINY, Rules.preset("mini-mulle"), Rules.preset("mini-choice", first_deal=((1, 5),), short_last_deal=True)],
    ids=str,
)
def test_an_information_state_has_perfect_recall_and_its_tensor_tells_as_much(rules):
    known, tensors, is_ordered = {}, {}, False
    for state, text, past in information_states(openspiel.load(rules, sorted_deals=True)):
        own = past, tuple(state.legal_actions())
        assert known.setdefault(text, own) == own  # one sequence of own actions leads there
        player = state.current_player()
        tensor = np.array(state.information_state_tensor(player), np.int8).tobytes()
        assert tensors.setdefault((player, tensor), text) == text or rules.name == "mini-choice"
        is_ordered |= "~" in text  # a capture that is reached by several sequences
    assert len(known) > 50
    assert is_ordered == (rules.name == "mini-choice")


BUILT = Rules.parse(  # twelve cards, of which the other hand is any three of five
    "kasino-finland players=2 building=True ranks=(1,2,3,4,5,6) suits=(0,1) first_deal=((3,4),) later_deal=((1,0),) "
    "hand_values=(7,2,3,4,5,6,8,9,10,11,12,13,14)"
)


def state_of(game, course):
    """The state of a course, with its history."""
    state = game.new_initial_state()
    for action in course.path:
        state.apply_action(action)
    return state


SEEN = ("information_state_string", "information_state_tensor", "observation_string", "observation_tensor")


@pytest.mark.parametrize(
    "text",
    [
        "howto players=2 games=2",
        "mini-choice",
        "mulle-glimne players=4 teams=2",
        "kasino-finland players=3 building=True games=0 threshold=16",
    ],
)
def test_a_resampled_state_looks_the_same_to_the_seat_and_its_history_leads_there(text):
    rules = Rules.parse(text)
    game, rng, changed = openspiel.load(rules, sorted_deals="mini" in text), np.random.default_rng(0), 0
    decisions, _ = play_at_random(game, 2)
    for course, _ in decisions[:: max(1, len(decisions) // 4)]:
        state = state_of(game, course)
        for seat in range(rules.players):
            twin = state.resample_from_infostate(seat, rng.random)
            for name in SEEN:
                assert getattr(twin, name)(seat) == getattr(state, name)(seat)
            assert twin.course.plays == course.plays
            assert seat != course.turn or twin.legal_actions() == state.legal_actions()
            again = state_of(game, twin.course)
            assert (str(again), again.course.views) == (str(twin), twin.course.views)
            changed += twin.history() != state.history()
    assert changed > 0


def hands_of_the_other(rules, course, seat):
    """The hands with which the moves of a first deal can be made, by trying all that a seat has not seen (`Game`)."""
    draws = dict(zip(course.plan.deals[0], course.path, strict=False))
    known = [kind for draw, kind in draws.items() if course.owner_of(draw) in (seat, -1)]
    unseen = [kind for kind in np.flatnonzero(rules.deck_counts).tolist() if kind not in known]
    found = set()
    for hand in itertools.combinations(unseen, 3):
        own, rest = iter(hand), [kind for kind in unseen if kind not in hand]
        dealt = [kind if course.owner_of(draw) in (seat, -1) else next(own) for draw, kind in draws.items()]
        game = Game(rules, deck=[card_name(kind) for kind in [*dealt, *rest]])
        try:
            for _, play in course.plays:
                game.push(Move.of_kinds(*play))
        except IllegalMove:
            continue
        found.add(hand)
    return found


def test_where_cards_are_built_all_hands_that_fit_are_equally_likely():
    game, rng, looks = openspiel.load(BUILT), np.random.default_rng(3), 0
    for seed in range(8):
        for course, _ in play_at_random(game, seed)[0]:
            seat, fitting = course.turn, set()
            if len(course.plays) in (3, 4) and course.state["pending"] < 0:
                fitting = hands_of_the_other(BUILT, course, seat)
            if not 1 < len(fitting) < 10:
                continue
            state, found = state_of(game, course), Counter()
            for _ in range(40 * len(fitting)):
                twin = state.resample_from_infostate(seat, rng.random).course
                found[tuple(sorted(kind for _, owner, kind in twin.dealt() if owner == 1 - seat))] += 1
            assert set(found) == fitting
            assert sum((count - 40) ** 2 / 40 for count in found.values()) < 35  # chi-squared, of at most 8 degrees
            looks += 1
    assert looks > 3


def test_what_can_not_be_resampled_is_refused():
    state, draw = openspiel.load(TINY).new_initial_state(), np.random.default_rng(0).random
    with pytest.raises(ValueError, match="where a seat is to act, not while cards are dealt nor at the end"):
        state.resample_from_infostate(0, draw)
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    course = state.course
    asks = (course.observation, course.recall, course.text, lambda seat: state.resample_from_infostate(seat, draw))
    for ask, seat in itertools.product(asks, (-1, 2, 10**6)):
        with pytest.raises(ValueError, match=f"there is no seat {seat}; the seats are 0 to 1"):
            ask(seat)


@pytest.mark.parametrize(("sorted_deals", "draws"), [(True, 60), (False, 200)])
def test_resampling_reaches_all_that_the_seat_can_not_tell_apart_and_nothing_else(sorted_deals, draws):
    game = openspiel.load(TINY, sorted_deals)
    alike = defaultdict(dict)
    for state in walk(game.new_initial_state()):
        if state.current_player() == 1:
            alike[state.information_state_string(1)][tuple(state.history())] = state
    sets = [each for each in alike.values() if len(each) > 1][:10]
    assert sets
    rng = np.random.default_rng(5)
    for each in sets:
        state = next(iter(each.values()))
        found = {tuple(state.resample_from_infostate(1, rng.random).history()) for _ in range(draws)}
        assert found <= set(each)
        assert len(found) * (1 if sorted_deals else 2) >= len(each)  # it keeps the order of its own two cards


def test_the_observer_has_our_named_blocks_and_what_is_public_shows_no_hand():
    rules = Rules.preset("kasino-sweden", players=3)
    game = openspiel.load(rules)
    course, _ = play_at_random(game, 4)[0][9]
    state = state_of(game, course)
    observation = make_observation(game)
    recall = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    for seat in range(3):
        observation.set_from(state, seat)
        recall.set_from(state, seat)
        for name, block in rules.layout.items():
            assert (observation.dict[name] == course.observation(seat)[block]).all()
            assert (recall.dict[name] == observation.dict[name]).all()
        assert recall.dict["dealt"][0].sum() == 4  # four cards each in a deal (S2)
        assert recall.dict["laid"][0].sum() == 4
        plays = recall.dict["plays"]
        assert plays[:, HISTORY_COLUMNS["card"]].sum() == len(course.plays)
        who = plays[: len(course.plays), HISTORY_COLUMNS["who"]].argmax(axis=1)
        assert who.tolist() == [(player - seat) % 3 for player, _ in course.plays]
    public = make_observation(
        game, pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
    )
    assert "hand" not in public.dict
    rng, text = np.random.default_rng(0), public.string_from(state, 0)
    assert {public.string_from(state.resample_from_infostate(1, rng.random), 0) for _ in range(5)} == {text}
