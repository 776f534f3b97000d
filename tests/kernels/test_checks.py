"""What calls are given is right, or refused in one sentence: observations, masks and arguments."""

import numpy as np
import pytest

from krypenv import Engine, Game, Rules, agents, determinize
from krypenv.cards import TAKE, parse_card
from krypenv.features import append_features
from krypenv.kernels.decision_checks import check_decisions
from krypenv.observation import LAYOUT, SIZE

MAIN = Rules.preset("krypkasino")
SIX = Rules.preset(players=6)


@pytest.mark.parametrize(
    ("own", "rules", "block", "change", "reason"),
    [
        (MAIN, MAIN, "table", [3], "the cards that it shows are not those of the deck"),
        (MAIN, MAIN, "hand_size", [0, -1], "the hands and the stock don't have the cards"),
        (SIX, SIX, "hand_size", [0, 122, 122, -5, 123, -106], "the hands and the stock"),  # as bytes their sum is right
        (MAIN, Rules.preset("mini-high"), "table", [0], "the cards that it shows are not those of the deck"),
        (MAIN, Rules.preset(players=3), "table", [0], "not from a game of krypkasino players=3"),
    ],
)
def test_an_observation_that_no_game_shows_is_refused(own, rules, block, change, reason):
    seen = Engine(own, 1, seed=0).observation
    start = LAYOUT[block].start
    seen[0, start : start + len(change)] += np.array(change, np.int8)
    with pytest.raises(ValueError, match=reason):
        determinize(seen, 0, rules)


AGENTS = ("random", "greedy", "tactician", "rollout", "search", "ismcts", "champion")
MASK_OF_ANOTHER = "the action mask is not the one that belongs to it"
NO_TABLE = [("table", 5, -1), ("table", 5, 3), ("table", 5, 127)]
LOOKS_RIGHT = [("points", 0, 3), ("session_total", 0, 1), ("games_left", 0, 1), ("team", 0, 1)]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *((name, NO_TABLE) for name in AGENTS[:3]),
        *((name, NO_TABLE + LOOKS_RIGHT) for name in AGENTS[3:]),  # which play on
    ],
)
def test_an_agent_refuses_what_no_game_shows_and_a_mask_of_another_row(name, changes):
    agent, engine = agents.make(name, MAIN), Engine(MAIN, 2, seed=1)
    with pytest.raises(ValueError, match=f"observation 0 is .*{MASK_OF_ANOTHER}"):
        agent.act(engine.observation, engine.action_mask[::-1])
    for block, place, more in changes:
        seen = engine.observation.copy()
        seen[1, LAYOUT[block].start + place] += more
        with pytest.raises(ValueError, match="observation 1 is not from a game of krypkasino players=2"):
            agent.act(seen, engine.action_mask)


def test_a_mask_or_an_observation_that_takes_a_card_twice_is_refused():
    text = "rules: kasino-sweden; table: 2C 3D 4H; hand 0: 9D; hand 1: KD; captured 1: rest; pending: 5C; took: 2C"
    game = Game.from_position(text)
    seen, mask, two = game.observation(), game.action_mask(), parse_card("2C")
    check_decisions(game.rules, [seen], [mask])
    mask[TAKE + two] = 1
    with pytest.raises(ValueError, match=MASK_OF_ANOTHER):
        check_decisions(game.rules, [seen], [mask])
    seen[LAYOUT["taken"].start + two] = 2
    with pytest.raises(ValueError, match="the cards that it shows are not those of the deck"):
        check_decisions(game.rules, [seen], [game.action_mask()])


@pytest.mark.parametrize(
    ("observations", "masks", "reason"),
    [
        (np.zeros((2, SIZE - 1), np.int8), np.ones((2, 105), np.int8), "an agent acts on observations"),
        (np.zeros(SIZE, np.int8), np.ones(105, np.int8), "an agent acts on observations"),
        (np.zeros((2, SIZE), np.int8), np.ones((1, 105), np.int8), "an agent acts on observations"),
        (None, None, "an agent acts on observations"),
        (np.zeros((1, SIZE), object), np.ones((1, 105), np.int8), "observations are numbers of type int8"),
        *(
            (np.full((1, SIZE), number), np.ones((1, 105), np.int8), "whole numbers from -128 to 127")
            for number in (0.5, np.nan, 300)
        ),
        (np.zeros((1, SIZE), np.int8), np.full((1, 105), 1000), "action masks are whole numbers"),
        (Engine(MAIN, 1).observation, np.zeros((1, 105)), "row 0 has no legal action"),
    ],
)
def test_arrays_that_are_no_decisions_are_refused(observations, masks, reason):
    for ask in (*(agents.make(name, MAIN).act for name in AGENTS), lambda *rows: append_features(MAIN, *rows)):
        with pytest.raises(ValueError, match=reason):
            ask(observations, masks)


