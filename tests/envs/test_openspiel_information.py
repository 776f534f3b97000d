"""What a seat knows in OpenSpiel: perfect recall, tensors, and hands that are drawn anew."""

from collections import defaultdict

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation
from support.spiel import TINY, play_at_random, walk

from krypenv import Rules
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


@pytest.mark.few(1)
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
            for name in (*SEEN, "to_observation_struct"):
                assert getattr(twin, name)(seat) == getattr(state, name)(seat)
            assert twin.course.plays == course.plays
            assert seat != course.turn or twin.legal_actions() == state.legal_actions()
            again = state_of(game, twin.course)
            assert (str(again), again.course.views) == (str(twin), twin.course.views)
            changed += twin.history() != state.history()
    assert changed > 0


def test_where_chance_deals_nothing_is_resampled():
    state = openspiel.load(TINY).new_initial_state()
    with pytest.raises(ValueError, match="where a seat is to act, not while cards are dealt nor at the end"):
        state.resample_from_infostate(0, np.random.default_rng(0).random)


@pytest.mark.few(1)
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
    rng = np.random.default_rng(0)
    for recalls in (False, True):
        asked = pyspiel.IIGObservationType(perfect_recall=recalls, private_info=pyspiel.PrivateInfoType.NONE)
        public = make_observation(game, asked)
        assert not {"hand", "dealt"} & {*public.dict}
        text = public.string_from(state, 0)
        assert {public.string_from(state.resample_from_infostate(1, rng.random), 0) for _ in range(5)} == {text}
