"""The agent that plays deals out with a network: the network's own choices, values beside rollouts, legal, seeded."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import RULES
from support.networks import network_of, some_network
from support.positions import played
from support.relatives import RELATIVES

from krypenv import Engine, Rules, agents
from krypenv.agents.neural.guided import LEAST_LOGIT, Guided, does_repeat
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import inputs_of
from krypenv.agents.neural.playouts import NO_PATH, make_playout_scratch, play_out_network
from krypenv.agents.search.sampler import FEWEST_WORLDS
from krypenv.kernels.compiled import compile_rules
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import handle, kernel

MAIN, TEAMS = RULES["krypkasino players=2"], RULES["krypkasino players=4 teams=2"]
SWEDEN, MULLE = (Rules.preset(name, players=2) for name in ("kasino-sweden", "mulle"))
PAIRS = RELATIVES["kasino-finland players=4 teams=2"]
GAMES = (MAIN, TEAMS, SWEDEN, MULLE, PAIRS)
DEALS_LEFT = LAYOUT["deals_left"].start
COMPARED = ("hands", "table", "points", "sweeps", "seat", "set_aside", "cards_won", "spades_won", "mulles")
UNPRUNED = FEWEST_WORLDS - 1  # worlds, before any action is pruned


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[Rules, str]:
    """A model's folder for each of the rules."""
    folder = tmp_path_factory.mktemp("models")
    return {
        rules: str(save_model(folder / str(number), some_network(inputs_of(rules)), rules))
        for number, rules in enumerate(GAMES)
    }


def guided(models: dict[Rules, str], rules: Rules = MAIN, seed: int = 5, **options: float | str) -> Guided:
    """The agent with a few worlds."""
    return Guided(rules, seed, model=models[rules], **{"worlds": 10, **options})


