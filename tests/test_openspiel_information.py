"""What a seat knows in OpenSpiel: perfect recall, tensors, and hands that are drawn anew."""

from collections import defaultdict

import numpy as np
import pytest
from spiel import TINY, play_at_random, walk

from krypenv import Rules
from krypenv.observation import HISTORY_COLUMNS

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.observation import make_observation  # noqa: E402

from krypenv.envs import openspiel  # noqa: E402


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
def test_an_information_state_has_perfect_recall(rules):
    known: dict[str, tuple] = {}
    for state, text, past in information_states(openspiel.load(rules, sorted_deals=True)):
        own = past, tuple(state.legal_actions())
        assert known.setdefault(text, own) == own  # one sequence of own actions leads there
    assert len(known) > 50
    is_ordered = any("~" in text for text in known)  # a capture that is reached by several sequences
    assert is_ordered == (rules.name == "mini-choice")


@pytest.mark.parametrize("rules", [TINY, Rules.preset("mini-sweep")], ids=str)
def test_the_tensor_tells_as_much_as_the_text(rules):
    tensors: dict[tuple[int, bytes], str] = {}
    for state, text, _ in information_states(openspiel.load(rules, sorted_deals=True)):
        player = state.current_player()
        tensor = np.array(state.information_state_tensor(player), np.int8).tobytes()
        assert tensors.setdefault((player, tensor), text) == text
    assert len(set(tensors.values())) == len(tensors) > 100


@pytest.mark.parametrize(
    "text",
    ["krypkasino players=3", "mulle players=2", "howto players=2 games=2", "mini-choice", "mulle-glimne players=2"],
)
def test_a_resampled_state_looks_the_same_to_the_seat(text):
    rules = Rules.parse(text)
    game = openspiel.load(rules, sorted_deals="mini" in text)
    rng = np.random.default_rng(0)
    decisions, _ = play_at_random(game, 2)
    changed = 0
    for course, action in decisions[:: max(1, len(decisions) // 6)]:
        state = game.new_initial_state()
        for each in course.path:
            state.apply_action(each)
        for seat in range(rules.players):
            twin = state.resample_from_infostate(seat, rng.random)
            assert twin.information_state_string(seat) == state.information_state_string(seat)
            assert twin.information_state_tensor(seat) == state.information_state_tensor(seat)
            assert twin.observation_string(seat) == state.observation_string(seat)
            assert twin.current_player() == state.current_player()
            changed += twin.history() != state.history()
            if seat == state.current_player():
                assert twin.legal_actions() == state.legal_actions()
                twin.apply_action(action)
    assert changed > 0


def test_resampling_reaches_all_that_the_seat_can_not_tell_apart_and_nothing_else():
    game = openspiel.load(TINY, sorted_deals=True)
    alike = defaultdict(dict)
    for state in walk(game.new_initial_state()):
        if state.current_player() == 1:
            alike[state.information_state_string(1)][tuple(state.history())] = state
    sets = [each for each in alike.values() if len(each) > 1][:10]
    assert sets
    rng = np.random.default_rng(5)
    for each in sets:
        state = next(iter(each.values()))
        found = {tuple(state.resample_from_infostate(1, rng.random).history()) for _ in range(60)}
        assert found == set(each)


def test_the_observer_has_our_named_blocks():
    rules = Rules.preset("kasino-sweden", players=3)
    game = openspiel.load(rules)
    course, _ = play_at_random(game, 4)[0][9]
    state = game.new_initial_state()
    for action in course.path:
        state.apply_action(action)
    observation = make_observation(game)
    recall = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    for seat in range(3):
        observation.set_from(state, seat)
        recall.set_from(state, seat)
        for name, block in rules.layout.items():
            assert (observation.dict[name] == course.observation(seat)[block]).all()
            assert (recall.dict[name] == observation.dict[name]).all()
        dealt, plays = recall.dict["dealt"], recall.dict["plays"]
        assert dealt[0].sum() == 4  # four cards each in a deal (S2)
        assert recall.dict["laid"][0].sum() == 4
        assert plays[:, HISTORY_COLUMNS["card"]].sum() == len(course.plays)
        assert [row[HISTORY_COLUMNS["who"]].argmax() for row in plays[: len(course.plays)]] == [
            (player - seat) % 3 for player, _ in course.plays
        ]
    public = make_observation(
        game, pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
    )
    texts = {public.string_from(state, 0)}
    for _ in range(5):
        twin = state.resample_from_infostate(1, np.random.default_rng(len(texts)).random)
        texts.add(public.string_from(twin, 0))
    assert len(texts) == 1  # what is public shows no hand
    assert "hand" not in public.dict
