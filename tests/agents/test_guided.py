"""The agent that plays deals out with a network: the network's own choices, legal, seeded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.games import RULES
from support.networks import _play_rows, some_games, some_network

from krypenv import Engine, Rules, agents
from krypenv.agents.neural.guided import Guided
from krypenv.agents.neural.inference import REWARD_SCALE, Weights, make_network_scratch
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import save_model
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import compile_rules
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import handle

MAIN = RULES["krypkasino players=2"]
DEALS_LEFT = LAYOUT["deals_left"].start
TEAMS = RULES["krypkasino players=4 teams=2"]
every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[Rules, str]:
    """A model's folder for each of the rules."""
    folder = tmp_path_factory.mktemp("models")
    return {
        rules: str(save_model(folder / str(number), some_network(), rules))
        for number, rules in enumerate(RULES.values())
    }


def guided(models: dict[Rules, str], rules: Rules = MAIN, seed: int = 5, **options: float | str) -> Guided:
    """The agent with a few worlds."""
    return Guided(rules, seed, model=models[rules], **{"worlds": 10, **options})


# ---------------------------------------------------------------------- playing on


@pytest.mark.parametrize("text", ["krypkasino players=2", "krypkasino players=4 teams=2", "howto players=3"])
@pytest.mark.parametrize("deals", [1, 2])
def test_games_are_played_on_as_the_learned_agent_plays_them(text: str, deals: int) -> None:
    """Row by row, up to the first position of the deal after the last one."""
    rules, weights = RULES[text], Weights.of(some_network())
    engine, agent = some_games(rules), LearnedAgent(weights, rules, "network", solver=False)
    state = engine.state.copy()
    _play_rows(compile_rules(rules), weights, handle(state), deals, make_network_scratch(), borrow_scratch())
    ends = engine.state.deal_number + deals
    waiting = np.ones(engine.num_games, bool)
    while waiting.any():
        engine.step(agent.act(engine.observation, engine.action_mask))
        for row in np.flatnonzero(waiting & (engine.state.deal_number == ends)):
            for name in ("hands", "table", "points", "sweeps", "seat", "set_aside"):
                np.testing.assert_array_equal(state[row][name], engine.state[row][name])
            waiting[row] = False


# ---------------------------------------------------------------------- the agent


@every_rules
def test_actions_are_legal(models: dict[Rules, str], rules: Rules) -> None:
    """The engine refuses others."""
    engine = some_games(rules, 4)
    players = [guided(models, rules, worlds=2), guided(models, rules, worlds=3, deals=2, value="margin", prior=0.0)]
    for step in range(24):
        engine.step(players[step % 2].act(engine.observation, engine.action_mask))


def test_the_seed_decides(models: dict[Rules, str]) -> None:
    engine = some_games(MAIN)
    actions = guided(models).act(engine.observation, engine.action_mask)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, guided(models).act(engine.observation, engine.action_mask))
    others = [guided(models, seed=seed).act(engine.observation, engine.action_mask) for seed in range(6, 12)]
    assert any((other != actions).any() for other in others)


@pytest.mark.slow
@pytest.mark.parametrize("rules", [MAIN, TEAMS], ids=str)
def test_threads_change_nothing(models: dict[Rules, str], rules: Rules) -> None:
    engine = some_games(rules, 13)
    alone, shared = guided(models, rules), guided(models, rules, threads=3)
    asked = engine.observation, engine.action_mask
    np.testing.assert_array_equal(alone.action_values(*asked), shared.action_values(*asked))
    np.testing.assert_array_equal(alone.act(*asked), shared.act(*asked))
    assert alone.name == shared.name


def test_a_look_at_the_clock_changes_nothing_while_there_is_time(models: dict[Rules, str]) -> None:
    engine = some_games(MAIN)
    asked = engine.observation, engine.action_mask
    np.testing.assert_array_equal(guided(models).act(*asked), guided(models, ms=1e9).act(*asked))
    hasty = guided(models, worlds=10**9, ms=0.01).act(*asked)
    assert np.take_along_axis(engine.action_mask, hasty[:, None], axis=1).all()


@pytest.mark.parametrize("rules", [MAIN, TEAMS], ids=str)
def test_values_are_of_legal_actions_and_the_best_is_played(models: dict[Rules, str], rules: Rules) -> None:
    engine = some_games(rules)
    masks = engine.action_mask
    values = guided(models, rules).action_values(engine.observation, masks)
    assert values.shape == masks.shape
    assert (values[masks == 0] == -np.inf).all()
    assert not np.isnan(values).any()
    assert (np.isfinite(values).sum(axis=1) > 1).any()
    np.testing.assert_array_equal(values.argmax(axis=1), guided(models, rules).act(engine.observation, masks))


