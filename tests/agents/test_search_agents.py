"""The agents that search: legal, seeded, honest, the same however they are run, and strong where it can be told."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from support.games import RULES, lay, small_first, stacked
from support.solving import futures, margin, minimax, twins

from krypenv import Engine, Rules, agents, determinize
from krypenv.agents import Agent
from krypenv.agents.search import sampler
from krypenv.cards import NUM_ACTIONS, TAKE, action_name
from krypenv.features import SIZE as FEATURES
from krypenv.observation import SIZE
from krypenv.training import duplicate_match

MAIN = RULES["krypkasino players=2"]
SAMPLERS = ["search(worlds=12)", "rollout(worlds=6)", "ismcts(worlds=30)"]
every_sampler = pytest.mark.parametrize("spec", SAMPLERS)
every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


def some_games(rules: Rules = MAIN, games: int = 16, features: bool = False) -> Engine:
    """Games with a choice to make at different points, a third of them in the middle of a play if there are such."""
    rng = np.random.default_rng(0)
    engine = stacked(rules, np.array([small_first(rules, rng) for _ in range(64)]))
    taking, playing = [], []
    for _ in range(40):
        has_choice, takes = engine.action_mask.sum(axis=1) > 1, engine.action_mask[:, TAKE:].any(axis=1)
        taking.append(engine.state[has_choice & takes])
        playing.append(engine.state[has_choice & ~takes][:2])
        engine.step(engine.sample_actions())
    middle = np.concatenate(taking)[: games // 3]
    others = np.concatenate(playing)
    chosen = np.linspace(0, len(others) - 1, games - len(middle)).astype(int)
    return Engine.from_state(rules, np.concatenate([middle, others[chosen]]).view(np.recarray), features)


def choose(agent: Agent, engine: Engine) -> np.ndarray:
    """What an agent does in all games."""
    if getattr(agent, "cheats", False):
        return agent.act_on(engine.state.copy(), engine.action_mask)
    return agent.act(engine.observation, engine.action_mask)


# ---------------------------------------------------------------------- names and options


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("search", "search"),
        ("search(worlds=30, ms=0)", "search"),
        ("search(worlds=100, threads=2)", "search(worlds=100)"),
        (
            "search(value='margin', plies=3, method='paranoid', ms=2.5)",
            "search(plies=3, method='paranoid', value='margin', ms=2.5)",
        ),
        ("rollout(deals=2, worlds=5)", "rollout(worlds=5, deals=2)"),
        ("ismcts(guided=False, explore=3)", "ismcts(explore=3, guided=False)"),
        ("oracle-hand", "oracle-hand"),
        ("oracle-hand(plies=4)", "oracle-hand(plies=4)"),
        ("oracle-deck(deals=1, value='margin')", "oracle-deck(value='margin', deals=1)"),
    ],
)
def test_a_name_makes_the_agent_again(spec: str, name: str) -> None:
    assert agents.make(spec, MAIN).name == name
    assert agents.make(name, MAIN).name == name


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("search(worlds=0)", "worlds, .* from 1 to 1000000000, not 0"),
        ("rollout(worlds=-3)", "worlds, .* from 1 to 1000000000, not -3"),
        ("ismcts(worlds=0)", "worlds, .* from 1 to 1000000000, not 0"),
        ("search(plies=-1)", "plies, .* from 0 to 32, not -1"),
        ("search(plies=1000)", "plies, .* from 0 to 32, not 1000"),
        ("oracle-hand(plies=33)", "plies, .* from 0 to 32, not 33"),
        ("search(method='x')", "method is paranoid or max_n, not 'x'"),
        ("oracle-deck(method='x')", "method is paranoid or max_n, not 'x'"),
        ("search(value='x')", "value is .* not 'x'"),
        ("rollout(value='x')", "value is .* not 'x'"),
        ("ismcts(value='x')", "value is .* not 'x'"),
        ("oracle-hand(value='x')", "value is .* not 'x'"),
        ("search(ms=-1)", "ms, .* from 0 to 1000000000, not -1"),
        ("ismcts(ms=-0.5)", "ms, .* from 0 to 1000000000, not -0.5"),
        ("search(threads=-1)", "threads, .* from 0 to 1024, not -1"),
        ("ismcts(explore=-1)", "explore, .* from 0 to 1000000, not -1"),
        ("rollout(deals=0)", "deals, .* from 1 to 104, not 0"),
        ("oracle-deck(deals=0)", "deals, .* from 1 to 104, not 0"),
        ("search(worlds=1000000001)", "worlds, .* from 1 to 1000000000, not 1000000001"),
        ("rollout(worlds=99999999999999999999)", "worlds, .* not 99999999999999999999"),
        ("search(worlds=10**30)", "names no agent"),
        ("search(threads=1000000)", "threads, .* from 0 to 1024, not 1000000"),
        ("ismcts(worlds=1000000, threads=1024)", "need too much memory"),
        ("ismcts(explore=1e999)", "explore, .* not inf"),
        ("search(ms=1e999)", "ms, .* not inf"),
        ("rollout(deals=105)", "deals, .* from 1 to 104, not 105"),
        ("search(world=3)", "no option 'world'"),
        ("search(worlds=1.5)", "worlds is of type int"),
        ("search(worlds=True)", "worlds is of type int"),
        ("oracle-hand(worlds=3)", "no option 'worlds'"),
    ],
)
def test_a_bad_option_gets_one_sentence(spec: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        agents.make(spec, MAIN)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", SAMPLERS)
def test_a_row_without_a_legal_action_and_other_shapes_are_refused(spec: str) -> None:
    agent = agents.make(spec, MAIN)
    engine = some_games(games=2)
    with pytest.raises(ValueError, match="no legal action"):
        agent.act(engine.observation, np.zeros((2, NUM_ACTIONS), np.int8))
    with pytest.raises(ValueError, match="observations"):
        agent.act(engine.observation[0], engine.action_mask[0])
    with pytest.raises(ValueError, match="observations"):
        agent.act(engine.observation[:, :-1], engine.action_mask)
    with pytest.raises(ValueError, match="observations"):
        agent.act(engine.observation, engine.action_mask[:1])


# ---------------------------------------------------------------------- what they do

PLAYERS = [
    "search(worlds=3)",
    "search(worlds=2, method='paranoid', plies=3, value='margin')",
    "rollout(worlds=2, deals=2)",
    "ismcts(worlds=6)",
    "ismcts(worlds=6, guided=False, explore=0)",
    "oracle-hand",
    "oracle-deck(deals=1)",
    "oracle-deck(deals=99, method='paranoid')",
]


@every_rules
def test_actions_are_legal(rules: Rules) -> None:
    """The engine refuses others. Every agent comes to act in the middle of plays too."""
    players = [agents.make(spec, rules, seed) for seed, spec in enumerate(PLAYERS)]
    for features in (False, True):
        engine = some_games(rules, 6, features)
        assert engine.action_mask[:, TAKE:].any() or rules.deck_size < 52
        for step in range(5 * len(players)):
            engine.step(choose(players[step % len(players)], engine))


@pytest.mark.parametrize("spec", [*SAMPLERS, "oracle-hand", "oracle-deck"])
def test_the_seed_decides_and_the_features_block_changes_nothing(spec: str) -> None:
    engine = some_games(features=True)
    actions = choose(agents.make(spec, MAIN, 5), engine)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, choose(agents.make(spec, MAIN, 5), engine))
    if spec in SAMPLERS:
        assert engine.observation.shape[1] == SIZE + FEATURES
        base = agents.make(spec, MAIN, 5).act(engine.observation[:, :SIZE], engine.action_mask)
        np.testing.assert_array_equal(actions, base)
        assert any((choose(agents.make(spec, MAIN, seed), engine) != actions).any() for seed in range(6, 12))


@pytest.mark.slow
@every_sampler
@pytest.mark.parametrize("text", ["krypkasino players=2", "krypkasino players=4 teams=2"])
def test_threads_change_nothing(spec: str, text: str) -> None:
    engine = some_games(RULES[text], 13)
    alone = choose(agents.make(spec, engine.rules, 1), engine)
    for threads in (2, 3, 0):
        shared = agents.make(spec.replace(")", f", threads={threads})"), engine.rules, 1)
        np.testing.assert_array_equal(choose(shared, engine), alone)
        assert shared.name == spec


@every_sampler
def test_one_row_says_nothing_to_another(spec: str) -> None:
    engine = some_games()
    actions = choose(agents.make(spec, MAIN, 2), engine)
    observations, masks = engine.observation.copy(), engine.action_mask.copy()
    for rows in (slice(0, 1), slice(0, 7)):
        few = agents.make(spec, MAIN, 2).act(observations[rows], masks[rows])
        np.testing.assert_array_equal(few, actions[rows])
    observations[:8], masks[:8] = observations[8:], masks[8:]
    np.testing.assert_array_equal(agents.make(spec, MAIN, 2).act(observations, masks)[8:], actions[8:])


@pytest.mark.parametrize(
    "spec", [*SAMPLERS, pytest.param("search(threads=2)", marks=pytest.mark.slow), "search(ms=1.0)"]
)
def test_no_rows_are_no_actions(spec: str) -> None:
    actions = agents.make(spec, MAIN).act(np.zeros((0, SIZE), np.int8), np.zeros((0, NUM_ACTIONS), np.int8))
    assert actions.shape == (0,)
    assert actions.dtype == np.int64


# ---------------------------------------------------------------------- what they know


@every_sampler
@pytest.mark.parametrize("text", ["krypkasino players=2", "krypkasino players=3", "mini-low players=2"])
def test_no_agent_but_an_oracle_minds_cards_that_it_cannot_see(spec: str, text: str) -> None:
    engine = some_games(RULES[text], 32)
    other = Engine.from_state(engine.rules, determinize(engine.observation, 3, engine.rules))
    assert (other.state.hands != engine.state.hands).any()
    np.testing.assert_array_equal(
        choose(agents.make(spec, engine.rules, 4), engine), choose(agents.make(spec, engine.rules, 4), other)
    )
    oracle = agents.make("oracle-hand", engine.rules, 4)
    assert (choose(oracle, engine) != choose(oracle, other)).any()


@pytest.mark.parametrize("spec", ["oracle-hand", "oracle-deck"])
def test_an_oracle_says_that_observations_are_not_enough(spec: str) -> None:
    engine = some_games(games=1)
    with pytest.raises(TypeError, match=f"{spec} cheats: it needs whole games"):
        agents.make(spec, MAIN).act(engine.observation, engine.action_mask)
    assert [name for name in agents.names() if getattr(agents.make(name, MAIN), "cheats", False)] == [
        "oracle-hand",
        "oracle-deck",
    ]


def test_where_nothing_is_hidden_search_does_what_oracle_hand_does() -> None:
    rules = RULES["mini-high players=2"]
    engine = Engine(rules, 300, seed=2)
    known = 0
    for _ in range(30):
        rows = np.flatnonzero((engine.state.next_card == rules.deck_size) & (engine.action_mask.sum(axis=1) > 1))
        part = engine.select(rows)
        actions = choose(agents.make("search(worlds=1)", rules), part)
        np.testing.assert_array_equal(actions, choose(agents.make("oracle-hand", rules), part))
        known += len(rows)
        engine.step(engine.sample_actions())
    assert known > 100


# ---------------------------------------------------------------------- a time limit


def set_clock(monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    monkeypatch.setattr(sampler, "time", SimpleNamespace(perf_counter=clock))


@pytest.mark.parametrize("name", ["search", "rollout", "ismcts"])
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_time_limit_cuts_worlds_off_and_changes_nothing_else(
    name: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that stands still leaves all worlds, in several goes; one that runs leaves those of the first go."""
    engine = some_games(games=17)
    limited = f"{name}(worlds=23, ms=5.0, threads={threads})"
    all_worlds = choose(agents.make(f"{name}(worlds=23)", MAIN, 3), engine)
    few_worlds = choose(agents.make(f"{name}(worlds={sampler.BATCH})", MAIN, 3), engine)
    assert (all_worlds != few_worlds).any()
    set_clock(monkeypatch, lambda: 0.0)
    np.testing.assert_array_equal(choose(agents.make(limited, MAIN, 3), engine), all_worlds)
    set_clock(monkeypatch, itertools.count().__next__)
    np.testing.assert_array_equal(choose(agents.make(limited, MAIN, 3), engine), few_worlds)


