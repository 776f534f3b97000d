"""The guided agent in the relatives: its values beside those of rollouts, and the games to their end."""

from __future__ import annotations

import numpy as np
import pytest
from support.networks import _play_rows, some_games, some_network
from support.relatives import MIXTURES, PRESETS, RELATIVES

from krypenv import Engine, Rules, agents
from krypenv.agents.neural.guided import LEAST_LOGIT, Guided
from krypenv.agents.neural.inference import Weights, make_network_scratch
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import inputs_of
from krypenv.agents.search.search import FEWEST_WORLDS
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import compile_rules
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import handle

GAMES = {
    **{name: Rules.preset(name, players=2) for name in PRESETS},
    "pairs": RELATIVES["kasino-finland players=4 teams=2"],
    "glimne": Rules.preset("mulle-glimne"),
    "three": RELATIVES["mulle players=3"],
    **dict(list(MIXTURES.items())[:3]),
}
SWEDEN = GAMES["kasino-sweden"]
every_game = pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
UNPRUNED = FEWEST_WORLDS - 1  # worlds, before any action is pruned


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[Rules, str]:
    """A model's folder for each of the rules."""
    folder = tmp_path_factory.mktemp("models")
    return {
        rules: str(save_model(folder / str(number), some_network(inputs_of(rules)), rules))
        for number, rules in enumerate(GAMES.values())
    }


def hidden_choices(rules: Rules, steps: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of decisions with a choice before the last deal, single takes among them."""
    engine = some_games(rules, 24, steps)
    chosen = (engine.action_mask.sum(axis=1) > 1) & (engine.observation[:, LAYOUT["deals_left"].start] > 0)
    assert chosen.sum() > 4
    return engine.observation[chosen], engine.action_mask[chosen]


@pytest.mark.parametrize("name", ["kasino-sweden", "mulle", "pairs"])
def test_without_a_prior_an_action_is_worth_what_rollouts_make_of_it(models: dict[Rules, str], name: str) -> None:
    """The same seed draws the same worlds, and the tactician plays both out; the network leaves some actions out."""
    rules = GAMES[name]
    asked = hidden_choices(rules)
    agent = Guided(rules, 5, model=models[rules], worlds=UNPRUNED, prior=0.0, playouts="tactician")
    values, rolled = (
        agent.action_values(*asked),
        agents.make(f"rollout(worlds={UNPRUNED})", rules, 5).action_values(*asked),
    )
    tried = np.isfinite(values)
    several = tried.sum(axis=1) > 1
    assert several.sum() > 4
    assert values[several][tried[several]] == pytest.approx(rolled[several][tried[several]])


@pytest.mark.parametrize("playouts", ["network", "tactician"])
def test_the_prior_is_points_for_each_unit_of_a_logit(models: dict[Rules, str], playouts: str) -> None:
    asked = hidden_choices(SWEDEN)
    plain, guided = (
        Guided(SWEDEN, 5, model=models[SWEDEN], worlds=UNPRUNED, prior=prior, playouts=playouts).action_values(*asked)
        for prior in (0.0, 0.5)
    )
    inputs = inputs_of(SWEDEN)
    network = LearnedAgent(Weights.of(some_network(inputs), inputs), SWEDEN, "it")
    logits = network.evaluate(*asked)[0].astype(float)
    behind = logits - logits.max(axis=1, keepdims=True)
    tried = (behind >= LEAST_LOGIT) & (asked[1] > 0)
    tried[tried.sum(axis=1) == 1] = False
    assert tried.sum() > 20
    assert guided[tried] == pytest.approx((plain + 0.5 * behind)[tried], abs=1e-4)


@pytest.mark.parametrize("name", ["kasino-sweden", "mulle", "pairs"])
def test_games_are_played_on_as_the_learned_agent_plays_them(name: str) -> None:
    """Whole captures, take by take, up to the first position of the next deal."""
    rules = GAMES[name]
    inputs = inputs_of(rules)
    weights = Weights.of(some_network(inputs), inputs)
    engine, agent = some_games(rules), LearnedAgent(weights, rules, "network", solver=False)
    state, ends = engine.state.copy(), engine.state.deal_number + 1
    _play_rows(compile_rules(rules), weights, handle(state), 1, make_network_scratch(), borrow_scratch())
    waiting = ends <= compile_rules(rules)["num_deals"][0]
    assert waiting.any()
    while waiting.any():
        engine.step(agent.act(engine.observation, engine.action_mask))
        for row in np.flatnonzero(waiting & (engine.state.deal_number == ends)):
            for entry in ("hands", "table", "points", "sweeps", "seat", "cards_won", "spades_won", "mulles"):
                np.testing.assert_array_equal(state[row][entry], engine.state[row][entry])
            waiting[row] = False


@every_game
def test_games_are_played_to_the_end(models: dict[Rules, str], rules: Rules) -> None:
    """Agents with all kinds of options in turn; the engine refuses illegal actions."""
    engine = Engine(rules, 4, seed=2)
    value = "network" if rules.num_teams == 2 else "margin"
    players = [
        Guided(rules, 1, model=models[rules], worlds=2, value=value),
        Guided(rules, 2, model=models[rules], worlds=2, deals=2, prior=0.0, proposals=3),
        Guided(rules, 3, model=models[rules], worlds=1, playouts="network"),
    ]
    ended = step = 0
    while ended < 4:
        engine.step(players[step % 3].act(engine.observation, engine.action_mask))
        ended += int(engine.finished.sum())
        step += 1


@pytest.mark.parametrize("name", ["kasino-sweden", "mulle"])
def test_the_last_deal_of_two_is_searched(models: dict[Rules, str], name: str) -> None:
    rules = GAMES[name]
    engine = Engine(rules, 12, seed=3)
    while engine.observation[0, LAYOUT["deals_left"].start] > 0:
        engine.step(engine.sample_actions())
    asked = engine.observation, engine.action_mask
    last = engine.observation[:, LAYOUT["deals_left"].start] == 0
    searched = agents.make("search", rules).action_values(*asked)
    values = Guided(rules, 5, model=models[rules], worlds=2).action_values(*asked)
    np.testing.assert_array_equal(values[last], searched[last])


def test_the_seed_decides_and_threads_change_nothing(models: dict[Rules, str]) -> None:
    asked = hidden_choices(SWEDEN)
    actions = [
        Guided(SWEDEN, seed, model=models[SWEDEN], worlds=3, threads=threads).act(*asked).tolist()
        for seed, threads in ((5, 1), (5, 1), (5, 2), (6, 1), (7, 1), (8, 1))
    ]
    assert actions[0] == actions[1] == actions[2]
    assert any(other != actions[0] for other in actions[3:])
