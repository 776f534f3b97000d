"""The agent that plays deals out with a network: the network's own choices, values beside rollouts, legal, seeded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.games import RULES
from support.networks import play_rows, some_network
from support.positions import play_whole_games, played
from support.relatives import MIXTURES, PRESETS, RELATIVES

from krypenv import Engine, Rules, agents
from krypenv.agents.neural.guided import LEAST_LOGIT, Guided
from krypenv.agents.neural.inference import REWARD_SCALE, Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import inputs_of
from krypenv.agents.neural.playouts import make_playout_scratch
from krypenv.agents.search.sampling import FEWEST_WORLDS
from krypenv.kernels.compiled import compile_rules
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import handle

MAIN, TEAMS = RULES["krypkasino players=2"], RULES["krypkasino players=4 teams=2"]
SWEDEN, MULLE = (Rules.preset(name, players=2) for name in ("kasino-sweden", "mulle"))
PAIRS = RELATIVES["kasino-finland players=4 teams=2"]
GAMES = {
    str(rules): rules
    for rules in (
        MAIN, TEAMS, *list(RULES.values())[1::3], *(Rules.preset(name, players=2) for name in PRESETS), PAIRS,
        Rules.preset("mulle-glimne"), RELATIVES["mulle players=3"], *list(MIXTURES.values())[:3],
    )
}  # fmt: skip
DEALS_LEFT = LAYOUT["deals_left"].start
COMPARED = ("hands", "table", "points", "sweeps", "seat", "set_aside", "cards_won", "spades_won", "mulles")
UNPRUNED = FEWEST_WORLDS - 1  # worlds, before any action is pruned


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[Rules, str]:
    """A model's folder for each of the rules."""
    folder = tmp_path_factory.mktemp("models")
    return {
        rules: str(save_model(folder / str(number), some_network(inputs_of(rules)), rules))
        for number, rules in enumerate(GAMES.values())
    }


def guided(models: dict[Rules, str], rules: Rules = MAIN, seed: int = 5, **options: float | str) -> Guided:
    """The agent with a few worlds."""
    return Guided(rules, seed, model=models[rules], **{"worlds": 10, **options})


def network_of(rules: Rules, **options: bool) -> LearnedAgent:
    """The network of the models alone."""
    inputs = inputs_of(rules)
    return LearnedAgent(Weights.of(some_network(inputs), inputs), rules, "network", **options)


