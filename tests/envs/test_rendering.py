"""What environments show: Gymnasium's render modes, videos, and the moment that is shown."""

from __future__ import annotations

import re

import gymnasium
import numpy as np
import pytest

from krypenv import Game, kasino_v0
from krypenv.families.variants import FAMILIES
from krypenv.game.display import format_game, seats_shown
from krypenv.pictures import draw_game


def play(env, seed=1):
    """Play the first legal action to the end; yield after the reset and after each step."""
    _, info = env.reset(seed=seed)
    yield False
    is_over = False
    while not is_over:
        _, _, is_over, _, info = env.step(int(np.asarray(info["action_mask"]).argmax()))
        yield is_over


@pytest.mark.parametrize("family", FAMILIES)
def test_one_learner_is_shown_at_its_decisions_and_at_the_end(family):
    env = gymnasium.make(family.gym_id, render_mode="ansi", players=3, seat="random", opponents="greedy")
    moments = 0
    for is_over in play(env):
        moments += 1
        text = env.render()
        assert len(re.findall(r"^> seat ", text, re.MULTILINE)) == (not is_over)
        assert ("The game is over" in text) == is_over
    assert moments > 10


def test_the_end_that_is_shown_is_that_of_the_game():
    env = gymnasium.make("Kasino-v0", render_mode="rgb_array", render_seat="all", reward="points").unwrapped
    _, info = env.reset(seed=7)
    is_over = False
    while not is_over:
        _, reward, is_over, _, info = env.step(int(info["action_mask"].argmax()))
    final = Game.at_row(env.batch.rules, env.batch.ended[0])
    assert final.is_over
    assert final.scores()[0] == reward
    assert np.array_equal(env.render(), draw_game(final, "all"))


def test_an_illegal_action_leaves_the_picture_as_it_was():
    env = gymnasium.make("Krypkasino-v0", render_mode="rgb_array", disable_env_checker=True)
    _, info = env.reset(seed=1)
    before = env.render()
    _, _, is_over, _, _ = env.step(int(info["action_mask"].argmin()))
    assert is_over
    assert np.array_equal(env.render(), before)


def test_many_games_are_shown_as_many_pictures():
    envs = gymnasium.make_vec("Kasino-v0", num_envs=3, render_mode="rgb_array", players=3, seat="random")
    with pytest.raises(ValueError, match="'rgb_array', 'ansi' or None"):
        gymnasium.make_vec("Kasino-v0", num_envs=3, render_mode="human")
    _, infos = envs.reset(seed=4)
    for _ in range(20):
        *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
    pictures = envs.render()
    assert [picture.shape for picture in pictures] == [(720, 960, 3)] * 3
    assert not np.array_equal(pictures[0], pictures[1])


@pytest.mark.parametrize("render_seat", ["turn", 2, "all", None])
def test_each_of_many_games_shows_the_hands_that_it_should(render_seat):
    envs = gymnasium.make_vec(
        "Kasino-v0", num_envs=8, render_mode="ansi", players=3, seat="random", render_seat=render_seat
    )
    envs.reset(seed=4)
    batch, shown = envs.unwrapped.batch, render_seat
    assert len(set(batch.seats.tolist())) == 3
    for text, state, seat in zip(envs.render(), batch.engine.state, batch.seats.tolist(), strict=True):
        if render_seat == "turn":
            shown = seat
        game = Game.at_row(batch.rules, state)
        assert text == format_game(game, seats_shown(game, shown))


def test_a_wrong_mode_is_refused():
    for make in (lambda **mode: gymnasium.make("Mulle-v0", **mode), lambda **mode: kasino_v0.env(**mode)):
        with pytest.raises(ValueError, match="it is one of human, rgb_array, ansi, or None"):
            make(render_mode="rgb")