def hidden_choices(rules: Rules, steps: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Observations, history too, and masks of decisions with a choice before the last deal, single takes among them."""
    engine = Engine(rules, 24, seed=3, history=True)
    for _ in range(steps):
        engine.step(engine.sample_actions())
    chosen = (engine.action_mask.sum(axis=1) > 1) & (engine.observation[:, DEALS_LEFT] > 0)
    assert chosen.sum() > 4
    return engine.observation[chosen], engine.action_mask[chosen]


# ---------------------------------------------------------------------- playing on


@kernel
def play_rows(compiled: np.ndarray, weights: Weights, state: np.ndarray, deals: int, playouts: np.ndarray) -> None:
    """Play so many deals on in each game, as the network would."""
    for row in range(len(state)):
        last_deal = state[row].deal_number + deals - 1
        play_out_network(compiled[0], weights, state[row], last_deal, NO_PATH, playouts[0])


@pytest.mark.parametrize(
    ("rules", "deals"),
    [(MAIN, 1), (MAIN, 2), (TEAMS, 2), (RULES["howto players=3"], 1), (SWEDEN, 1), (MULLE, 1), (PAIRS, 1)],
    ids=str,
)
def test_games_are_played_on_as_the_learned_agent_plays_them(rules: Rules, deals: int) -> None:
    """Row by row, whole captures take by take, up to the first position of the deal after the last one."""
    engine, agent = played(rules), network_of(rules, solver=False)
    state, ends = engine.state.copy(), engine.state.deal_number + deals
    play_rows(compile_rules(rules), agent.weights, handle(state), deals, make_playout_scratch())
    waiting = ends <= len(rules.deal_sizes())
    assert waiting.any()
    while waiting.any():
        engine.step(agent.act(engine.observation, engine.action_mask))
        for row in np.flatnonzero(waiting & (engine.state.deal_number == ends)):
            for name in COMPARED:
                np.testing.assert_array_equal(state[row][name], engine.state[row][name])
            waiting[row] = False


# ---------------------------------------------------------------------- the agent


@pytest.mark.parametrize(
    ("rules", "options"), [(TEAMS, {}), (SWEDEN, {}), (MAIN, {"proposals": 5, "worlds": 6, "prior": 0.0})], ids=str
)
def test_the_seed_decides_and_threads_change_nothing(
    models: dict[Rules, str], rules: Rules, options: dict[str, float]
) -> None:
    """Whether worlds are weighted, by the history block, or not."""
    asked = hidden_choices(rules, 17 if options else 9)
    alone, shared = guided(models, rules, **options), guided(models, rules, threads=3, **options)
    assert alone.name == shared.name
    np.testing.assert_array_equal(alone.action_values(*asked), shared.action_values(*asked))
    actions = alone.act(*asked)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, shared.act(*asked))
    others = [guided(models, rules, seed, **options).act(*asked) for seed in range(6, 12)]
    others += [guided(models, rules, **(options | {"proposals": 1})).act(*asked)] if options else []
    assert any((other != actions).any() for other in others[:6])
    assert not options or (others[-1] != actions).any()


@pytest.mark.parametrize("rules", [SWEDEN, MULLE, PAIRS], ids=str)
def test_without_a_prior_an_action_is_worth_what_rollouts_make_of_it(models: dict[Rules, str], rules: Rules) -> None:
    """The same seed draws the same worlds, and the tactician plays both out; the network leaves some actions out."""
    asked = hidden_choices(rules)
    agent = guided(models, rules, worlds=UNPRUNED, prior=0.0)
    values = agent.action_values(*asked)
    rolled = agents.make(f"rollout(worlds={UNPRUNED})", rules, 5).action_values(*asked)
    tried = np.isfinite(values)
    several = tried.sum(axis=1) > 1
    assert several.sum() > 4
    assert values[several][tried[several]] == pytest.approx(rolled[several][tried[several]])


@pytest.mark.parametrize("rules", [MAIN, SWEDEN], ids=str)
def test_the_prior_is_points_for_each_unit_of_a_logit(models: dict[Rules, str], rules: Rules) -> None:
    asked = hidden_choices(rules)
    plain, preferring = (
        guided(models, rules, worlds=UNPRUNED, prior=prior).action_values(*asked) for prior in (0.0, 0.5)
    )
    logits = network_of(rules).logits(*asked).astype(float)
    behind = logits - logits.max(axis=1, keepdims=True)
    tried = np.isfinite(plain) & (asked[1] > 0)
    assert (behind[tried] >= LEAST_LOGIT - 1e-4).all()
    tried[tried.sum(axis=1) == 1] = False
    assert tried.sum() > 20
    expected = (plain + 0.5 * behind)[tried]
    assert (preferring[tried] > expected - 1e-4).all()  # a move has the best logit of the actions that lead to it
    assert np.isclose(preferring[tried], expected, atol=1e-4).mean() > 0.9


@pytest.mark.parametrize("rules", [MAIN, SWEDEN], ids=str)
def test_a_hand_that_was_counted_is_searched(models: dict[Rules, str], rules: Rules) -> None:
    """In the last deal of two the network has no say."""
    engine = Engine(rules, 12, seed=3)
    while engine.observation[0, DEALS_LEFT] > 0:
        engine.step(engine.sample_actions())
    asked = engine.observation, engine.action_mask
    last = engine.observation[:, DEALS_LEFT] == 0
    searched = agents.make("search", rules).action_values(*asked)
    np.testing.assert_array_equal(guided(models, rules).action_values(*asked)[last], searched[last])


@pytest.mark.parametrize(("rules", "without"), [(MAIN, [11]), (TEAMS, [*range(1, 7)])], ids=str)
def test_values_are_kept_by_hidden_hand_where_the_stock_has_no_part_in_them(rules: Rules, without: list[int]) -> None:
    """The last deal of two is solved, and its hands are the stock of the deal before it."""
    compiled = compile_rules(rules)
    state = Engine(rules, compiled[0]["num_deals"]).state.copy()
    state["deal_number"] = np.arange(1, len(state) + 1)
    assert [game["deal_number"] for game in state if not does_repeat(compiled[0], game)] == without