def test_a_large_prior_leaves_the_choice_to_the_network(models: dict[Rules, str]) -> None:
    engine = some_games(MAIN)
    actions = guided(models, prior=1e6).act(engine.observation, engine.action_mask)
    network = LearnedAgent(Weights.of(some_network()), MAIN, "network")
    np.testing.assert_array_equal(actions, network.act(engine.observation, engine.action_mask))
    assert (guided(models, prior=0.0).act(engine.observation, engine.action_mask) != actions).any()


@pytest.mark.parametrize("rules", [MAIN, TEAMS], ids=str)
def test_what_follows_the_deal_can_be_valued_by_the_network(rules: Rules, tmp_path: Path) -> None:
    """A network that expects 3 points against the mean for whoever leads: 6 for that side's margin, or against it.

    After the last play of a deal the same seat leads the next one whatever was played, so nothing else changes.
    """
    network = some_network()
    network["value.weight"] *= 0
    network["value.bias"][:] = 3 * REWARD_SCALE
    model = str(save_model(tmp_path / "model", network, rules))
    engine = some_games(rules, games=64, steps=3 * rules.players)
    values = {
        value: Guided(rules, 5, model=model, worlds=4, prior=0.0, value=value).action_values(
            engine.observation, engine.action_mask
        )
        for value in ("network", "margin")
    }
    leader = (engine.state.dealer + 1) % rules.players  # R5
    sign = np.where(leader % rules.num_teams == engine.seat % rules.num_teams, 1, -1)
    tried = np.isfinite(values["margin"]) & (engine.action_mask.sum(axis=1) > 1)[:, None]
    assert tried.any(axis=1).sum() > 20
    assert set(sign[tried.any(axis=1)]) == {-1, 1}
    np.testing.assert_array_equal(np.isfinite(values["network"]), np.isfinite(values["margin"]))
    difference = values["network"] - np.where(tried, values["margin"], 0)
    assert difference[tried] == pytest.approx(np.broadcast_to(6 * sign[:, None], tried.shape)[tried], abs=1e-4)


@pytest.mark.parametrize(
    ("rules", "settings", "message"),
    [
        (RULES["krypkasino players=3"], {}, "of use between two sides only, not 3"),
        (MAIN, {"reward": "win"}, "expects win, not points against the other side"),
    ],
)
def test_where_the_network_has_no_value_to_give(
    rules: Rules, settings: dict[str, str], message: str, tmp_path: Path
) -> None:
    model = str(save_model(tmp_path / "model", some_network(), rules, settings=settings))
    with pytest.raises(ValueError, match=message):
        Guided(rules, model=model, value="network")
    assert Guided(rules, model=model).name == f"guided(model={model!r})"


def test_a_hand_that_was_counted_is_searched(models: dict[Rules, str]) -> None:
    """In the last deal of two the network has no say."""
    engine = Engine(MAIN, 16, seed=3)
    while engine.observation[0, DEALS_LEFT] > 0:
        engine.step(engine.sample_actions())
    asked = engine.observation, engine.action_mask
    last = engine.observation[:, DEALS_LEFT] == 0
    searched = agents.make("search", MAIN).action_values(*asked)
    np.testing.assert_array_equal(guided(models).action_values(*asked)[last], searched[last])


# ---------------------------------------------------------------------- its name


def test_the_name_makes_the_agent_again(models: dict[Rules, str]) -> None:
    spec = f"guided(model={models[MAIN]!r}, worlds=7)"
    agent = agents.make(spec, MAIN)
    assert agent.name == spec
    assert "guided" not in agents.names()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"model": ""}, "name its folder, as in guided"),
        ({"model": "nowhere"}, "nowhere is no model"),
        ({"rules": TEAMS}, "was trained for 'krypkasino players=2' and can't play"),
        ({"worlds": 0}, "worlds, .* from 1 to 1000000000, not 0"),
        ({"deals": 0}, "deals, .* from 1 to 104, not 0"),
        ({"prior": -1.0}, "prior, .* from 0 to 1000000, not -1"),
        ({"prior": float("nan")}, "prior, .* not nan"),
        ({"worlds": 1_000_000, "proposals": 1000}, "need too much memory"),
        ({"worlds": "x"}, "worlds is of type int"),
        ({"value": "x"}, "value is .* not 'x'"),
        ({"playouts": "x"}, "playouts is auto, network or tactician, not 'x'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(models: dict[Rules, str], options: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        Guided(**{"rules": MAIN, "model": models[MAIN], **options})
    assert "\n" not in str(caught.value)
