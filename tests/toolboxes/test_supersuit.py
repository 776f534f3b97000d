"""SuperSuit: which of its wrappers take the environments, and what they do to a game."""

import gymnasium
import numpy as np
import supersuit as ss

import krypenv
from krypenv import krypkasino_v0

N = krypenv.Rules.preset("krypkasino", players=2).observation_size


def env():
    return krypkasino_v0.env(variant="mini-low")


def one_seat():
    return gymnasium.make("Krypkasino-v0")


def play(wrapped, seed=1):
    """Play the first legal action to the end; return what was seen, and the rewards that were paid."""
    wrapped.reset(seed=seed)
    seen, paid = [], []
    for _ in wrapped.agent_iter():
        observation, reward, termination, truncation, info = wrapped.last()
        over = termination or truncation
        seen.append(observation.copy())  # a stack is written anew in place
        paid.append(reward)
        wrapped.step(None if over else int(np.flatnonzero(info["action_mask"])[0]))
    return seen, paid


def vectors(wrapped):
    """The environment with the observation alone: the mask is in the info, too."""
    return ss.observation_lambda_v0(
        wrapped, lambda seen, *_: seen["observation"], lambda space, _: space["observation"]
    )


def test_observations_alone_take_the_wrappers_of_boxes():
    plain = [seen["observation"] for seen in play(env())[0]]
    size = len(plain[0])
    single = play(ss.dtype_v0(vectors(env()), np.float32))[0]
    assert single[0].dtype == np.float32
    np.testing.assert_array_equal(single, plain)
    stacked = play(ss.frame_stack_v1(vectors(env()), 2))[0]
    np.testing.assert_array_equal([seen[-size:] for seen in stacked], plain)
    np.testing.assert_array_equal(stacked[2][:size], plain[0])  # what the seat saw last, two turns before
    told = play(ss.agent_indicator_v0(ss.pad_observations_v0(vectors(env()))))[0]
    np.testing.assert_array_equal([seen[size:] > 0 for seen in told[:2]], [[True, False], [False, True]])


def test_one_seat_takes_the_wrappers_of_gymnasium():
    wrapped = ss.frame_stack_v1(ss.dtype_v0(one_seat(), np.float32), 2)
    observation, info = wrapped.reset(seed=1)
    assert observation.shape == wrapped.observation_space.shape == (2 * N,)
    assert info["action_mask"].any()
    observation, *_ = wrapped.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert observation.dtype == np.float32
