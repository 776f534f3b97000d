"""SuperSuit: which of its wrappers take the environments, and what they do to a game."""

import numpy as np
import supersuit as ss

from krypenv import krypkasino_v0

ENV = krypkasino_v0.env(variant="mini-low")


def play(wrapped):
    """What is seen where the first legal action is played to the end."""
    wrapped.reset(seed=1)
    seen = []
    for _ in wrapped.agent_iter():
        observation, _, terminated, truncated, info = wrapped.last()
        seen.append(observation.copy())  # a stack is written anew in place
        wrapped.step(None if terminated or truncated else int(info["action_mask"].argmax()))
    return seen


def vectors(wrapped):
    """The environment with the observation alone: the mask is in the info, too."""
    return ss.observation_lambda_v0(
        wrapped, lambda seen, *_: seen["observation"], lambda space, _: space["observation"]
    )


def test_observations_alone_take_the_wrappers_of_boxes():
    plain = [seen["observation"] for seen in play(ENV)]
    size = len(plain[0])
    single = play(ss.dtype_v0(vectors(ENV), np.float32))
    assert single[0].dtype == np.float32
    np.testing.assert_array_equal(single, plain)
    stacked = play(ss.frame_stack_v1(vectors(ENV), 2))
    np.testing.assert_array_equal([seen[-size:] for seen in stacked], plain)
    np.testing.assert_array_equal(stacked[2][:size], plain[0])  # what the seat saw last, two turns before
    told = play(ss.agent_indicator_v0(ss.pad_observations_v0(vectors(ENV))))
    np.testing.assert_array_equal([seen[size:] > 0 for seen in told[:2]], [[True, False], [False, True]])