# ---------------------------------------------------------------------- what they are worth


def test_examine_shows_the_margins_that_search_goes_by() -> None:
    engine = some_games()
    for row in range(engine.num_games):
        seen, mask = engine.observation[row], engine.action_mask[row]
        moves, margins = agents.make("search(worlds=5)", MAIN, 7).examine(seen, mask)
        assert margins.shape == (5, len(moves))
        assert margins.std(axis=0).max() > 0
        best = moves[np.argmax(margins.sum(axis=0))]
        action = int(agents.make("search(worlds=5)", MAIN, 7).act(seen[None], mask[None])[0])
        is_play = action < TAKE
        assert best["card"] == action if is_play else int(best["once"]) >> (action - TAKE) & 1


def known_positions(rules: Rules, seeds: range) -> list[tuple[np.ndarray, np.ndarray, dict[int, float]]]:
    """What the seat to act sees in last deals of two: observation, mask, and the exact margin of each action."""
    found = []
    for seed in seeds:
        for game, reference in twins(rules, seed):
            held = sum(map(len, reference.hands))
            if not reference.stock and 2 < held < 6 and reference.pending is None:
                values: dict[int, float] = {}
                for move, (twin, is_end) in zip(reference.legal_moves(), futures(reference), strict=True):
                    value = margin(twin, reference.turn) if is_end else minimax(twin, reference.turn)
                    values[move[0]] = max(value, values.get(move[0], value))
                if len(set(values.values())) > 1:
                    found.append((game.observation(), game.action_mask(), values))
    return found


def test_ismcts_comes_to_the_best_move_where_nothing_is_hidden() -> None:
    """Upper confidence bounds converge to the minimax value (Kocsis and Szepesvari 2006)."""
    rules = RULES["mini-high players=2"]
    positions = known_positions(rules, range(30))
    observations, masks, values = zip(*positions, strict=True)
    actions = agents.make("ismcts(worlds=3000)", rules).act(np.array(observations), np.array(masks))
    right = [value[int(action)] == max(value.values()) for value, action in zip(values, actions, strict=True)]
    print(len(right), sum(right))
    assert all(right)


@every_sampler
def test_a_sweep_that_the_other_hand_must_make_is_set_up(spec: str) -> None:
    """In the last deal: with the three on the two, the five has to sweep (R9, R10)."""
    game = lay("2C", "3D JH", "5C QH")
    action = int(agents.make(spec, MAIN).act(game.observation()[None], game.action_mask()[None])[0])
    assert action_name(action) == "play 3D"


def test_search_beats_greedy() -> None:
    result = duplicate_match("search(worlds=10)", "greedy", MAIN, deals=20, seed=1)
    print(result.margin, result.low)
    assert result.low > 0
