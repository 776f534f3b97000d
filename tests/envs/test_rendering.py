"""What environments show: the learner's decisions and the end, many games at once, and windows that copies open."""

from __future__ import annotations

import copy
import pickle
import re

import gymnasium
import numpy as np
import pytest

from krypenv import Game, mulle_v0
from krypenv.game.display import format_game, seats_shown
from krypenv.pictures import draw_game
from krypenv.pictures.rendering import Renderer
from krypenv.rewards import illegal_reward


def play(env, seed=1):
    """Play the first legal action to the end; yield what the reset and each step say."""
    observation, info = env.reset(seed=seed)
    yield observation, 0.0, False, False, info
    is_over = False
    while not is_over:
        told = env.step(int(np.asarray(info["action_mask"]).argmax()))
        *_, is_over, _, info = told
        yield told


def test_one_learner_is_shown_at_its_decisions_and_at_the_end():
    env = gymnasium.make("Krypkasino-v0", render_mode="ansi", players=3, seat="random", opponents="greedy")
    moments = [(is_over, env.render()) for *_, is_over, _, _ in play(env)]
    for is_over, text in moments:
        assert len(re.findall(r"^> seat ", text, re.MULTILINE)) == (not is_over)
        assert ("The game is over" in text) == is_over
    assert len(moments) > 10


def test_the_end_that_is_shown_is_that_of_the_game():
    env = gymnasium.make("Kasino-v0", render_mode="rgb_array", render_seat="all", reward="points").unwrapped
    *_, (_, reward, *_) = play(env, seed=7)
    final = Game.at_row(env.batch.rules, env.batch.ended[0])
    assert final.is_over
    assert final.scores()[0] == reward
    assert np.array_equal(env.render(), draw_game(final, "all"))


def test_an_illegal_action_ends_the_episode_and_leaves_the_picture_as_it_was():
    env = gymnasium.make("Krypkasino-v0", render_mode="rgb_array", disable_env_checker=True, players=3)
    before, info = env.reset(seed=1)
    picture = env.render()
    after, *ending, ended = env.step(int(info["action_mask"].argmin()))
    assert ending == [env.unwrapped.illegal_reward, True, False]
    assert env.unwrapped.illegal_reward == illegal_reward(env.unwrapped.batch.rules, "centred", False)
    np.testing.assert_array_equal(after, before)
    assert not ended["action_mask"].any()
    assert np.array_equal(env.render(), picture)
    fresh, info = env.reset()
    assert (fresh != before).any()
    assert info["action_mask"].any()


@pytest.mark.parametrize("render_seat", ["turn", 2, "all", None])
def test_each_of_many_games_shows_the_hands_that_it_should(render_seat):
    envs = gymnasium.make_vec(
        "Kasino-v0", num_envs=8, render_mode="ansi", players=3, seat="random", render_seat=render_seat
    )
    envs.reset(seed=4)
    batch = envs.unwrapped.batch
    assert len(set(batch.seats.tolist())) == 3
    for text, state, seat in zip(envs.render(), batch.engine.state, batch.seats.tolist(), strict=True):
        game = Game.at_row(batch.rules, state)
        assert text == format_game(game, seats_shown(game, seat if render_seat == "turn" else render_seat))


# ---------------------------------------------------------------------- windows


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("kind", ["all seats", "one learner"])
def test_a_copy_of_a_watched_environment_opens_its_own_window(kind, copied, monkeypatch):
    opened, plain = [], Renderer._opened
    monkeypatch.setattr(Renderer, "_opened", lambda self, size: opened.append(self) or plain(self, size))
    seated = gymnasium.make("Krypkasino-v0", render_mode="human", seat="random", opponents="greedy").unwrapped
    env = seated if kind == "one learner" else mulle_v0.env(render_mode="human")
    never_reset = copied(env)
    env.reset(seed=3)
    twin = copied(env)
    assert len(opened) == 1, "the copies have no window yet"
    masks = [each.action_masks() if env is seated else each.last()[0]["action_mask"] for each in (env, twin)]
    for each, mask in zip((env, twin), masks, strict=True):
        each.step(int(mask.argmax()))
    never_reset.reset(seed=3)
    assert len({id(each) for each in opened}) == 3
    env.close()
    copied(env).render()  # a window that was closed is not closed for the copy
    assert len(opened) == 4
    for each in (twin, never_reset):
        each.close()
