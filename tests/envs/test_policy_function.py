"""A function as an agent: it plays the best legal action of what that returns, or says what is wrong with it."""

import pickle

import numpy as np
import pytest
import torch

from krypenv import Engine, Rules
from krypenv.adapters import PolicyFunction
from krypenv.envs.learner import LearnerGames
from krypenv.features import width_of
from krypenv.training import duplicate_match, evaluate

RULES = Rules.preset("mini-low")


def first_legal(observations, masks):
    return masks.argmax(axis=1)


def first_play(observations, masks):
    return np.arange(masks.shape[1], 0, -1) - np.zeros(masks.shape)


def returning(wrong, row=2):
    """A policy that writes something wrong for the first legal action of one decision."""

    def policy(observations, masks):
        values = np.zeros(masks.shape)
        values[row, masks[row].argmax()] = wrong
        return values

    return policy


def decisions(rules=RULES, **blocks):
    """32 games in their course, with what their seats see."""
    engine = Engine(rules, 32, seed=3, **blocks)
    for _ in range(5):
        engine.step(engine.sample_actions())
    return engine


@pytest.mark.parametrize(
    "returned",
    [
        first_legal,
        lambda seen, masks: torch.from_numpy(masks.argmax(axis=1)),
        lambda seen, masks: first_legal(seen, masks).astype(np.uint8),
        first_play,
        lambda seen, masks: first_play(seen, masks).astype(np.int64) - 1000,
        lambda seen, masks: torch.from_numpy(first_play(seen, masks)).bfloat16().requires_grad_(),
        lambda seen, masks: np.where(masks, first_play(seen, masks), np.inf),
        lambda seen, masks: first_play(seen, masks).tolist(),
    ],
)
def test_actions_and_values_of_any_kind_give_the_best_legal_action(returned):
    engine = decisions()
    actions = PolicyFunction(returned, RULES).act(engine.observation, engine.action_mask)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, engine.action_mask.argmax(axis=1))


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("blocks", [{}, {"features": True}, {"history": True}, {"features": True, "history": True}])
def test_the_function_sees_its_own_copy_of_the_observation_and_of_the_features_if_it_asks(blocks, features):
    rules = Rules.preset("mulle-glimne")
    engine, expected = decisions(rules, **blocks), decisions(rules, features=True).observation
    before, seen = (engine.observation.copy(), engine.action_mask.copy()), []

    def spoil(observations, masks):
        seen.append(observations.copy())
        chosen = masks.argmax(axis=1)
        observations[:], masks[:] = 0, 1
        return chosen

    PolicyFunction(spoil, rules, features=features).act(engine.observation, engine.action_mask)
    assert seen[0].dtype == np.int8
    np.testing.assert_array_equal(seen[0], expected[:, : width_of(rules, features)])
    np.testing.assert_array_equal(engine.observation, before[0])
    np.testing.assert_array_equal(engine.action_mask, before[1])


def test_it_plays_matches_and_is_an_opponent_and_so_is_its_copy():
    agent = PolicyFunction(first_legal, RULES, name="first")
    twin = pickle.loads(pickle.dumps(PolicyFunction(first_play, RULES, name="same")))
    assert twin.rules == RULES
    results = evaluate(agent, [twin, "random"], RULES, deals=4)
    names = [(each.agent, each.opponent, each.games) for each in results]
    assert names == [("first", "same", 8), ("first", "random", 8)]
    assert results[0].margin == 0  # both play the same cards from every side
    games = LearnerGames(RULES, 4, opponents=agent)
    games.step(games.action_mask.argmax(axis=1))


# ---------------------------------------------------------------------- what is wrong with a policy

SHAPE = r"of shape {} for 32 decisions, and not actions, whole numbers \(32,\), or logits or values, \(32, 105\)"


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (lambda seen, masks: masks[:, 1:], "returned .*" + SHAPE.format(r"\(32, 104\)")),
        (lambda seen, masks: first_legal(seen, masks)[1:], "returned .*" + SHAPE.format(r"\(31,\)")),
        (lambda seen, masks: first_legal(seen, masks).astype(float), "returned float64 " + SHAPE.format(r"\(32,\)")),
        (lambda seen, masks: masks == 1, "returned bool " + SHAPE.format(r"\(32, 105\)")),
        (lambda seen, masks: [[1], [2, 3]], "returned object " + SHAPE.format(r"\(\)")),
        (returning(np.nan), r"returned nan for \w+ \w+ in decision 2, and the logit or value of a legal action is a"),
        (returning(-np.inf), "returned -inf for "),
    ],
)
def test_a_wrong_result_is_told_in_one_sentence(policy, reason):
    engine, agent = decisions(), PolicyFunction(policy, RULES)
    with pytest.raises(ValueError, match=rf"^the policy {reason}[^\n]*$"):
        agent.act(engine.observation, engine.action_mask)


def test_a_match_names_the_policy_that_is_wrong():
    with pytest.raises(ValueError, match="mine raised ValueError: the policy returned nan for play"):
        duplicate_match(PolicyFunction(returning(np.nan, row=0), RULES, "mine"), "greedy", RULES, deals=1)


def test_what_can_be_no_policy_is_refused():
    with pytest.raises(ValueError, match="a policy is a function of observations and masks, not 'greedy'"):
        PolicyFunction("greedy", RULES)
    with pytest.raises(ValueError, match="the name of a policy is a string, not 3"):
        PolicyFunction(first_legal, RULES, 3)
