"""Networks: the kernel says what torch says, and as an agent it plays the best action and solves the last deal."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from support.games import RULES, decisions_of, some_arrays
from support.networks import network_of
from support.relatives import GLIMNE, MIXTURES, RELATIVES

from krypenv import Engine, Rules, agents
from krypenv.agents.champion import MODELS, SHIPPED
from krypenv.agents.neural.action_features import features_of, gather_action_features
from krypenv.agents.neural.learned import ROWS_A_THREAD
from krypenv.agents.neural.model_file import load_model
from krypenv.agents.neural.network import MAIN, MAX_UNITS, Arrays, Shape, inputs_of, shape_of, specs_of
from krypenv.observation import LAYOUT
from krypenv.training import TrainSettings
from krypenv.training.learn.network import CardNetwork, Choices, Scores

torch.set_num_threads(1)


@torch.no_grad()
def compare(arrays: Arrays, rules: Rules, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Assert that kernel and torch agree, and return the actions."""
    inputs = inputs_of(rules)
    network = CardNetwork.of(arrays, inputs)
    agent = network_of(rules, arrays, solver=False)
    choices = Choices.of(gather_action_features(rules, observations, masks))
    scores: Scores = network(torch.from_numpy(observations), choices)
    logits, counts = agent.logits(observations, masks), masks.sum(axis=1)
    of_torch = scores.logits[scores.logits > -1e8].numpy() * (counts > 1).repeat(counts)
    np.testing.assert_allclose(logits[masks > 0], of_torch, rtol=1e-4, atol=1e-4)
    chances = np.exp(np.where(masks > 0, logits.astype(float), -np.inf) - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(agent.probabilities(observations, masks), chances / chances.sum(axis=1, keepdims=True))
    actions = agent.act(observations, masks)
    assert np.array_equal(actions, np.where(masks > 0, logits, -np.inf).argmax(axis=1))
    return actions


@pytest.mark.parametrize(
    ("rules", "shape"),
    [(rules, Shape(24, 16, 4)) for rules in [*RULES.values()][::2]]
    + [(rules, Shape(16, 8, 4)) for rules in [*RELATIVES.values(), *MIXTURES.values(), *GLIMNE.values()][::4]]
    + [(RULES["krypkasino players=2"], shape) for shape in (Shape(41, 64, 8), Shape(700, 600, 3))],
    ids=str,
)
def test_the_kernel_says_what_the_network_says(rules: Rules, shape: Shape) -> None:
    observations, masks = decisions_of(rules)
    arrays = some_arrays(shape, inputs=inputs_of(rules))
    assert arrays["read.weight"].shape[1] == rules.observation_size == observations.shape[1]
    compare(arrays, rules, observations, masks)


def test_inputs_are_data_of_the_rules() -> None:
    assert inputs_of(Rules.preset()) == inputs_of(Rules.preset(players=6)) == MAIN
    assert inputs_of(Rules.preset(games=0, threshold=100)) == MAIN
    sweden, overspader, mulle = (inputs_of(Rules.preset(name)) for name in ("kasino-sweden", "overspader", "mulle"))
    assert sweden == overspader != mulle
    assert (features_of(Rules.preset()).version, features_of(Rules.preset()).width) == (1, 87)
    for rules in (*RULES.values(), *RELATIVES.values(), *GLIMNE.values()):
        inputs, (_, columns, descriptions, _) = inputs_of(rules), features_of(rules)
        assert len(inputs.observation_scales) == inputs.observation == rules.observation_size
        assert len(inputs.feature_scales) == inputs.features == features_of(rules).width
        assert [*columns] == [*descriptions]
        covered = sorted(at for part in columns.values() for at in range(part.start, part.stop))
        assert covered == list(range(inputs.features))
        assert (inputs.observation_scales > 0).all()
        assert (inputs.feature_scales > 0).all()


@pytest.mark.few(6)
@pytest.mark.parametrize(("name", "text"), [(name, text) for name, played in SHIPPED.items() for text in played])
def test_the_kernel_plays_the_shipped_models_as_torch_does(name: str, text: str) -> None:
    rules = Rules.parse(text)
    observations, masks = decisions_of(rules, games=50, steps=40)
    actions = compare(load_model(MODELS / name)[0], rules, observations, masks)
    assert len(set(actions.tolist())) > 50


def test_no_wider_network_is_trained_than_can_be_played() -> None:
    with pytest.raises(ValueError, match=f"less than or equal to {MAX_UNITS}"):
        TrainSettings(card=MAX_UNITS + 1)


def test_files_have_the_weights_that_torch_makes_in_its_order_and_they_come_back() -> None:
    """The optimizer of a checkpoint counts them."""
    for shape in (Shape(), Shape(5, 4, 3)):
        network = CardNetwork(shape)
        specs, state = specs_of(shape), network.state_dict()
        assert list(specs) == list(state) == [name for name, _ in network.named_parameters()]
        assert specs == {name: tuple(tensor.shape) for name, tensor in state.items()}
        assert shape_of(network.arrays()) == shape
    arrays = some_arrays(Shape(5, 4, 3))
    again = CardNetwork.of(arrays).arrays()
    assert arrays.keys() == again.keys()
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)


