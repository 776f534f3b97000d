"""The games in OpenSpiel: its own checks, agreement with the engine, perfect recall, and its algorithms."""

import itertools
import pickle
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from fuzzing import NASTY_VALUES, NASTY_WORDS, Tally, attempt, mutate_text
from make_playthroughs import SPIEL_FOLDER, SPIEL_GAMES, spiel_playthrough

from krypenv import Game, Rules
from krypenv.cards import NUM_KINDS, card_name, parse_card
from krypenv.envs.chance import Plan, draw_weights
from krypenv.envs.course import CHANCE, TERMINAL, Course
from krypenv.observation import HISTORY_COLUMNS
from krypenv.training import duplicate_match

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    best_response,
    cfr,
    exploitability,
    external_sampling_mccfr,
    ismcts,
    mcts,
    mmd_dilated,
    outcome_sampling_mccfr,
)
from open_spiel.python.observation import make_observation  # noqa: E402
from open_spiel.python.policy import UniformRandomPolicy  # noqa: E402

from krypenv.envs import openspiel  # noqa: E402

TINY = Rules.preset("mini-sweep", packs=2, suits=(3,))  # 468 histories with sorted deals
GAMES = [
    *Rules.presets(),
    "mulle-glimne players=4 teams=2",
    "krypkasino players=4 teams=2",
    "krypkasino players=6 teams=3",
    "howto players=3 games=2",
    "kasino-finland players=4 teams=2 games=0 threshold=16",
    "overspader players=3 goal=low",
    "mini-low players=2 later_deal=((2,1),)",
    "mini-high players=3 games=3",
]


def play_at_random(game, seed):
    """The decisions of a random game, each a course and an action, and the last state."""
    rng = np.random.default_rng(seed)
    state, decisions = game.new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            kinds, chances = zip(*state.chance_outcomes(), strict=True)
            assert sum(chances) == pytest.approx(1, abs=1e-12)
            state.apply_action(int(rng.choice(kinds, p=chances)))
        else:
            decisions.append((state.course, int(rng.choice(state.legal_actions()))))
            state.apply_action(decisions[-1][1])
    return decisions, state


def walk(state):
    """Yield all states of a game."""
    yield state
    for action in [] if state.is_terminal() else state.legal_actions():
        yield from walk(state.child(action))


# ---------------------------------------------------------------------- chance


@pytest.mark.parametrize("counts", [(1, 1, 1, 1), (2, 1, 0, 2), (2, 2, 2)])
def test_cards_in_ascending_order_have_the_chances_of_sets(counts):
    cards = [kind for kind, count in enumerate(counts) for _ in range(count)]
    sets = Counter(itertools.combinations(cards, 3))
    total = sum(sets.values())

    def walk(left, hand, chance):
        if len(hand) == 3:
            found[tuple(hand)] += chance
            return
        last = hand[-1] if hand else -1
        weights = draw_weights(left, 3 - len(hand), last, hand.count(last))
        for kind, weight in weights:
            rest = [count - (each == kind) for each, count in enumerate(left)]
            walk(rest, [*hand, kind], chance * Fraction(weight, sum(weight for _, weight in weights)))

    found: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    walk(list(counts), [], Fraction(1))
    assert found == {hand: Fraction(number, total) for hand, number in sets.items()}


@pytest.mark.parametrize("preset", ["mini-sweep", "mini-mulle"])
def test_sorted_deals_are_the_same_deals(preset):
    def dealt(sorted_deals):
        found: dict[tuple[bytes, ...], float] = defaultdict(float)
        reached = {Course(Plan(Rules.preset(preset), sorted_deals)): 1.0}
        while reached:
            course, chance = reached.popitem()
            if course.turn != CHANCE:
                found[course.state["hands"].tobytes(), course.state["table"].tobytes()] += chance
                continue
            for kind, each in course.chance_outcomes():
                reached[course.after(kind)] = chance * each
        return found

    plain, ordered = dealt(False), dealt(True)
    assert plain.keys() == ordered.keys()
    assert all(ordered[key] == pytest.approx(plain[key]) for key in plain)


def test_without_sorted_deals_a_card_is_as_likely_as_its_copies():
    state = openspiel.load(Rules.preset("krypkasino")).new_initial_state()
    assert state.chance_outcomes() == [(kind, 2 / 104) for kind in range(NUM_KINDS)]
    state.apply_action(5)
    assert dict(state.chance_outcomes())[5] == 1 / 103
    assert state.action_to_string(5) == "deal 6C to seat 0"  # the leader's first batch (R4)


# ---------------------------------------------------------------------- OpenSpiel's own checks


@pytest.mark.parametrize("text", [text for text in GAMES if text.startswith("mini") or "players" in text])
def test_it_passes_the_checks_of_openspiel(text):
    is_small = text.startswith("mini") and "games" not in text
    game = openspiel.load(Rules.parse(text), sorted_deals=is_small)
    pyspiel.random_sim_test(game, num_sims=2 if is_small else 1, serialize=is_small, verbose=False)


