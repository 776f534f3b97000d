"""The games in OpenSpiel: its own checks, agreement with the engine, its algorithms and bots."""

import itertools
import json
import pickle
import random
import re
import subprocess
import sys
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr, exploitability, external_sampling_mccfr, ismcts, mcts
from open_spiel.python.policy import UniformRandomPolicy
from support.arenas import Picky
from support.spiel import TINY, play_at_random

from krypenv import Engine, Game, IllegalMove, Rules
from krypenv.cards import NUM_KINDS, card_name
from krypenv.envs import openspiel
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, Course
from krypenv.inputs.words import to_install
from krypenv.training import duplicate_match

GAMES = [
    "mini-sweep",
    "mini-kasino",
    "mini-mulle",
    "mini-low players=2 later_deal=((2,1),)",
    "mini-high players=3 games=3",
    "krypkasino players=6 teams=3",
    "howto players=3 games=2",
    "kasino-finland players=4 teams=2 games=0 threshold=16",
    "overspader players=3 goal=low",
    "laistokasino",
    "mulle-glimne players=4 teams=2",
]


# ---------------------------------------------------------------------- chance


@pytest.mark.parametrize("preset", ["mini-sweep", "mini-mulle"])
def test_sorted_deals_are_the_same_deals(preset):
    def dealt(sorted_deals):
        found: dict[tuple[bytes, ...], float] = defaultdict(float)
        reached = {Course(CoursePlan(Rules.preset(preset), sorted_deals)): 1.0}
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


@pytest.mark.few(3)
@pytest.mark.parametrize("text", GAMES)
def test_it_passes_the_checks_of_openspiel(text):
    is_small = text.startswith("mini") and "games" not in text
    game = openspiel.load(Rules.parse(text), sorted_deals=is_small)
    pyspiel.random_sim_test(game, num_sims=2 if is_small else 1, serialize=is_small, verbose=False)


@pytest.mark.parametrize("text", GAMES)
def test_it_agrees_with_the_engine(text):
    rules = Rules.parse(text)
    decisions, state = play_at_random(openspiel.load(rules), 1)
    totals = [0] * rules.players
    for number, group in itertools.groupby(decisions, key=lambda each: int(each[0].state["game_number"])):
        played = list(group)
        last = played[-1][0].state
        deck = [card_name(kind) for kind in last["deck"][: rules.deck_size]]
        dealer = (rules.players - 2 + number) % rules.players  # the last seat first, then the next one in turn
        game = Game(rules, None, deck, dealer, number, totals)
        assert int(last["dealer"]) == game.dealer
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


def test_games_and_states_are_pickled():
    game = openspiel.load(Rules.preset("kasino-finland", players=3, goal="low"), sorted_deals=True)
    state = game.new_initial_state()
    for action in play_at_random(game, 3)[0][20][0].path:
        state.apply_action(action)
    again, twin = pickle.loads(pickle.dumps((game, state)))
    assert (again.rules, again.plan.sorted_deals) == (game.rules, True)
    assert (str(twin), twin.history()) == (str(state), state.history())


@pytest.mark.parametrize("text", ["mini-choice", "kasino-finland players=3 games=2", "mulle-glimne"])
def test_structs_name_states_and_actions(text):
    game, rng = openspiel.load(Rules.parse(text)), random.Random(1)
    state, moves = game.new_initial_state(), 0
    while not state.is_terminal():
        player = state.current_player()
        for action in state.legal_actions():
            struct = state.action_to_struct(player, action)
            assert state.struct_to_actions(struct) == [action]
            assert openspiel.Struct(struct.to_json()) == state.action_to_struct(action)
        if player >= 0 and rng.random() < 0.1:
            seen = json.loads(state.to_observation_struct().to_json())
            assert seen["seat"] == player
            state.apply_action_struct(openspiel.Struct({"move": rng.choice(seen["moves"])}))
            moves += 1
            for told in (state.to_struct(), state.to_struct().to_json()):
                again = game.new_initial_state(told)
                assert (str(again), again.history()) == (str(state), state.history())
        else:
            state.apply_action(rng.choice(state.legal_actions()))
    assert moves > 0
    assert state.to_struct().returns == state.returns()
    assert state.to_observation_struct(0).moves == []


def test_structs_that_name_nothing_are_refused():
    game, struct = openspiel.load(TINY), openspiel.Struct
    chance, state = game.new_initial_state(), game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    other = openspiel.load(Rules.preset("mini-low")).new_initial_state().to_struct()
    for ask, asked, sentence in (
        (state.struct_to_actions, struct({"action": "stop"}), "is no legal action; legal are play "),
        (state.struct_to_actions, struct({"action": [1]}), "is no legal action; legal are play "),
        (state.struct_to_actions, struct({"move": "KD"}), "KD is illegal; seat 0 may "),
        (chance.struct_to_actions, struct({"move": "KD"}), "is no legal action; legal are deal "),
        (chance.to_observation_struct, 0, "here chance deals"),
        (state.to_observation_struct, 2, "there is no seat 2"),
        (game.new_initial_state, other, "the struct is of 'mini-low players=2', not of mini-sweep"),
        (game.new_initial_state, {"rules": str(TINY), "history": ["x"]}, "is a list of actions, not"),
        (struct, "[1]", "a struct is made of a JSON object, not of"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ask(asked)


# ---------------------------------------------------------------------- algorithms


def conv(game, policy):
    return exploitability.nash_conv(game, policy)


@pytest.mark.slow
def test_solvers_learn_a_game():
    game = openspiel.load(TINY, sorted_deals=True)
    uniform = conv(game, UniformRandomPolicy(game))
    assert uniform > 1
    for solver, measure in ((cfr.CFRPlusSolver(game), conv), (pyspiel.CFRPlusSolver(game), pyspiel.nash_conv)):
        for _ in range(6):
            solver.evaluate_and_update_policy()
        assert measure(game, solver.average_policy()) < uniform / 2
    sampling = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(200):
        sampling.iteration()
    assert conv(game, sampling.average_policy()) < uniform


def test_search_there_resamples_what_the_seat_has_not_seen():
    game = openspiel.load(TINY)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, 5.0, 30, random_state=np.random.RandomState(2))
    margins = pyspiel.evaluate_bots(game.new_initial_state(), [bot, pyspiel.make_uniform_random_bot(1, 3)], 4)
    assert sum(margins) == 0
    fast = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 5.0, 30, 10, False, 1, False)
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), [fast, fast], 5)) == 0


