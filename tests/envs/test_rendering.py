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
from krypenv.pictures.rendering import RENDER_MODES, Renderer


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


def test_an_illegal_action_leaves_the_picture_as_it_was():
    env = gymnasium.make("Krypkasino-v0", render_mode="rgb_array", disable_env_checker=True)
    _, info = env.reset(seed=1)
    before = env.render()
    assert env.step(int(info["action_mask"].argmin()))[2]
    assert np.array_equal(env.render(), before)


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


def test_many_games_are_shown_in_no_window():
    with pytest.raises(ValueError, match="'rgb_array', 'ansi' or None"):
        gymnasium.make_vec("Kasino-v0", num_envs=3, render_mode="human")


# ---------------------------------------------------------------------- windows


@pytest.fixture
def opened(monkeypatch):
    """Those that opened a window, in order."""
    openers, plain = [], Renderer._opened
    monkeypatch.setattr(Renderer, "_opened", lambda self, size: openers.append(self) or plain(self, size))
    return openers


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_a_watched_environment_opens_its_own_window(copied, opened):
    env = mulle_v0.env(render_mode="human")
    never_reset = copied(env)
    env.reset(seed=3)
    twin = copied(env)
    assert len(opened) == 1, "the copies have no window yet"
    for each in (env, twin):
        each.step(int(np.flatnonzero(each.last()[0]["action_mask"])[0]))
    for agent in env.possible_agents:
        assert (env.observe(agent)["observation"] == twin.observe(agent)["observation"]).all()
    never_reset.reset(seed=3)
    assert len({id(each) for each in opened}) == 3
    for each in (env, twin, never_reset):
        each.close()


@pytest.mark.parametrize("mode", RENDER_MODES)
def test_a_copy_of_a_learner_s_environment_is_shown_alike(mode, opened):
    env = gymnasium.make("Krypkasino-v0", render_mode=mode, seat="random", opponents="greedy").unwrapped
    env.reset(seed=5)
    twin = copy.deepcopy(env)
    env.step(int(env.action_masks().argmax()))
    twin.step(int(twin.action_masks().argmax()))
    assert np.array_equal(env.render(), twin.render())
    env.close()
    copy.deepcopy(env).render()  # a window that was closed is not closed for the copy
    assert len(opened) == (3 if mode == "human" else 0)