@pytest.mark.slow
@pytest.mark.parametrize("text", GAMES)
def test_it_passes_the_checks_of_openspiel_for_longer(text):
    for sorted_deals in (False, True):
        game = openspiel.load(Rules.parse(text), sorted_deals)
        pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)


@pytest.mark.parametrize("text", GAMES)
def test_it_agrees_with_the_engine(text):
    rules = Rules.parse(text)
    decisions, state = play_at_random(openspiel.load(rules), 1)
    totals = [0] * rules.players
    for number, group in itertools.groupby(decisions, key=lambda each: int(each[0].state["game_number"])):
        played = list(group)
        last = played[-1][0].state
        deck = [card_name(kind) for kind in last["deck"][: rules.deck_size]]
        game = Game.of_session(rules, None, deck, int(last["dealer"]), number, totals)
        for course, action in played:
            assert course.turn == game.turn
            assert course.legal_actions() == game.legal_actions()
            for seat in range(rules.players):
                assert (course.observation(seat) == game.observation(seat)).all()
            game.act(action)
        totals = game.totals
    assert game.session_over
    sides = [sum(totals[side :: rules.num_teams]) for side in range(rules.num_teams)]
    sign = 1 if rules.goal == "high" else -1
    for seat, margin in enumerate(state.returns()):
        own, others = sides[seat % rules.num_teams], [*sides]
        others.remove(own)
        assert margin == pytest.approx(sign * (own - sum(others) / len(others)))


@pytest.mark.parametrize("name", SPIEL_GAMES)
def test_a_playthrough_is_as_stored(name):
    stored = (SPIEL_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert spiel_playthrough(SPIEL_GAMES[name]) == stored


def test_states_are_stored_and_read_again():
    game = openspiel.load(Rules.preset("kasino-finland", players=3, goal="low"), sorted_deals=True)
    decisions, _ = play_at_random(game, 3)
    state = game.new_initial_state()
    for action in decisions[20][0].path:
        state.apply_action(action)
    again, twin = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert again.rules == game.rules
    assert again.plan.sorted_deals
    assert str(twin) == str(state)
    assert twin.history() == state.history() == list(decisions[20][0].path)
    assert pickle.loads(pickle.dumps(game)).rules == game.rules
    with pytest.raises(ValueError, match="a course that began from a state can't be stored"):
        pickle.dumps(game.resume(decisions[20][0].world(0, 1)))
    assert pickle.loads(pickle.dumps(state)).information_state_string(0) == state.information_state_string(0)


# ---------------------------------------------------------------------- information


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


@pytest.mark.parametrize("text", ["krypkasino players=3", "mulle players=2", "howto players=2 games=2", "mini-choice"])
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


# ---------------------------------------------------------------------- algorithms


def conv(game, policy):
    return exploitability.nash_conv(game, policy)


def test_solvers_learn_a_game():
    game = openspiel.load(TINY, sorted_deals=True)
    uniform = conv(game, UniformRandomPolicy(game))
    assert uniform > 1
    for solver in (cfr.CFRSolver(game), cfr.CFRPlusSolver(game)):
        for _ in range(6):
            solver.evaluate_and_update_policy()
        assert conv(game, solver.average_policy()) < uniform / 2
    for solver in (pyspiel.CFRSolver(game), pyspiel.CFRPlusSolver(game)):
        for _ in range(6):
            solver.evaluate_and_update_policy()
        assert pyspiel.nash_conv(game, solver.average_policy()) < uniform / 2
    for sampling in (
        external_sampling_mccfr.ExternalSamplingSolver(game),
        outcome_sampling_mccfr.OutcomeSamplingSolver(game),
    ):
        for _ in range(200):
            sampling.iteration()
        assert conv(game, sampling.average_policy()) < uniform
    mirror = mmd_dilated.MMDDilatedEnt(game, 0.05)
    for _ in range(3):
        mirror.update_sequences()
    assert conv(game, mirror.get_avg_policies()) < uniform


def test_the_value_of_a_solved_game_is_that_of_its_best_responses():
    game = openspiel.load(TINY, sorted_deals=True)
    solver = pyspiel.CFRPlusSolver(pyspiel.convert_to_cached_tree(game))
    for _ in range(300):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    answers = [
        pyspiel.TabularBestResponse(game, seat, policy).value_from_state(game.new_initial_state()) for seat in (0, 1)
    ]
    assert sum(answers) == pytest.approx(0, abs=0.02)
    python = best_response.BestResponsePolicy(game, 0, UniformRandomPolicy(game))
    assert python.value(game.new_initial_state()) > answers[0]  # more is won from who plays at random


def test_search_there_resamples_what_the_seat_has_not_seen():
    game = openspiel.load(TINY)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, 5.0, 30, random_state=np.random.RandomState(2))
    margins = pyspiel.evaluate_bots(game.new_initial_state(), [bot, pyspiel.make_uniform_random_bot(1, 3)], 4)
    assert sum(margins) == 0
    fast = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 5.0, 30, 10, False, 1, False)
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), [fast, fast], 5)) == 0


