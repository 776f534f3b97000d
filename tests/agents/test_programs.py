"""Programs as players: process(command='...') plays as the program says, and one that fails is one sentence."""

import copy
import gc
import io
import os
import pickle
import runpy
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from support.fuzzing import check_sentence
from support.programs import FEWEST_POINTS, has_ended, line_of, odd, of_command, running

from krypenv import Engine, Game, Rules, agents
from krypenv.agents.programs import player
from krypenv.agents.programs.peer import LONGEST_LINE, ProgramFailed
from krypenv.engine import row_seeds
from krypenv.envs.seen import MOST_MOVES
from krypenv.game.base_agent import move_of
from krypenv.game.moves import list_some
from krypenv.training import duplicate_match
from krypenv.worlds.determinize import determinize

RULES = Rules.preset("krypkasino")
ALL_RULES = (
    "krypkasino players=2", "krypkasino players=3 games=3", "howto players=3", "kasino-finland players=4 teams=2",
    "mulle players=3", "mulle-glimne players=4 teams=2", "kasino-sweden players=2 goal=low",
)  # fmt: skip
GAME = Engine(RULES, 1, seed=1)
DECISION = GAME.observation, GAME.action_mask


# ---------------------------------------------------------------------- it plays


@pytest.mark.few(1)
@pytest.mark.parametrize("text", ALL_RULES[1::2])
def test_it_plays_whole_games_as_the_program_says(text, monkeypatch):
    """Many games at once come out as the same games one by one, with the program's choices made in this process."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    gain, rules = runpy.run_path(str(FEWEST_POINTS))["gain"], Rules.parse(text)
    best = max if rules.goal == "high" else min
    agent = agents.make(of_command(FEWEST_POINTS), rules)
    seeds = row_seeds(5, 2)
    engine = Engine(rules, len(seeds), seeds)
    left = np.arange(len(seeds))
    while len(left):
        engine.step(agent.act(engine.observation[left], engine.action_mask[left]), left)
        left = left[~engine.finished[left]]
    for row, seed in enumerate(seeds):
        game = Game(rules, seed=int(seed))
        while not game.session_over:
            game = game.next_game() if game.is_over else game
            game.push(best(list_some(game, MOST_MOVES)[0], key=lambda move: gain(str(move))))
        assert engine.final_scores[row].tolist() == (game.totals if rules.games != 1 else game.scores())
    assert not agent._plans  # every move was played to its end


@pytest.mark.parametrize("text", ALL_RULES)
def test_a_question_tells_what_the_seat_may_see_and_nothing_else(text):
    """Whatever is made up in the world that it is told from, the message is the same; and it is true."""
    rules, rng = Rules.parse(text), np.random.default_rng(0)
    greeting = player.hello(rules, 9, 2.0)
    assert (Rules.parse(greeting["rules"]), greeting["seed"]) == (rules, 9)
    game = Game(rules, seed=3)
    while not game.is_over and len(game.moves) < 24:
        seat = game.turn
        seen = game.observation(history=True)
        one, other = (
            player.decide(7, Game.at_row(rules, determinize(seen, seed, rules)[0]), seen, 2.0) for seed in (0, 1)
        )
        assert one == other
        assert one["hand"] == game.hand(seat)
        assert (one["table"], one["set_aside"], one["stock"]) == (game.table, game.set_aside, game.stock_size)
        assert [tuple(build.values()) for build in one["builds"]] == game.builds
        assert (one["seat"], one["dealer"], one["deal"]) == (seat, game.dealer, game.deal_number)
        assert one["last_capturer"] == game.last_capturer
        for at, told in enumerate(one["seats"]):
            counts = (len(game.hand(at)), game.points(at), game.sweeps(at), game.scores()[at])
            assert (told["hand_size"], told["points"], told["sweeps"], told["score"]) == counts
            assert told["team"] == rules.team_of(at)
        assert one["numbers"] == game.observation().tolist()
        moves, are_all = list_some(game, MOST_MOVES)
        assert (one["moves"], one["more_moves"]) == (list(map(str, moves)), not are_all)
        plays = [(turn, move) for deal, turn, move in game.plays if deal == game.deal_number]
        assert one["plays"] == [{"seat": turn, "move": str(move).rstrip("#")} for turn, move in plays]
        world = Game.at_row(rules, determinize(seen, 0, rules)[0])
        assert player.decide(7, world, game.observation(), 2.0)["plays"] is None
        game.push(moves[rng.integers(len(moves))])


def test_of_very_many_moves_some_with_each_card_are_listed():
    cards = [f"{rank}{suit}" for suit in "CDHS" for rank in "A23456789"]
    game = Game.from_position(
        f"rules: kasino-sweden; table: {' '.join(cards[1:])}; hand 0: KC AC; hand 1: QC QD; captured 1: rest"
    )
    some, are_all = list_some(game, 200)
    assert not are_all
    assert 150 < len(set(some)) == len(some) <= 200
    assert {move.card for move in some} == {"KC", "AC"}
    for move in some:
        game.push(move)
        game.pop()
    few = Game(RULES, seed=1)
    assert list_some(few, 200) == (few.legal_moves(), True)


def test_a_play_that_was_begun_is_gone_on_with():
    game = Game.from_position("rules: kasino-sweden; table: 2C 3D 5H; hand 0: 5C 9D; hand 1: 4C KD; captured 1: rest")
    game.act(game.legal_actions()[0])
    assert game.pending == "5C"
    agent = agents.make(of_command(FEWEST_POINTS), game.rules)
    assert str(move_of(agent, game)) == "5Cx2C3D5H#"


def test_matches_take_it_and_its_name_makes_it_again():
    name = of_command(FEWEST_POINTS, seconds=30)
    result = duplicate_match(name, "random", Rules.preset("mini-low"), deals=3)
    assert result.agent == agents.make(name, RULES).name == name


# ---------------------------------------------------------------------- it fails


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("exits", "ended with exit code 3"),
        ("is killed", "ended with the signal Killed"),
        ("sleeps", r"did not answer within 0\.5 seconds \(are its lines flushed\?\)$"),
        ("greets", "gave a wrong answer to hello, 'Welcome to my bot!': is not JSON"),
        ("half", "ended with exit code 0 after it wrote '{\"name\": \"od'"),
        ("complains and sleeps", r"did not answer within 2 seconds \(are .* flushed\?\); its standard error ends"),
        ("floods", f"wrote a line of more than {LONGEST_LINE:,} bytes after it wrote 'xxx"),
        ("closes", "closed its standard output"),
        ("no name", "gave a wrong answer to hello, .*: name should be of type str, not None"),
        ("sorry", "won't play: I need a key"),
        ("never reads", "wrote more than one line for an answer after it wrote |gave no legal move: 8S is illegal"),
        ("illegal", "gave no legal move: KSxKS is illegal; seat 0 may QC"),
        ("no id", "gave a wrong answer to decide, .*: id should be of type int, not None"),
        ("another id", "gave a wrong answer to decide, .*: id is 77, and that of the question is 1"),
        ("gives up", "gives up: help"),
        ("writes twice", "wrote more than one line for an answer|id is 1, and that of the question is 2"),
        ("dies 2", "ended with exit code 1; its standard error ends: oh dear$"),
        ("grows slow 2", r"did not answer within 0\.5 seconds"),
    ],
)  # fmt: skip
def test_what_it_does_wrong_is_one_sentence(how, sentence, tmp_path, monkeypatch):
    monkeypatch.setattr(player, "TO_START", {"sleeps": 0.5, "complains and sleeps": 2.0}.get(how, 20))
    words = how.rsplit(" ", 1) if how[-1].isdigit() else [how]
    spec = odd(tmp_path, *words, seconds=0.5)
    engine = Engine(RULES, 2, seed=1)
    with pytest.raises(ProgramFailed, match=r"^the program .*odd\.py.*(" + sentence + ")") as found:
        agents.make(spec, RULES).act(engine.observation, engine.action_mask)
    check_sentence(found.value, how)
    del found  # with which the agent goes
    gc.collect()
    assert has_ended(tmp_path)


@pytest.mark.parametrize("how", ["begins as Windows does", "floods its errors", "long name"])
def test_what_does_not_matter_is_let_pass(how, tmp_path):
    """A byte order mark before its answer, much on its standard error, and a long name."""
    assert GAME.action_mask[0, agents.make(odd(tmp_path, how), RULES).act(*DECISION)[0]]


@pytest.mark.parametrize(("how", "stays"), [("no id", False), ("illegal", True), ("gives up", True)])
def test_who_does_not_answer_as_it_should_is_ended_and_who_names_an_illegal_move_is_not(how, stays, tmp_path):
    agent = agents.make(odd(tmp_path, how), RULES)
    for _ in range(2):
        with pytest.raises(ProgramFailed):
            agent.act(*DECISION)
    assert bool(running(tmp_path)) == stays
    agent.end()
    assert not running(tmp_path)
    with pytest.raises(ProgramFailed, match=r"id should be|was ended$"):
        agent.act(*DECISION)


def test_no_shell_reads_the_command(tmp_path):
    with pytest.raises(ProgramFailed, match=r"hello; touch|not JSON"):
        agents.make(f"process(command='echo hello; touch {tmp_path}/made')", RULES)
    assert not list(tmp_path.iterdir())


VALUE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers())
KEYS = {
    "id": st.integers(0, 3),
    "move": st.sampled_from(["8S", "QC", "KD", "4S", "", "8Sx", "#"]),
    "name": st.just("x"),
}
ANSWER = st.fixed_dictionaries({}, optional={key: right | VALUE for key, right in KEYS.items()} | {"error": VALUE})
LINES = st.lists(st.binary(max_size=30) | VALUE.map(line_of) | ANSWER.map(line_of), max_size=4)


@given(is_right=st.booleans(), lines=LINES)
@settings(max_examples=25, deadline=None)
def test_whatever_a_peer_writes_is_a_legal_action_or_one_sentence(is_right, lines, tmp_path_factory):
    """The peer writes a file, in answer to nothing."""
    path = tmp_path_factory.mktemp("peer") / "answers"
    path.write_bytes((line_of({"name": "x"}) if is_right else b"") + b"".join(lines))
    engine = Engine(RULES, 1, seed=1)
    try:
        agent = agents.make(f"process(command='cat {path}', seconds=5)", RULES)
        for _ in range(3):
            action = agent.act(engine.observation, engine.action_mask)
            assert engine.action_mask[0, action[0]]
            engine.step(action)
    except ProgramFailed as error:
        check_sentence(error, lines)


# ---------------------------------------------------------------------- it ends


@pytest.mark.few(1)
@pytest.mark.parametrize(("how", "processes"), [("plays", 1), ("stays", 1), ("has a child", 2)])
def test_it_ends_with_its_agent_and_with_what_it_has_started(how, processes, tmp_path):
    agent = agents.make(odd(tmp_path, how), RULES)
    assert len(running(tmp_path)) == processes
    del agent
    gc.collect()
    assert not running(tmp_path)


@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_when_this_process_is_killed(tmp_path, signal_sent):
    code = (
        "import sys, time\nfrom krypenv import Rules, agents\n"
        "agent = agents.make(sys.argv[1], Rules.preset())\nprint('ready', flush=True)\ntime.sleep(100)\n"
    )
    words = [sys.executable, "-c", code, odd(tmp_path, "plays")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        there = running(tmp_path / "odd.py")
        process.send_signal(signal_sent)
        process.wait(20)
    assert there
    assert has_ended(tmp_path)


def test_an_interrupt_while_it_thinks_ends_it(tmp_path):
    agent = agents.make(odd(tmp_path, "grows slow", 1), RULES)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    with pytest.raises(KeyboardInterrupt):
        agent.act(*DECISION)
    assert not running(tmp_path)
    with pytest.raises(ProgramFailed, match="was interrupted, and ended"):
        agent.act(*DECISION)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn of forks beside threads
def test_a_forked_process_leaves_it_alone(tmp_path):
    agent = agents.make(odd(tmp_path, "plays"), RULES)
    child = os.fork()
    if child == 0:
        try:
            agent.act(*DECISION)
        except ProgramFailed as error:
            agent.end()
            os._exit(7 if "was started by another process" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    agent.act(*DECISION)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_a_copy_has_a_program_of_its_own(again, tmp_path):
    agent = agents.make(odd(tmp_path, "plays", seconds=7), RULES, seed=3)
    twin = again(agent)
    assert twin.name == agent.name
    assert len(running(tmp_path)) == 2
    agent.end()
    twin.act(*DECISION)
    twin.end()
    assert not running(tmp_path)
