"""What an agent believes of hidden hands: by Bayes' rule, from the others' plays in the deal, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.networks import network_of, some_network
from support.positions import hands_of, sampled_hands

from krypenv import Engine, Rules, determinize
from krypenv.agents.neural.belief import DULL, MIX, SHARP, resample_systematically
from krypenv.agents.neural.guided import Guided
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import Arrays, inputs_of
from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.features import history_in
from krypenv.observation import LAYOUT

LOW = Rules.preset("mini-low", players=2)
Play = tuple[int, np.ndarray, int]  # a play: its seat, what that seat saw, and the card


def weights_for(rules: Rules) -> Arrays:
    """A network that does not see who captured last: if that was before the deal, a history does not tell."""
    arrays = some_network(inputs_of(rules))
    arrays["read.weight"][:, LAYOUT["last_capturer"]] = 0
    return arrays


def guided(folder: Path, rules: Rules, **options: float) -> Guided:
    """An agent with that network and a belief."""
    model = folder / "model"
    if not model.exists():
        save_model(model, weights_for(rules), rules)
    return Guided(rules, 1, model=str(model), **{"worlds": 2, "proposals": 2, **options})


def bayes(rules: Rules, seat: int, hands: np.ndarray, plays: list[Play]) -> np.ndarray:
    """The log likelihood of the others' plays with each of their hands, (W, P - 1, 52), one play after another."""
    it = network_of(rules, weights_for(rules), solver=False)
    logs = np.zeros((rules.players, 2, len(hands)))  # by seat, and how sharp it plays
    since = np.zeros((rules.players, NUM_KINDS), np.int8)
    for who, seen, card in reversed(plays):
        if who == seat:
            continue
        since[who, card] += 1
        held = hands[:, (who - seat) % rules.players - 1] + since[who]
        shown = np.repeat(seen[None], len(hands), axis=0)
        shown[:, LAYOUT["seen"]] += held - shown[:, LAYOUT["hand"]]
        shown[:, LAYOUT["hand"]] = held
        masks = Engine.from_state(rules, determinize(shown, 0, rules)).action_mask
        for at, temperature in enumerate((SHARP, DULL)):
            scores = it.logits(shown, masks).astype(float) / temperature
            chances = np.where(masks > 0, np.exp(scores - scores.max(axis=1, keepdims=True)), 0.0)
            chances /= chances.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                likely = (1 - MIX) * chances[:, card] + MIX * (masks[:, card] > 0) / (masks > 0).sum(axis=1)
                logs[who, at] += np.log(likely)
    return (np.logaddexp(*logs.swapaxes(0, 1)) - np.log(2)).sum(axis=0)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "text",
    [
        "mini-low players=2", "mini-low players=3", "krypkasino players=2 first_deal=((2,4),)",
        "krypkasino players=4 teams=2", "howto players=2 games=2", "kasino-sweden players=2", "mulle players=2",
    ],
)  # fmt: skip
def test_hands_are_weighted_by_bayes_rule(tmp_path: Path, text: str) -> None:
    """All that the others have played in a deal counts, also while a capture is being chosen."""
    rules = Rules.parse(text)
    agent = guided(tmp_path, rules)
    rng, engine = np.random.default_rng(0), Engine(rules, 4, seed=4, history=True)
    size = rules.observation_size
    plays: list[list[Play]] = [[] for _ in range(4)]
    deal, compared = engine.state.deal_number.copy(), 0
    while compared < 30:
        for row in range(4):
            seen, seat = engine.observation[row], int(engine.seat[row])
            hands = np.concatenate([sampled_hands(rules, seen, rng), hands_of(rules, engine.state[row : row + 1])])
            logs, truly = agent.log_weights(seen, hands), bayes(rules, seat, hands, plays[row])
            np.testing.assert_allclose(logs, truly, atol=1e-4)
            compared += any(who != seat for who, _, _ in plays[row])
        actions, begins = engine.sample_actions(), engine.state.pending == NO_CARD
        for row in np.flatnonzero(begins):
            plays[row].append((int(engine.seat[row]), engine.observation[row, :size].copy(), int(actions[row])))
        engine.step(actions)
        for row in np.flatnonzero((engine.state.deal_number != deal) | engine.finished):
            plays[row] = []
        deal = engine.state.deal_number.copy()


@pytest.mark.parametrize(
    ("text", "options", "history"),
    [
        ("mini-low players=2", {"proposals": 1}, True), ("mini-low players=2", {"proposals": 3}, False),
        ("mulle-glimne players=2", {"proposals": 3}, True),
    ],
)  # fmt: skip
def test_without_proposals_or_history_and_with_builds_all_weights_are_equal(
    tmp_path: Path, text: str, options: dict[str, int], history: bool
) -> None:
    rules = Rules.parse(text)
    agent, engine = guided(tmp_path, rules, **options), Engine(rules, 4, seed=3, history=history)
    for _ in range(6):
        engine.step(engine.sample_actions())
    assert agent.believes == agent.needs_history == (not history)
    for seen in engine.observation:
        assert not agent.log_weights(seen, sampled_hands(rules, seen, np.random.default_rng(0))).any()


@pytest.mark.parametrize("text", ["krypkasino players=2", "mini-low players=3", "kasino-sweden players=2"])
def test_a_history_of_another_game_tells_nothing_or_something_possible(tmp_path: Path, text: str) -> None:
    """Anything may stand where plays should: from elsewhere, changed, or no plays at all."""
    rules, rng = Rules.parse(text), np.random.default_rng(0)
    agent, engine, nothing = guided(tmp_path, rules), Engine(rules, 16, seed=4, history=True), 0
    for _ in range(20):
        engine.step(engine.sample_actions())
        seen = engine.observation.copy()
        torn = history_in(rules, seen)[rng.permutation(16)]
        changed = rng.random(torn.shape) < 0.002
        torn[changed] = rng.integers(-128, 128, changed.sum())
        seen[:, rules.observation_size :] = torn.reshape(16, -1)
        for each in seen:
            logs = agent.log_weights(each, sampled_hands(rules, each, rng, 4))
            assert not np.isnan(logs).any()
            nothing += not logs.any()
    assert nothing > 100


def test_proposals_are_taken_as_often_as_their_weights_say() -> None:
    """To less than one; those that are impossible never, unless all are."""
    rng = np.random.default_rng(0)
    for possible in (1.0, 0.5, 0.0) * 20:
        proposals = int(rng.integers(1, 60))
        worlds = int(rng.integers(1, proposals + 1))
        logs = np.where(rng.random(proposals) < possible, rng.normal(-300, 3, proposals), -np.inf)
        shares = np.zeros(proposals, np.int64)
        resample_systematically(logs, proposals, worlds, shares)
        weights = np.exp(logs + 300)
        if not weights.any():
            assert (shares == (np.arange(proposals) < worlds)).all()
            continue
        assert shares.sum() == worlds
        assert (abs(shares - worlds * weights / weights.sum()) < 1 + 1e-6).all()
        assert not shares[weights == 0].any()


def test_impossible_hands_are_refused(tmp_path: Path) -> None:
    agent, seen = guided(tmp_path, LOW), Engine(LOW, 1, seed=2).observation[0]
    one = sampled_hands(LOW, seen, np.random.default_rng(0), 1)
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
