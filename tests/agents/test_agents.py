"""Agents: their strings, their legality under all rules, and what they choose."""

import numpy as np
import pytest

from krypenv import Engine, Rules, agents
from krypenv.agents.base import options_of
from krypenv.agents.scripted import Greedy, Tactician
from krypenv.cards import NUM_ACTIONS, NUM_KINDS
from krypenv.families import krypkasino
from krypenv.features import COLUMNS, WIDTH
from krypenv.observation import SIZE

SPECS = ["random", "greedy", "tactician", "tactician(shed=True)"]
VARIANTS = [
    {"first_deal": "six_table"},
    {"set_aside": "spades", "last_capture_points": 1},
    {"forced_sweep": False, "storan_points": 0},
    {"players": 4, "teams": 2},
    {"players": 6, "teams": 2},
    {"players": 6, "teams": 3, "games": 2},
]
RULES = Rules.preset("krypkasino")


def all_rules() -> list[Rules]:
    """Every preset of Krypkasino with every number of players that it takes, and the variants."""
    found = [Rules.preset("krypkasino", **fields) for fields in VARIANTS]
    for name in krypkasino.PRESETS:
        for players in range(2, 7):
            try:
                found.append(Rules.preset(name, players=players))
            except ValueError:
                continue
    return found


def played_engine(rules: Rules = RULES, games: int = 512, features: bool = True) -> Engine:
    """An engine some steps into its games, so that its rows stand at different points of the deals."""
    engine = Engine(rules, games, seed=3, features=features)
    for _ in range(45):
        engine.step(engine.sample_actions())
    return engine


def column(engine: Engine, name: str) -> np.ndarray:
    """One entry of the features block for each legal action, (B, 105) floats; nan where illegal."""
    block = engine.observation[:, SIZE:].reshape(-1, NUM_KINDS, WIDTH)[:, :, COLUMNS[name].start].astype(float)
    values = np.concatenate([block, block, np.full((len(block), 1), np.nan)], axis=1)
    return np.where(engine.action_mask == 1, values, np.nan)


# ---------------------------------------------------------------------- names


@pytest.mark.parametrize("spec", SPECS)
def test_the_name_of_an_agent_makes_it_again(spec):
    assert agents.make(spec, RULES).name == spec
    assert agents.format_spec(*agents.parse_spec(spec)) == spec


def test_names_and_options():
    assert {"random", "greedy", "tactician"} <= set(agents.names())
    assert options_of(Tactician) == {"shed": False}
    assert options_of(Greedy) == {}
    assert agents.make(" tactician( shed = False ) ", RULES).name == "tactician"
    assert agents.parse_spec("search(worlds=100, name='a')") == ("search", {"worlds": 100, "name": "a"})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("greddy", "unknown agent 'greddy' \\(did you mean 'greedy'\\?\\)"),
        ("minimax", "the agents are random, greedy, tactician"),
        ("greedy(depth=2)", "greedy has no option 'depth'; its options are: none"),
        ("tactician(sheds=True)", "no option 'sheds' \\(did you mean 'shed'\\?\\)"),
        ("tactician(shed=1)", "shed is of type bool"),
        ("tactician(True)", "names no agent"),
        ("tactician(**{})", "names no agent|no option"),
        ("tactician(shed=open('x'))", "names no agent"),
        ("tactician.shed", "names no agent"),
        ("", "names no agent"),
        ("runs/missing", "there is no model folder 'runs/missing'"),
    ],
)
def test_a_bad_name_is_refused_with_the_reason(spec, message):
    with pytest.raises(ValueError, match=message):
        agents.make(spec, RULES)


def test_a_folder_does_not_hide_an_agent_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "greedy").mkdir()
    monkeypatch.chdir(tmp_path)
    assert isinstance(agents.make("greedy", RULES), Greedy)


# ---------------------------------------------------------------------- play


@pytest.mark.parametrize("rules", all_rules(), ids=str)
def test_agents_play_legally(rules):
    for features in (False, True):
        engine = Engine(rules, 24, seed=1, features=features)
        players = [agents.make(spec, rules, seed=2) for spec in SPECS]
        for step in range(120):
            engine.step(players[step % len(players)].act(engine.observation, engine.action_mask))


@pytest.mark.parametrize("spec", SPECS)
def test_the_seed_decides_and_the_features_block_changes_nothing(spec):
    engine = played_engine()
    masks, base = engine.action_mask, engine.observation[:, :SIZE]
    actions = agents.make(spec, RULES, seed=5).act(engine.observation, masks)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, agents.make(spec, RULES, seed=5).act(base, masks))
    assert (actions != agents.make(spec, RULES, seed=6).act(base, masks)).any()


def test_random_is_uniform_over_all_legal_actions():
    engine = Engine(RULES, 1, seed=1)
    (legal,) = np.nonzero(engine.action_mask[0])
    assert len(legal) >= 3
    rows = (np.repeat(array, 60_000, axis=0) for array in (engine.observation, engine.action_mask))
    actions = agents.make("random", RULES, seed=1).act(*rows)
    shares = [float((actions == action).mean()) for action in legal]
    assert sum(shares) == pytest.approx(1)
    assert shares == pytest.approx([1 / len(legal)] * len(legal), abs=0.01)


def test_greedy_takes_the_fewest_points():
    engine = played_engine()
    count = column(engine, "least_points") + 5 * column(engine, "sweeps")
    actions = agents.make("greedy", RULES).act(engine.observation, engine.action_mask)
    np.testing.assert_array_equal(count[np.arange(len(count)), actions], np.nanmin(count, axis=1))


def test_tactician_has_the_lowest_count():
    engine = played_engine()
    count = column(engine, "points") + 5 * (column(engine, "sweeps") - column(engine, "chance") / 100)
    actions = agents.make("tactician", RULES).act(engine.observation, engine.action_mask)
    loss = count[np.arange(len(count)), actions] - np.nanmin(count, axis=1)
    assert loss.max() <= 5 * 0.01 + 1e-9  # the block has the chance in whole percent


def test_tactician_sheds_the_highest_card_where_all_creep_alike():
    engine = played_engine(games=8192)
    alike = (np.nan_to_num(column(engine, "creeps"), nan=1) == 1).all(axis=1)
    alike &= np.nansum(column(engine, "chance") + column(engine, "points"), axis=1) == 0
    hand_value = np.array(RULES.hand_values)[np.arange(NUM_KINDS) % 13]
    plays = engine.action_mask[alike, :NUM_KINDS]
    assert len(plays) > 20
    actions = agents.make("tactician(shed=True)", RULES).act(engine.observation[alike], engine.action_mask[alike])
    np.testing.assert_array_equal(hand_value[actions], (plays * hand_value).max(axis=1))


@pytest.mark.parametrize("spec", SPECS)
def test_a_row_without_a_legal_action_and_other_shapes_are_refused(spec):
    agent = agents.make(spec, RULES)
    with pytest.raises(ValueError, match="no legal action"):
        agent.act(np.zeros((1, SIZE), np.int8), np.zeros((1, NUM_ACTIONS), np.int8))
    with pytest.raises(ValueError, match="observations"):
        agent.act(np.zeros(SIZE, np.int8), np.ones(NUM_ACTIONS, np.int8))
    with pytest.raises(ValueError, match="observations"):
        agent.act(np.zeros((2, SIZE - 1), np.int8), np.ones((2, NUM_ACTIONS), np.int8))