def test_other_types_with_the_same_numbers_are_the_same():
    engine = Engine(MAIN, 16, seed=1)
    answers = [
        agents.make("tactician", MAIN, seed=1).act(engine.observation.astype(kind), engine.action_mask.astype(kind))
        for kind in (np.int8, np.int64, np.float32)
    ]
    assert (answers[0] == answers[1:]).all()


# ---------------------------------------------------------------------- arguments

ROWS = {
    "step": lambda engine, rows: engine.step([0, 0], rows),
    "sample_actions": lambda engine, rows: engine.sample_actions(rows),
    "restart": lambda engine, rows: engine.restart(rows, [1, 2]),
}
CALLS = {  # how calls with an argument go
    "steps": lambda engine, steps: engine.play_games(steps),
    "games": lambda _, games: Engine(MAIN, games),
    "threads": lambda _, threads: Engine(MAIN, 2, threads=threads),
    "history": lambda _, history: Engine(MAIN, 1, history=history),
    "reward": lambda _, reward: Engine(MAIN, 1, reward=reward),
    "dense": lambda _, dense: Engine(MAIN, 1, dense=dense),
    "seed": lambda _, seed: Engine(MAIN, 2, seed=seed),
    "rules": lambda _, rules: Engine(rules, 2),
    "rules of a state": lambda engine, rules: Engine.from_state(rules, engine.state),
    "rng": lambda engine, rng: determinize(engine.observation, rng),
    "observations": lambda engine, size: determinize(engine.observation[:, :size], 0),
    "actions": lambda engine, actions: engine.step(actions),
    "large actions": lambda engine, action: engine.step(np.full(4, action, np.uint64)),
    "large rows": lambda engine, row: engine.step([0], rows=np.array([row], np.uint64)),
    **ROWS,
}
NO_NUMBERS = (-1, 1.5, None, True, "3", 10**30)
REFUSED = [  # calls, values that they refuse, and with what
    (["steps"], (*NO_NUMBERS, np.float64(2)), "steps is a whole number from 0 to 1,000,000,000,000, not"),
    (["games"], (*NO_NUMBERS, 0, 2**24 + 1), "num_games is a whole number from 1 to 16,777,216, not"),
    (["threads"], (-1, 1.5, None, 1025), "threads is a whole number from 0 to 1,024, not"),
    (["history"], ("yes", 3), "history is True or False, not"),
    (["reward"], ("gold",), "centred, points, win"),
    (["dense"], (True,), "reward='centred'"),
    (["seed"], (-1, 1.5, "x"), "a seed is a whole number"),
    (["seed"], ([1, 2, 3],), "2 games need 2 seeds"),
    (["rules", "rules of a state"], (3, [], Rules), r"rules are those of Rules\.preset or Rules\.parse, not"),
    (["rng"], (None, -1, 1.5, "x", True), "a seed is a whole number from 0 to"),
    (["observations"], (50,), "int8 of shape"),
    (["actions"], ([0], np.zeros(4), [[0, 0, 0, 0]]), "4 rows need 4 whole numbers"),
    (["large actions"], (2**63, 2**64 - 1), r"action \d+ is illegal in row 0"),
    (["large rows"], (2**63, 2**64 - 1), r"there are only rows 0 to 3, not \d+ to \d+"),
    (ROWS, ([1, 1],), "row 1 is named more than once"),
    (ROWS, ([0, 4], [-1, 0]), "rows 0 to 3"),
    (ROWS, ([0.0, 1.0],), "whole numbers"),
]


@pytest.mark.parametrize(
    ("name", "values", "reason"), [(name, values, reason) for names, values, reason in REFUSED for name in names]
)
def test_a_wrong_argument_is_refused_and_changes_nothing(name, values, reason):
    engine = Engine(MAIN, 4, seed=0)
    before = engine.state.tobytes()
    for value in values:
        with pytest.raises(ValueError, match=reason):
            CALLS[name](engine, value)
    assert engine.state.tobytes() == before
