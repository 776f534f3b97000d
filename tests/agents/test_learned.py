"""Learned agents: the network's best action, and the last deal of a game of two solved."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import some_arrays

from krypenv import Engine, Rules, agents
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import ROWS_A_THREAD, LearnedAgent
from krypenv.agents.neural.network import Shape, inputs_of
from krypenv.observation import LAYOUT


def weights_for(rules: Rules) -> Weights:
    """The weights of a small network for some rules."""
    inputs = inputs_of(rules)
    return Weights.of(some_arrays(Shape(context=8, card=6, embedding=2), inputs=inputs), inputs)


def play_some(rules: Rules, games: int, steps: int = 130) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the observations and masks before each step of random games."""
    engine, seen = Engine(rules, games, seed=5), []
    for _ in range(steps):
        seen.append((engine.observation.copy(), engine.action_mask.copy()))
        engine.step(engine.sample_actions())
    return seen


@pytest.mark.parametrize("text", ["krypkasino players=2 games=2", "mini-high players=2", "kasino-sweden players=2"])
def test_where_nothing_is_hidden_the_rest_of_the_deal_is_solved(text: str) -> None:
    """In the last deal of two players all cards but the other hand have been seen, by the first of its decisions."""
    rules = Rules.parse(text)
    weights = weights_for(rules)
    agent, solver = LearnedAgent(weights, rules, "it", seed=1), agents.make("search(worlds=1)", rules)
    plain = LearnedAgent(weights, rules, "it", solver=False)
    open_rows = differ = 0
    for observations, masks in play_some(rules, 12):
        played, of_network = agent.act(observations, masks), plain.act(observations, masks)
        is_last = observations[:, LAYOUT["deals_left"]].ravel() == 0
        assert np.array_equal(played[~is_last], of_network[~is_last])
        if is_last.any():
            values = solver.action_values(observations[is_last], masks[is_last])
            chosen = values[np.arange(len(values)), played[is_last]]
            assert chosen == pytest.approx(values.max(axis=1))
            open_rows += len(values)
            differ += int((played != of_network).sum())
    assert open_rows > 20
    assert differ > 0


@pytest.mark.parametrize("text", ["krypkasino players=3", "krypkasino players=4 teams=2", "mulle players=3"])
def test_among_more_players_the_network_decides_to_the_end(text: str) -> None:
    rules = Rules.parse(text)
    agent = LearnedAgent(weights_for(rules), rules, "it")
    for observations, masks in play_some(rules, 3):
        assert np.array_equal(agent.act(observations, masks), agent.evaluate(observations, masks)[0].argmax(axis=1))


def test_actions_are_drawn_by_their_probabilities() -> None:
    rules, draws, temperature = Rules.preset("krypkasino", players=2), 20_000, 2.0
    engine = Engine(rules, 64, seed=3)
    agent = LearnedAgent(weights_for(rules), rules, "it", seed=3, temperature=temperature)
    row = [int(engine.action_mask.sum(axis=1).argmax())]
    observations, masks = engine.observation[row], engine.action_mask[row]
    assert agent.act(observations[:0], masks[:0]).shape == (0,)
    drawn = agent.act(observations.repeat(draws, axis=0), masks.repeat(draws, axis=0))
    legal = np.flatnonzero(masks[0])
    chances = np.exp(agent.evaluate(observations, masks)[0][0, legal].astype(float) / temperature)
    expected = draws * chances / chances.sum()
    assert len(legal) > 2
    assert len(set(expected.round())) > 2
    counts = np.bincount(drawn, minlength=105)
    assert counts[legal].sum() == draws
    assert ((counts[legal] - expected) ** 2 / expected).sum() < len(legal) + 5 * np.sqrt(2 * len(legal)) + 10


def test_threads_change_nothing() -> None:
    rules = Rules.preset("krypkasino", players=4)
    engine = Engine(rules, 5 * ROWS_A_THREAD + 3, seed=3)
    alone, shared = (LearnedAgent(weights_for(rules), rules, "it", threads=threads) for threads in (1, 3))
    for _ in range(3):
        actions = alone.act(engine.observation, engine.action_mask)
        assert np.array_equal(actions, shared.act(engine.observation, engine.action_mask))
        engine.step(actions)