def hidden_choices(rules: Rules, steps: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of decisions with a choice before the last deal, single takes among them."""
    engine = played(rules, 24, steps)
    chosen = (engine.action_mask.sum(axis=1) > 1) & (engine.observation[:, DEALS_LEFT] > 0)
    assert chosen.sum() > 4
    return engine.observation[chosen], engine.action_mask[chosen]


# ---------------------------------------------------------------------- playing on


@pytest.mark.parametrize(
    ("rules", "deals"),
    [(rules, deals) for rules in (MAIN, TEAMS, RULES["howto players=3"]) for deals in (1, 2)]
    + [(rules, 1) for rules in (SWEDEN, MULLE, PAIRS)],
    ids=str,
)
def test_games_are_played_on_as_the_learned_agent_plays_them(rules: Rules, deals: int) -> None:
    """Row by row, whole captures take by take, up to the first position of the deal after the last one."""
    engine, agent, inputs = played(rules), network_of(rules, solver=False), inputs_of(rules)
    state, ends = engine.state.copy(), engine.state.deal_number + deals
    weights, compiled = Weights.of(some_network(inputs), inputs), compile_rules(rules)
    play_rows(compiled, weights, handle(state), deals, make_playout_scratch())
    waiting = ends <= compiled["num_deals"][0]
    assert waiting.any()
    assert waiting.all() or rules not in (MAIN, TEAMS)
    while waiting.any():
        engine.step(agent.act(engine.observation, engine.action_mask))
        for row in np.flatnonzero(waiting & (engine.state.deal_number == ends)):
            for name in COMPARED:
                np.testing.assert_array_equal(state[row][name], engine.state[row][name])
            waiting[row] = False


# ---------------------------------------------------------------------- the agent


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_games_are_played_legally_to_the_end(models: dict[Rules, str], rules: Rules) -> None:
    """Agents with all kinds of options in turn."""
    value = "network" if rules.num_teams == 2 else "margin"
    players = [
        guided(models, rules, 1, worlds=2, value=value),
        guided(models, rules, 2, worlds=2, deals=2, prior=0.0, proposals=3, value="margin"),
        guided(models, rules, 3, worlds=1, playouts="network"),
    ]
    play_whole_games(rules, players, 2 if rules in RULES.values() else 4)


@pytest.mark.parametrize("rules", [MAIN, TEAMS, SWEDEN], ids=str)
def test_the_seed_decides_and_threads_change_nothing(models: dict[Rules, str], rules: Rules) -> None:
    asked = hidden_choices(rules)
    alone, shared = guided(models, rules), guided(models, rules, threads=3)
    assert alone.name == shared.name
    np.testing.assert_array_equal(alone.action_values(*asked), shared.action_values(*asked))
    actions = alone.act(*asked)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, shared.act(*asked))
    others = [guided(models, rules, seed).act(*asked) for seed in range(6, 12)]
    assert any((other != actions).any() for other in others)


def test_a_look_at_the_clock_changes_nothing_while_there_is_time(models: dict[Rules, str]) -> None:
    engine = played(MAIN)
    asked = engine.observation, engine.action_mask
    np.testing.assert_array_equal(guided(models).act(*asked), guided(models, ms=1e9).act(*asked))
    hasty = guided(models, worlds=10**9, ms=0.01).act(*asked)
    assert np.take_along_axis(engine.action_mask, hasty[:, None], axis=1).all()


@pytest.mark.parametrize("rules", [MAIN, TEAMS], ids=str)
def test_values_are_of_legal_actions_and_the_best_is_played(models: dict[Rules, str], rules: Rules) -> None:
    engine = played(rules)
    masks = engine.action_mask
    values = guided(models, rules).action_values(engine.observation, masks)
    assert values.shape == masks.shape
    assert (values[masks == 0] == -np.inf).all()
    assert not np.isnan(values).any()
    assert (np.isfinite(values).sum(axis=1) > 1).any()
    np.testing.assert_array_equal(values.argmax(axis=1), guided(models, rules).act(engine.observation, masks))


def test_a_large_prior_leaves_the_choice_to_the_network(models: dict[Rules, str]) -> None:
    engine = played(MAIN)
    actions = guided(models, prior=1e6).act(engine.observation, engine.action_mask)
    np.testing.assert_array_equal(actions, network_of(MAIN).act(engine.observation, engine.action_mask))
    assert (guided(models, prior=0.0).act(engine.observation, engine.action_mask) != actions).any()


@pytest.mark.parametrize("rules", [SWEDEN, MULLE, PAIRS], ids=str)
def test_without_a_prior_an_action_is_worth_what_rollouts_make_of_it(models: dict[Rules, str], rules: Rules) -> None:
    """The same seed draws the same worlds, and the tactician plays both out; the network leaves some actions out."""
    asked = hidden_choices(rules)
    agent = guided(models, rules, worlds=UNPRUNED, prior=0.0, playouts="tactician")
    values = agent.action_values(*asked)
    rolled = agents.make(f"rollout(worlds={UNPRUNED})", rules, 5).action_values(*asked)
    tried = np.isfinite(values)
    several = tried.sum(axis=1) > 1
    assert several.sum() > 4
    assert values[several][tried[several]] == pytest.approx(rolled[several][tried[several]])


@pytest.mark.parametrize("playouts", ["network", "tactician"])
def test_the_prior_is_points_for_each_unit_of_a_logit(models: dict[Rules, str], playouts: str) -> None:
    asked = hidden_choices(SWEDEN)
    plain, told = (
        guided(models, SWEDEN, worlds=UNPRUNED, prior=prior, playouts=playouts).action_values(*asked)
        for prior in (0.0, 0.5)
    )
    logits = network_of(SWEDEN).evaluate(*asked)[0].astype(float)
    behind = logits - logits.max(axis=1, keepdims=True)
    tried = np.isfinite(plain) & (asked[1] > 0)
    assert (behind[tried] >= LEAST_LOGIT - 1e-4).all()
    tried[tried.sum(axis=1) == 1] = False
    assert tried.sum() > 20
    assert told[tried] == pytest.approx((plain + 0.5 * behind)[tried], abs=1e-4)


@pytest.mark.parametrize("rules", [MAIN, TEAMS], ids=str)
def test_what_follows_the_deal_can_be_valued_by_the_network(rules: Rules, tmp_path: Path) -> None:
    """A network that expects 3 points against the mean for whoever leads: 6 for that side's margin, or against it.

    After the last play of a deal the same seat leads the next one whatever was played, so nothing else changes.
    """
    network = some_network()
    network["value.weight"] *= 0
    network["value.bias"][:] = 3 * REWARD_SCALE
    model = str(save_model(tmp_path / "model", network, rules))
    engine = played(rules, games=64, steps=3 * rules.players)
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


@pytest.mark.parametrize("rules", [MAIN, SWEDEN, MULLE], ids=str)
def test_a_hand_that_was_counted_is_searched(models: dict[Rules, str], rules: Rules) -> None:
    """In the last deal of two the network has no say."""
    engine = Engine(rules, 12, seed=3)
    while engine.observation[0, DEALS_LEFT] > 0:
        engine.step(engine.sample_actions())
    asked = engine.observation, engine.action_mask
    last = engine.observation[:, DEALS_LEFT] == 0
    searched = agents.make("search", rules).action_values(*asked)
    np.testing.assert_array_equal(guided(models, rules).action_values(*asked)[last], searched[last])
