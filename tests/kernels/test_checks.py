"""What comes from outside is right, or refused in one sentence: observations, masks and states."""

import numpy as np
import pytest
from fuzz.games import PLAYABLE, played
from support.games import seen_by, viewers_of

from krypenv import Engine, Game, Rules, agents, determinize
from krypenv.cards import TAKE, parse_card
from krypenv.features import append_features
from krypenv.kernels.decision_checks import check_decisions
from krypenv.observation import LAYOUT, SIZE
from krypenv.worlds.determinize import check_genuine
from krypenv.worlds.invariants import check_state

MAIN = Rules.preset("krypkasino")


@pytest.mark.parametrize("text", PLAYABLE)
def test_every_genuine_observation_is_shown_by_its_world(text):
    rules = PLAYABLE[text]
    for number, engine in enumerate(played(text)):
        check_state(rules, engine.state)
        check_genuine(rules, *check_decisions(rules, engine.observation, engine.action_mask))
        for seat in range(rules.players):
            seen = seen_by(engine, np.full(engine.num_games, seat))
            worlds = Engine.from_state(rules, determinize(seen, number, rules))
            assert (seen_by(worlds, viewers_of(seen, rules.players)) == seen).all()
        world = Engine.from_state(rules, determinize(engine.observation, np.random.default_rng(number), rules))
        assert (world.observation == engine.observation).all()
        assert (world.action_mask == engine.action_mask).all()


@pytest.mark.parametrize("rules", [MAIN, Rules.preset("howto", players=3), Rules.preset("mini-high")], ids=str)
def test_the_end_of_a_game_is_shown_too(rules):
    for seed in range(20):
        game = Game(rules, seed=seed)
        while not game.is_over:
            game.act(game.legal_actions()[seed % len(game.legal_actions())])
        for seat in range(rules.players):
            world = determinize(game.observation(seat), seed, rules)
            assert world.over[0]
            assert world.points[0].sum() + world.bonus[0].sum() == sum(
                game.points(each) for each in range(rules.players)
            )


def test_totals_of_a_session_with_a_threshold_alone_come_back():
    rules = Rules.preset("krypkasino", players=3, games=0, threshold=5000)
    engine = Engine(rules, 8, seed=1)
    totals = LAYOUT["session_total"]
    while not (np.abs(engine.observation[:, totals]) == 127).any():
        engine.step(engine.sample_actions())
    assert (engine.observation[:, totals] != 0).any(axis=1).all()
    worlds = Engine.from_state(rules, determinize(engine.observation, 3, rules))
    assert (worlds.observation == engine.observation).all()
    torn = engine.observation.copy()
    torn[0, totals] = [100, 100, 100, 0, 0, 0]  # their mean is not zero, and none was cut
    with pytest.raises(ValueError, match="observation 0 is not from a game of krypkasino players=3"):
        determinize(torn, 3, rules)


def test_r10_hands_that_hardly_any_deal_allows_are_found():
    """No shuffle finds them: each other seat can hold no rank but those of the cards that it has."""
    rules = Rules.preset("krypkasino", players=6)
    engine = Engine(rules, 16, seed=5)
    state = engine.state
    while len(rows := np.flatnonzero((state.hand_size.sum(axis=1) > 24) | (state.pending >= 0))):
        engine.step(engine.sample_actions(rows), rows)  # until each seat has played once
    assert (state.hand_size == 4).all()
    held = state.hands.reshape(16, 6, 4, 13).any(axis=2)
    state.cannot_hold[:] = np.where(held, 0, 1 << np.arange(13)).sum(axis=2)
    check_state(rules, state)
    seen = seen_by(engine, np.zeros(16, np.int64))
    for seed in range(20):
        worlds = Engine.from_state(rules, determinize(seen, seed, rules))
        assert (seen_by(worlds, np.zeros(16, np.int64)) == seen).all()
    state.cannot_hold[:, 1] = (1 << 13) - 1  # and now none is left
    with pytest.raises(ValueError, match=r"observation 0 is .*: no deal of the unseen cards gives each seat cards"):
        determinize(seen_by(engine, np.zeros(16, np.int64)), 0, rules)


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


MASK_OF_ANOTHER = "the action mask is not the one that belongs to it"


NO_TABLE = [("table", 5, -1), ("table", 5, 3), ("table", 5, 127)]
LOOKS_RIGHT = [("points", 0, 3), ("session_total", 0, 1), ("games_left", 0, 1), ("team", 0, 1)]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *((name, NO_TABLE) for name in ("random", "greedy", "tactician")),
        *((name, NO_TABLE + LOOKS_RIGHT) for name in ("rollout", "search", "ismcts", "champion")),  # which play on
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


def test_a_mask_that_takes_a_card_twice_is_refused():
    text = "rules: kasino-sweden; table: 2C 3D 4H; hand 0: 9D; hand 1: KD; captured 1: rest; pending: 5C; took: 2C"
    game = Game.from_position(text)
    mask = game.action_mask()
    check_decisions(game.rules, [game.observation()], [mask])
    mask[TAKE + parse_card("2C")] = 1
    with pytest.raises(ValueError, match=MASK_OF_ANOTHER):
        check_decisions(game.rules, [game.observation()], [mask])