# ---------------------------------------------------------------------- bots


def test_agents_play_there_as_bots():
    rules = Rules.preset("krypkasino", players=3)
    game = openspiel.load(rules)
    bots = [openspiel.make_bot(game, name, 1) for name in ("tactician", "random", "search(worlds=2)")]
    margins = pyspiel.evaluate_bots(game.new_initial_state(), bots, 7)
    assert sum(margins) == pytest.approx(0)
    with pytest.raises(ValueError, match="sees what is hidden"):
        openspiel.make_bot(game, "oracle-hand")


@pytest.mark.parametrize("blocks", [{}, {"features": True}, {"history": True}, {"features": True, "history": True}])
def test_an_agent_there_sees_what_it_asks_for(blocks):
    class Noted(Picky):
        def act(self, observations, action_masks):
            self.seen = observations.copy()
            return super().act(observations, action_masks)

    rules = Rules.preset("mulle-glimne")
    agent = Noted(rules, **blocks)
    bot = openspiel.AgentBot(agent)
    decisions, last = play_at_random(openspiel.load(rules), 3)
    game = Game(rules, deck=[card_name(kind) for kind in last.course.state["deck"][: rules.deck_size]])
    for course, action in decisions:
        bot.step(SimpleNamespace(course=course))
        assert np.array_equal(agent.seen[0], game.observation(**blocks))
        game.act(action)
    assert game.is_over


@pytest.mark.parametrize("bot", openspiel.BOTS)
def test_bots_play_here_as_agents(bot):
    rules = Rules.preset("mini-low")
    name = f"krypenv.envs.openspiel:Bot(bot='{bot}', simulations=4)"
    result, again = (duplicate_match(name, "random", rules, deals=2, seed=1) for _ in range(2))
    assert result.margin == again.margin  # its random choices follow from the seed
    engine = Engine(rules, 16, seed=1)
    player = openspiel.Bot(rules, 1, bot=bot, simulations=4)
    assert type(player._bot).__name__ == {"ismcts": "ISMCTSBot", "mcts": "MCTSBot", "random": "NoneType"}[bot]
    chosen = player.act(engine.observation, engine.action_mask)
    assert engine.action_mask[range(16), chosen].all()
    assert (chosen != engine.action_mask.argmax(axis=1)).any()


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("krypenv(preset=maxi)", "unknown preset 'maxi'"),
        ("krypenv(preset= ,players=3)", "unknown preset ''; the presets are krypkasino, "),
        ("krypenv(players=9)", "krypkasino is not played by 9 players; it takes 2 to 6"),
        ("krypenv(rules=gaol:low)", "rules have no field 'gaol'"),
    ],
)
def test_parameters_that_make_no_game_are_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        pyspiel.load_game(text)


@pytest.mark.parametrize("text", [*GAMES, "mini-low first_deal=((2,2),(2,2))", "mini-low custom_points=H:1+QS:13"])
def test_rules_survive_as_parameters(text):
    rules = Rules.parse(text)
    assert pyspiel.load_game(str(openspiel.load(rules))).rules == openspiel.load(str(rules)).rules == rules


def test_openspiel_hears_which_actions_are_legal_and_numbers_of_numpy_are_actions():
    state = openspiel.load(Rules.preset("krypkasino")).new_initial_state()
    with pytest.raises(ValueError, match="action 139 is illegal; chance may deal AC, deal 2C, deal 3C, "):
        state.child(139)
    assert state.child(np.uint64(5)).course.path == state.course.after(np.int8(5)).path == (5,)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[-1])
    with pytest.raises(ValueError, match="play AC is illegal; seat 0 may play 8S, play 9S, play QS, play KS"):
        state.child(0)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(IllegalMove, match="action 0 is illegal, for the session is over"):
        state.course.after(0)
    with pytest.raises(ValueError, match="chance deals no card here: the session is over"):
        state.course.chance_outcomes()


def test_a_bot_that_openspiel_lacks_is_refused():
    with pytest.raises(ValueError, match="bot is 'ismcts' or 'mcts' or 'random', not 'alpha'"):
        openspiel.Bot(TINY, 0, bot="alpha")


def test_without_openspiel_it_says_what_to_install():
    code = "import sys; sys.modules['pyspiel'] = None; import krypenv.envs.openspiel"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert said.stderr.splitlines()[-1] == (
        f"ImportError: krypenv.envs.openspiel needs OpenSpiel; {to_install('openspiel')}"
    )