def test_the_player_of_a_network_in_training_has_the_weights_of_then_and_draws_by_its_seed() -> None:
    rules = Rules.preset(players=3)
    asked = decisions_of(rules, games=64, steps=2)
    network = CardNetwork.of(some_arrays(Shape(8, 6, 2)))
    agent, again, other = (network.player(rules, "it", seed, temperature=2.0) for seed in (1, 1, 2))
    drawn, best = agent.act(*asked), network.player(rules, "it")
    assert np.array_equal(drawn, again.act(*asked))
    assert (drawn != other.act(*asked)).any()
    before = best.act(*asked)
    with torch.no_grad():
        network.score.weight *= -1
    assert np.array_equal(best.act(*asked), before)
    assert (network.player(rules, "it").act(*asked) != before).any()


# ---------------------------------------------------------------------- as an agent


@pytest.mark.parametrize("text", ["krypkasino players=2 games=2", "mini-high players=2", "kasino-sweden players=2"])
def test_where_nothing_is_hidden_the_rest_of_the_deal_is_solved(text: str) -> None:
    """In the last deal of two players all cards but the other hand have been seen, by the first of its decisions."""
    rules = Rules.parse(text)
    agent, plain = (network_of(rules, solver=solver) for solver in (True, False))
    observations, masks = decisions_of(rules, 12, 130)
    played, of_network = agent.act(observations, masks), plain.act(observations, masks)
    is_last = observations[:, LAYOUT["deals_left"]].ravel() == 0
    assert np.array_equal(played[~is_last], of_network[~is_last])
    assert (played != of_network).any()
    values = agents.make("search(worlds=1)", rules).action_values(observations[is_last], masks[is_last])
    assert len(values) > 20
    assert values[np.arange(len(values)), played[is_last]] == pytest.approx(values.max(axis=1))


@pytest.mark.parametrize("text", ["krypkasino players=3", "krypkasino players=4 teams=2", "mulle players=3"])
def test_among_more_players_the_network_decides_to_the_end(text: str) -> None:
    rules = Rules.parse(text)
    agent, asked = network_of(rules), decisions_of(rules, 3, 130)
    assert np.array_equal(agent.act(*asked), agent.logits(*asked).argmax(axis=1))


def test_actions_are_drawn_by_their_probabilities() -> None:
    rules, draws, temperature = Rules.preset("krypkasino", players=2), 20_000, 2.0
    engine = Engine(rules, 64, seed=3)
    agent = network_of(rules, seed=3, temperature=temperature)
    row = [int(engine.action_mask.sum(axis=1).argmax())]
    observations, masks = engine.observation[row], engine.action_mask[row]
    assert agent.act(observations[:0], masks[:0]).shape == (0,)
    drawn = agent.act(observations.repeat(draws, axis=0), masks.repeat(draws, axis=0))
    legal = np.flatnonzero(masks[0])
    chances = np.exp(agent.logits(observations, masks)[0, legal].astype(float) / temperature)
    assert len(set((chances / chances.sum()).round(3))) > 2
    counts = np.bincount(drawn, minlength=105)[legal]
    assert chisquare(counts, draws * chances / chances.sum()).pvalue > 1e-4


def test_threads_change_nothing() -> None:
    rules = Rules.preset("krypkasino", players=4)
    alone, shared = (network_of(rules, threads=threads) for threads in (1, 3))
    asked = decisions_of(rules, ROWS_A_THREAD, 6)
    assert np.array_equal(alone.act(*asked), shared.act(*asked))