def test_its_environment_for_learners_takes_the_game():
    env = rl_environment.Environment(openspiel.load(Rules.preset("mini-kasino")))
    time_step = env.reset()
    while not time_step.last():
        player = time_step.observations["current_player"]
        assert len(time_step.observations["info_state"][player]) == env.observation_spec()["info_state"][0]
        time_step = env.step([time_step.observations["legal_actions"][player][0]])
    assert sum(time_step.rewards) == pytest.approx(0)


# ---------------------------------------------------------------------- bots


def test_agents_play_there_as_bots():
    rules = Rules.preset("krypkasino", players=3)
    game = openspiel.load(rules)
    bots = [openspiel.make_bot(game, name, 1) for name in ("tactician", "random", "search(worlds=2)")]
    margins = pyspiel.evaluate_bots(game.new_initial_state(), bots, 7)
    assert sum(margins) == pytest.approx(0)
    with pytest.raises(ValueError, match="sees what is hidden"):
        openspiel.make_bot(game, "oracle-hand")


@pytest.mark.parametrize("bot", ["ismcts", "mcts", "random"])
def test_bots_play_here_as_agents(bot):
    rules = Rules.preset("mini-low")
    name = f"krypenv.envs.openspiel:Bot(bot='{bot}', simulations=4)"
    result, again = (duplicate_match(name, "random", rules, deals=2, seed=1) for _ in range(2))
    assert result.margin == again.margin  # its random choices follow from the seed


def test_a_bot_that_searches_long_enough_wins():
    rules = Rules.preset("mini-high")
    name = "krypenv.envs.openspiel:Bot(simulations=30, explore=20)"
    assert duplicate_match(name, "random", rules, deals=10, seed=1).margin > 0


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("krypenv(preset=maxi)", "unknown preset 'maxi'"),
        ("krypenv(players=9)", "krypkasino is not played by 9 players; it takes 2 to 6"),
        ("krypenv(rules=goal)", "'goal' in rules is no field; fields are written goal:high;packs:1"),
        ("krypenv(rules=goal:up)", "goal is 'low' or 'high', not 'up'"),
        ("krypenv(rules=gaol:low)", "rules have no field 'gaol'"),
        ("krypenv(teams=3)", "2 players can't form 3 equal teams"),
    ],
)
def test_parameters_that_make_no_game_are_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        pyspiel.load_game(text)


def test_odd_parameters_make_a_game_or_a_sentence():
    fields = [f"{name}:{word}" for name in ("goal", "packs", "ranks", "games") for word in NASTY_WORDS]
    tally, rng = Tally(), random.Random(0)
    for key in ("preset", "players", "teams", "rules"):
        for value in (*NASTY_VALUES, *NASTY_WORDS, *fields, *(mutate_text(text, rng) for text in GAMES * 5)):
            attempt(lambda: openspiel.rules_of({key: value}), tally, (key, value))  # noqa: B023 (called at once)
    assert tally["right"] > 10
    assert tally["refused"] > 100


def test_rules_survive_as_parameters():
    for text in [
        *GAMES,
        "mini-low first_deal=((2,2),(2,2)) later_deal=((1,0),)",
        "krypkasino goal=high short_last_deal=True",
    ]:
        rules = Rules.parse(text)
        assert pyspiel.load_game(str(openspiel.load(rules))).rules == rules


def test_illegal_actions_are_refused():
    course = Course(Plan(TINY))
    with pytest.raises(ValueError, match="chance can't deal KS here"):
        course.after(parse_card("KS"))
    while course.turn == CHANCE:
        course = course.after(course.chance_outcomes()[0][0])
    with pytest.raises(ValueError, match="stop is illegal; seat 0 may play"):
        course.after(104)
    with pytest.raises(ValueError, match="bot is one of ismcts, mcts, random, not 'alpha'"):
        openspiel.Bot(TINY, 0, bot="alpha")
    while course.turn != TERMINAL:
        course = course.after((course.legal_actions() or [course.chance_outcomes()[0][0]])[0])
    with pytest.raises(ValueError, match="the session is over"):
        course.after(0)


def test_without_openspiel_it_says_what_to_install():
    code = "import sys; sys.modules['pyspiel'] = None; import krypenv.envs.openspiel"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert said.stderr.splitlines()[-1] == (
        "ImportError: krypenv.envs.openspiel needs OpenSpiel: pip install 'krypenv[openspiel]'"
    )
