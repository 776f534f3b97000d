"""What holds for every agent: its string, and legal, seeded, honest play in every game of the family."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import RULES
from support.positions import decide, play_whole_games, played, with_choices
from support.relatives import BUILDING

from krypenv import Engine, Rules, agents, determinize
from krypenv.agents.base import options_of
from krypenv.agents.champion import MODELS
from krypenv.agents.scripted import Greedy, Tactician
from krypenv.cards import BUILD, NUM_ACTIONS
from krypenv.features import SIZE as FEATURES
from krypenv.observation import SIZE

MAIN = RULES["krypkasino players=2"]
TWO = str(MODELS / "two")
SCRIPTED = ["random", "greedy", "tactician", "tactician(shed=True)"]
SAMPLERS = ["search(worlds=12)", "rollout(worlds=6)", "ismcts(worlds=30)"]
ORACLES = ["oracle-cards", "oracle-hand", "oracle-deck"]
every_honest = pytest.mark.parametrize("spec", [*SCRIPTED, *SAMPLERS])


class Last:
    """Plays the legal action with the highest number."""

    def __init__(self, rules, seed=0):
        self.name, self.rules = "last", rules

    def act(self, observations, action_masks):
        return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)


# ---------------------------------------------------------------------- names and options


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        *((spec, spec) for spec in (*SCRIPTED, "search", "oracle-hand", "oracle-hand(plies=4)", "oracle-cards")),
        (" tactician( shed = False ) ", "tactician"),
        ("search(worlds=30, ms=0)", "search"),
        ("search(worlds=100, threads=2)", "search(worlds=100)"),
        ("search(value='margin', plies=3, ms=2.5)", "search(plies=3, value='margin', ms=2.5)"),
        ("rollout(deals=2, worlds=5)", "rollout(worlds=5, deals=2)"),
        ("ismcts(guided=False, explore=3)", "ismcts(explore=3, guided=False)"),
        ("oracle-deck(deals=1, plies=3)", "oracle-deck(plies=3, deals=1)"),
        ("oracle-cards(worlds=5, cards=2)", "oracle-cards(cards=2, worlds=5)"),
        (f"guided(model={TWO!r}, worlds=7)", f"guided(model={TWO!r}, worlds=7)"),
        (f"learned(solver=False, model={TWO!r})", f"learned(model={TWO!r}, solver=False)"),
    ],
)
def test_a_name_makes_the_agent_again(spec, name):
    assert agents.make(spec, MAIN).name == name
    assert agents.make(name, MAIN).name == name
    assert agents.format_spec(*agents.parse_spec(name)) == name


def test_names_and_options():
    assert {"random", "greedy", "tactician"} <= set(agents.names())
    assert "guided" not in agents.names()
    assert options_of(Tactician) == {"shed": False}
    assert options_of(Greedy) == {}
    assert agents.make(TWO, MAIN).name == agents.make(f"learned(model={TWO!r}, threads=2)", MAIN).name == TWO
    assert agents.parse_spec("search(worlds=100, name='a')") == ("search", {"worlds": 100, "name": "a"})


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("greddy", "unknown agent 'greddy' \\(did you mean 'greedy'\\?\\)"),
        ("minimax", "the agents are random, greedy, tactician"),
        ("greedy(depth=2)", "greedy has no option 'depth'; its options are: none"),
        ("tactician(sheds=True)", "no option 'sheds' \\(did you mean 'shed'\\?\\)"),
        ("tactician(shed=1)", "shed is of type bool"),
        ("tactician(True)", "names no agent"),
        ("tactician(shed=open('x'))", "names no agent"),
        ("tactician.shed", "names no agent"),
        ("", "names no agent"),
        ("runs/missing", "there is no model folder 'runs/missing'"),
        ("search(worlds=0)", "worlds, .* from 1 to 1000000000, not 0"),
        ("search(worlds=10**30)", "names no agent"),
        ("search(worlds=1.5)", "worlds is of type int"),
        ("search(plies=-1)", "plies, .* from 0 to 32, not -1"),
        ("oracle-hand(plies=33)", "plies, .* from 0 to 32, not 33"),
        ("oracle-cards(cards=105)", "cards, the cards seen of each other hand, is from 0 to 104, not 105"),
        ("search(method='x')", "method is paranoid or max_n, not 'x'"),
        ("rollout(value='x')", "value is .* not 'x'"),
        ("search(ms=1e999)", "ms, .* from 0 to 1000000000, not inf"),
        ("search(threads=1000000)", "threads, .* from 0 to 1024, not 1000000"),
        ("ismcts(worlds=1000000, threads=1024)", "need too much memory"),
        ("ismcts(explore=-0.5)", "explore, .* from 0 to 1000000, not -0.5"),
        ("rollout(deals=105)", "deals, .* from 1 to 104, not 105"),
        ("champion(worlds=-1)", "worlds, .* .0 for the network alone., is from 0 to 1000000000, not -1"),
        ("learned()", "name its folder"),
        ("learned(model='nowhere', temperature=-1)", "temperature, the divisor of scores .* is from 0 to .*, not -1"),
        ("guided(model='nowhere')", "nowhere is no model"),
        ("guided(model='nowhere', proposals=0)", "proposals, .* is from 1 to 1000, not 0"),
        ("guided(model='nowhere', prior=-1.0)", "prior, .* from 0 to 1000000, not -1"),
        (f"guided(model={TWO!r}, worlds=1000000, proposals=1000)", "need too much memory"),
    ],
)
def test_a_bad_string_gets_one_sentence(spec, complaint):
    with pytest.raises(ValueError, match=complaint) as caught:
        agents.make(spec, MAIN)
    assert "\n" not in str(caught.value)


def test_a_folder_does_not_hide_an_agent_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "greedy").mkdir()
    monkeypatch.chdir(tmp_path)
    assert isinstance(agents.make("greedy", MAIN), Greedy)


# ---------------------------------------------------------------------- legal play

SPECS = [
    "random", "search(worlds=1, method='paranoid', plies=3, value='margin')", "rollout(worlds=1, deals=2)",
    "ismcts(worlds=3, guided=False, explore=0)", "oracle-deck(deals=1)", "champion(worlds=1)", f"{__name__}:Last",
]  # fmt: skip
GAMES = [
    *map(Rules.preset, Rules.presets()),
    Rules.preset("krypkasino", players=6, teams=3, games=2),
    *BUILDING.values(),
]


@pytest.mark.parametrize(
    ("spec", "rules"), [(SPECS[(at + at // len(GAMES)) % 7], GAMES[at % len(GAMES)]) for at in range(50)], ids=str
)
def test_b2_agents_play_all_games_legally_to_the_end(spec, rules):
    """Other agents do so too, where their choices are frozen."""
    chosen = play_whole_games(rules, [agents.make(spec, rules, seed=2)], 2, features=rules.players == 2)
    assert max(chosen) >= BUILD or not rules.building


def test_random_is_uniform_over_all_legal_actions():
    engine = Engine(MAIN, 1, seed=1)
    (legal,) = np.nonzero(engine.action_mask[0])
    assert len(legal) >= 3
    rows = (np.repeat(array, 60_000, axis=0) for array in (engine.observation, engine.action_mask))
    actions = agents.make("random", MAIN, seed=1).act(*rows)
    shares = [float((actions == action).mean()) for action in legal]
    assert sum(shares) == pytest.approx(1)
    assert shares == pytest.approx([1 / len(legal)] * len(legal), abs=0.01)


# ---------------------------------------------------------------------- what decides


@pytest.mark.parametrize("spec", [*SCRIPTED, *SAMPLERS, *ORACLES])
def test_the_seed_decides_and_the_features_block_changes_nothing(spec):
    engine = played(MAIN, 512, 45, features=True) if spec in SCRIPTED else with_choices(MAIN, features=True)
    assert engine.observation.shape[1] == SIZE + FEATURES
    actions = decide(agents.make(spec, MAIN, 5), engine)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, decide(agents.make(spec, MAIN, 5), engine))
    if spec not in ORACLES:
        base = agents.make(spec, MAIN, 5).act(engine.observation[:, :SIZE], engine.action_mask)
        np.testing.assert_array_equal(actions, base)
        assert any((decide(agents.make(spec, MAIN, seed), engine) != actions).any() for seed in range(6, 12))


@every_honest
@pytest.mark.parametrize("text", ["krypkasino players=2", "krypkasino players=3"])
def test_no_agent_but_an_oracle_minds_cards_that_it_cannot_see(spec, text):
    engine = with_choices(RULES[text], 32)
    other = Engine.from_state(engine.rules, determinize(engine.observation, 3, engine.rules))
    assert (other.state.hands != engine.state.hands).any()
    one, two = (decide(agents.make(spec, engine.rules, 4), each) for each in (engine, other))
    np.testing.assert_array_equal(one, two)
    oracle = agents.make("oracle-hand", engine.rules, 4)
    assert (decide(oracle, engine) != decide(oracle, other)).any()


@pytest.mark.parametrize("spec", ORACLES)
def test_an_oracle_says_that_observations_are_not_enough(spec):
    engine = with_choices(MAIN, games=1)
    with pytest.raises(TypeError, match=f"{spec} cheats: it needs whole games"):
        agents.make(spec, MAIN).act(engine.observation, engine.action_mask)
    assert [name for name in agents.names() if getattr(agents.make(name, MAIN), "cheats", False)] == ORACLES


@every_honest
def test_one_row_says_nothing_to_another(spec):
    engine = with_choices(MAIN)
    actions = decide(agents.make(spec, MAIN, 2), engine)
    observations, masks = engine.observation.copy(), engine.action_mask.copy()
    for rows in (slice(0, 1), slice(0, 7)):
        few = agents.make(spec, MAIN, 2).act(observations[rows], masks[rows])
        np.testing.assert_array_equal(few, actions[rows])
    observations[:8], masks[:8] = observations[8:], masks[8:]
    np.testing.assert_array_equal(agents.make(spec, MAIN, 2).act(observations, masks)[8:], actions[8:])


@every_honest
def test_a_row_without_a_legal_action_and_other_shapes_are_refused(spec):
    agent, engine = agents.make(spec, MAIN), with_choices(MAIN, games=2)
    with pytest.raises(ValueError, match="no legal action"):
        agent.act(engine.observation, np.zeros((2, NUM_ACTIONS), np.int8))
    for observations, masks in (
        (engine.observation[0], engine.action_mask[0]),
        (engine.observation[:, :-1], engine.action_mask),
        (engine.observation, engine.action_mask[:1]),
    ):
        with pytest.raises(ValueError, match="observations"):
            agent.act(observations, masks)


@pytest.mark.parametrize(
    "spec",
    [*SCRIPTED, *SAMPLERS, pytest.param("search(threads=2)", marks=pytest.mark.slow), "search(ms=1.0)"],
)
def test_no_rows_are_no_actions(spec):
    actions = agents.make(spec, MAIN).act(np.zeros((0, SIZE), np.int8), np.zeros((0, NUM_ACTIONS), np.int8))
    assert actions.shape == (0,)
    assert actions.dtype == np.int64
