"""What an agent believes of hidden hands: by Bayes' rule, from the opponent's plays in the deal, and nothing else."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.networks import some_network
from support.positions import played

from krypenv import Engine, Rules, agents, determinize
from krypenv.agents.neural.belief import MIX
from krypenv.agents.neural.guided import Guided
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import inputs_of
from krypenv.cards import NO_CARD, NUM_KINDS, TAKE
from krypenv.observation import LAYOUT
from krypenv.training.research.belief.gains import gain_of
from krypenv.training.research.belief.hidden_hands import HiddenHands, hidden_hands, others_hands

LOW = Rules.preset("mini-low", players=2)
FREE = Rules.parse("mini-low players=2 forced_sweep=False")
Play = tuple[np.ndarray, int]  # what the opponent saw when it played a card, and the card


def network(rules: Rules) -> LearnedAgent:
    """The network of the models, of which everything is known."""
    inputs = inputs_of(rules)
    return LearnedAgent(Weights.of(some_network(inputs), inputs), rules, "network", solver=False)


def guided(folder: Path, rules: Rules, **options: float) -> Guided:
    """An agent with that network and a belief."""
    model = folder / "model"
    if not model.exists():
        save_model(model, some_network(inputs_of(rules)), rules)
    return Guided(rules, 1, model=str(model), **{"worlds": 2, "proposals": 2, **options})


def bayes(rules: Rules, hands: np.ndarray, plays: list[Play], temperature: float) -> np.ndarray:
    """The log likelihood of an opponent's plays with each hand that it may have left, one play after another."""
    it, logs, since = network(rules), np.zeros(len(hands)), np.zeros(NUM_KINDS, np.int8)
    for seen, card in reversed(plays):
        since[card] += 1
        held = hands + since
        shown = np.repeat(seen[None], len(hands), axis=0)
        shown[:, LAYOUT["seen"]] += held - shown[:, LAYOUT["hand"]]
        shown[:, LAYOUT["hand"]] = held
        masks = Engine.from_state(rules, determinize(shown, 0, rules)).action_mask
        scores = it.evaluate(shown, masks)[0].astype(float) / temperature
        chances = np.where(masks > 0, np.exp(scores - scores.max(axis=1, keepdims=True)), 0.0)
        chances /= chances.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            likely = (1 - MIX) * chances[:, card] + MIX * (masks[:, card] > 0) / (masks > 0).sum(axis=1)
            logs += np.log(likely)
    return logs


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_hands_are_weighted_by_bayes_rule(tmp_path: Path, temperature: float) -> None:
    """Seat 0 leads every deal, so it has seen all that seat 1 has played in it; and a hand is gained on accordingly.

    An agent for each game, as one can't always tell games apart. No sweep is forced: what the other seat knows of an
    agent's hand by R10 is not remembered.
    """
    asked = [guided(tmp_path, FREE, temperature=temperature) for _ in range(10)]
    rng, engine = np.random.default_rng(0), Engine(FREE, 10, seed=4)
    plays: list[list[Play]] = [[] for _ in range(10)]
    deal, compared = engine.state.deal_number.copy(), 0
    for _ in range(60):
        for row in np.flatnonzero((engine.seat == 0) & (engine.state.pending == NO_CARD)):
            agent, seen = asked[row], engine.observation[row]
            hidden = hidden_hands(FREE, seen, rng)
            if not hidden.are_all:  # at the start of the first deal, before any play
                assert not plays[row]
                continue
            logs = agent.log_weights(seen, hidden.hands)
            truly = bayes(FREE, hidden.hands[:, 0], plays[row], temperature)
            np.testing.assert_allclose(logs, truly, atol=1e-4)
            truth = others_hands(FREE, engine.state[row : row + 1])[0]
            gain = gain_of(partial(agent.log_weights, seen), hidden, truth)
            shares = np.exp(hidden.logs + truly)
            (at,) = np.flatnonzero((hidden.hands == truth).all(axis=(1, 2)))
            assert gain.nats == pytest.approx(np.log(shares[at] / shares.sum()) - hidden.logs[at], abs=1e-4)
            compared += len(plays[row]) > 0 and len(hidden.hands) > 1
        actions = engine.sample_actions()
        for row in np.flatnonzero(engine.seat == 0):
            actions[row] = asked[row].act(engine.observation[row : row + 1], engine.action_mask[row : row + 1])[0]
        for row in np.flatnonzero((engine.seat == 1) & (actions < TAKE)):
            plays[row].append((engine.observation[row].copy(), int(actions[row])))
        engine.step(actions)
        for row in np.flatnonzero((engine.state.deal_number != deal) | engine.finished):
            plays[row] = []
        for row in np.flatnonzero(engine.finished):
            asked[row] = guided(tmp_path, FREE, temperature=temperature)
        deal = engine.state.deal_number.copy()
    assert compared > 50


def test_who_is_asked_for_its_belief_plays_as_before(tmp_path: Path) -> None:
    asked, silent = guided(tmp_path, LOW), guided(tmp_path, LOW)
    engine, rng = Engine(LOW, 8, seed=6), np.random.default_rng(0)
    for _ in range(24):
        actions, rows = engine.sample_actions(), np.flatnonzero(engine.seat == 0)
        if len(rows):
            for seen in engine.observation[rows]:
                asked.log_weights(seen, hidden_hands(LOW, seen, rng).hands)
            given = engine.observation[rows], engine.action_mask[rows]
            actions[rows] = asked.act(*given)
            np.testing.assert_array_equal(actions[rows], silent.act(*given))
        engine.step(actions)


def test_without_proposals_or_among_more_players_all_weights_are_equal(tmp_path: Path) -> None:
    three = Rules.preset("mini-low", players=3)
    for number, (rules, options) in enumerate([(LOW, {"proposals": 1}), (three, {"proposals": 3})]):
        agent = guided(tmp_path / f"{number}", rules, **options)
        engine = played(rules, 4, 6)
        assert not agent.believes
        for seen in engine.observation:
            assert not agent.log_weights(seen, hidden_hands(rules, seen, np.random.default_rng(0)).hands).any()


@pytest.mark.parametrize(
    ("spec", "text", "believes"),
    [
        ("champion", "krypkasino players=2", True), ("champion(worlds=0)", "krypkasino players=2", False),
        ("champion", "krypkasino players=4", False), ("champion", "kasino-sweden players=2", False),
        ("champion", "krypkasino players=3", False), ("search", "krypkasino players=2", False),
    ],
)  # fmt: skip
def test_who_believes(spec: str, text: str, believes: bool) -> None:
    agent = agents.make(spec, Rules.parse(text))
    assert bool(getattr(agent, "believes", False)) == believes
    assert not believes or callable(agent.log_weights)


def test_impossible_hands_are_refused(tmp_path: Path) -> None:
    agent, seen = guided(tmp_path, LOW), Engine(LOW, 1, seed=2).observation[0]
    hands = hidden_hands(LOW, seen, np.random.default_rng(0)).hands
    one = hands[:1].copy()
    for wrong, complaint in (
        (one[:, 0], "of shape \\(W, 1, 52\\)"),
        (one.astype(int), "are int8"),
        (one + 1, "as many of the unseen cards"),
        (-one, "as many of the unseen cards"),
    ):
        with pytest.raises(ValueError, match=complaint):
            agent.log_weights(seen, wrong)
    with pytest.raises(ValueError, match="is not from a game of"):
        agent.log_weights(np.full_like(seen, 3), one)
    assert isinstance(hidden_hands(LOW, seen, np.random.default_rng(0)), HiddenHands)