@pytest.mark.parametrize(
    ("observations", "masks", "reason"),
    [
        (np.zeros((2, SIZE - 1), np.int8), np.ones((2, 105), np.int8), "an agent acts on observations"),
        (np.zeros((2, SIZE), np.int8), np.ones((1, 105), np.int8), "an agent acts on observations"),
        (None, None, "an agent acts on observations"),
        (np.zeros((1, SIZE), object), np.ones((1, 105), np.int8), "observations are numbers of type int8"),
        (np.full((1, SIZE), 0.5), np.ones((1, 105), np.int8), "whole numbers from -128 to 127"),
        (np.full((1, SIZE), np.nan), np.ones((1, 105), np.int8), "whole numbers from -128 to 127"),
        (np.full((1, SIZE), 300), np.ones((1, 105), np.int8), "whole numbers from -128 to 127"),
        (np.zeros((1, SIZE), np.int8), np.full((1, 105), 1000), "action masks are whole numbers"),
    ],
)
def test_arrays_that_are_no_decisions_are_refused(observations, masks, reason):
    for ask in (agents.make("tactician", MAIN).act, lambda *rows: append_features(MAIN, *rows)):
        with pytest.raises(ValueError, match=reason):
            ask(observations, masks)


def test_other_types_with_the_same_numbers_are_the_same():
    engine = Engine(MAIN, 16, seed=1)
    answers = [
        agents.make("tactician", MAIN, seed=1).act(engine.observation.astype(kind), engine.action_mask.astype(kind))
        for kind in (np.int8, np.int64, np.float32)
    ]
    assert (answers[0] == answers[1]).all()
    assert (answers[0] == answers[2]).all()


# ---------------------------------------------------------------------- what calls are given

NO_NUMBERS = (-1, 1.5, None, True, "3", 10**30)
NO_RULES = (3, [], Rules), r"rules are those of Rules\.preset or Rules\.parse, not"
CALLS = {
    "step": lambda engine, rows: engine.step([0, 0], rows),
    "sample_actions": lambda engine, rows: engine.sample_actions(rows),
    "restart": lambda engine, rows: engine.restart(rows, [1, 2]),
}
REFUSED = {  # an argument: how a call with it goes, values that are refused, and with what
    "steps": (
        lambda engine, steps: engine.play_games(steps),
        (*NO_NUMBERS, np.float64(2)),
        "steps is a whole number from 0 to 1,000,000,000,000, not",
    ),
    "games": (
        lambda _, games: Engine(MAIN, games),
        (*NO_NUMBERS, 0, 10**12),
        "num_games is a whole number from 1 to 16,777,216, not",
    ),
    "threads": (
        lambda _, threads: Engine(MAIN, 2, threads=threads),
        (-1, 1.5, None, 10**9),
        "threads is a whole number from 0 to 1,024, not",
    ),
    "history": (lambda _, history: Engine(MAIN, 1, history=history), ("yes", 3), "history is True or False, not"),
    "reward": (lambda _, reward: Engine(MAIN, 1, reward=reward), ("gold",), "centred, points, win"),
    "dense": (lambda _, dense: Engine(MAIN, 1, dense=dense), (True,), "reward='centred'"),
    "seed": (lambda _, seed: Engine(MAIN, 2, seed=seed), (-1, 1.5, "x"), "a seed is a whole number"),
    "seeds": (lambda _, seed: Engine(MAIN, 2, seed=seed), ([1, 2, 3],), "2 games need 2 seeds"),
    "rules": (lambda _, rules: Engine(rules, 2), *NO_RULES),
    "rules of a state": (lambda engine, rules: Engine.from_state(rules, engine.state), *NO_RULES),
    "rng": (
        lambda engine, rng: determinize(engine.observation, rng),
        (None, -1, 1.5, "x", True),
        "a seed is a whole number from 0 to",
    ),
    "observations": (lambda engine, size: determinize(engine.observation[:, :size], 0), (50,), "int8 of shape"),
    "actions": (
        lambda engine, actions: engine.step(actions),
        ([0], np.zeros(4), [[0, 0, 0, 0]]),
        "4 rows need 4 whole numbers",
    ),
    "large actions": (
        lambda engine, action: engine.step(np.full(4, action, np.uint64)),
        (2**63, 2**64 - 1),
        r"action \d+ is illegal in row 0",
    ),
    "large rows": (
        lambda engine, row: engine.step([0], rows=np.array([row], np.uint64)),
        (2**63, 2**64 - 1),
        r"there are only rows 0 to 3, not \d+ to \d+",
    ),
    **{f"rows named twice: {name}": (call, ([1, 1],), "row 1 is named more than once") for name, call in CALLS.items()},
    **{f"no rows: {name}": (call, ([0, 4], [-1, 0]), "rows 0 to 3") for name, call in CALLS.items()},
    **{f"rows of floats: {name}": (call, ([0.0, 1.0],), "whole numbers") for name, call in CALLS.items()},
}


@pytest.mark.parametrize(("call", "values", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_argument_is_refused_and_changes_nothing(call, values, reason):
    engine = Engine(MAIN, 4, seed=0)
    before = engine.state.tobytes()
    for value in values:
        with pytest.raises(ValueError, match=reason):
            call(engine, value)
    assert engine.state.tobytes() == before


def test_r10_who_is_choosing_what_to_take_holds_no_card_that_sweeps():
    rules = Rules.preset("krypkasino", players=3)
    engine, tried = Engine(rules, 512, seed=4), 0
    for step in range(150):
        engine.step(engine.sample_actions())
        rows = np.flatnonzero((engine.state.pending >= 0) & (engine.state.sweep_values != 0))
        if len(rows):
            others = (engine.seat + 1 + step % 2) % 3
            worlds = Engine.from_state(rules, determinize(seen_by(engine, others)[rows], step, rules))
            assert (worlds.state.pending >= 0).all()
            values = np.array(rules.hand_values)[np.arange(52) % 13]
            hands = worlds.state.hands[np.arange(len(rows)), worlds.seat]
            assert not (hands.astype(bool) & (worlds.state.sweep_values[:, None] >> values & 1 == 1)).any()
            tried += len(rows)
    assert tried > 20
