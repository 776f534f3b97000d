"""Sessions as trees: odd actions of chance and of the seats, and other hands drawn anew for a seat."""

from __future__ import annotations

import random
from functools import partial, reduce
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.fuzzing import NASTY_VALUES, REFUSED, Tally, attempt, fuzzer, seeded

from fuzz.games import PLAYABLE
from krypenv import Rules
from krypenv.cards import NUM_KINDS
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course
from krypenv.envs.resampling import resampled
from krypenv.inputs.words import is_whole
from krypenv.worlds.invariants import check_state

OF_NUMPY = (np.int8(3), np.int64(-1), np.uint64(2**64 - 1), np.bool_(True), np.array(3), np.array([1]), np.float32(1))
odd = st.integers(-60, 200) | st.sampled_from((*NASTY_VALUES, *OF_NUMPY))


def actions_of(course: Course) -> list[int]:
    """Return what chance or the seat to act may do."""
    if course.turn == TERMINAL:
        return []
    return [kind for kind, _ in course.chance_outcomes()] if course.turn == CHANCE else course.legal_actions()


@fuzzer(share=2, action=odd | st.none(), seat=st.sampled_from(range(4)) | odd, rng=seeded)
def courses(tally: Tally, action: Any, seat: Any, rng: random.Random) -> None:
    """An odd action is carried out if it is legal, and a seat that there is gets other hands; or nothing is changed."""
    rules = Rules.random(rng.getrandbits(64)) if rng.random() < 0.2 else rng.choice([*PLAYABLE.values()])
    course = Course(CoursePlan(rules, rng.random() < 0.3))
    for _ in range(rng.randrange(150)):
        if course.turn != TERMINAL:
            course = course.after(rng.choice(actions_of(course)))
    legal = actions_of(course)
    if action is None:  # a legal one, or one beyond them
        action = rng.choice((*legal[:1], NUM_KINDS if course.turn == CHANCE else course.rules.num_actions))
    before, what = (course.state.tobytes(), course.path, course.views), (str(course.rules), course.path, action, seat)
    following = attempt(partial(course.after, action), tally, what)
    assert (following is not REFUSED) == (is_whole(action, 0, 200) and int(action) in legal), what
    twin = attempt(partial(resampled, course, seat, rng.randrange(1 << 53)), tally, what)
    assert (twin is not REFUSED) == (course.turn >= 0 and is_whole(seat, 0, course.rules.players - 1)), what
    assert before == (course.state.tobytes(), course.path, course.views)
    if twin is not REFUSED:
        check_alike(course, twin, int(seat))


def check_alike(course: Course, twin: Course, seat: int) -> None:
    """Assert that a seat can't tell a course from another one, and that its path leads to it."""
    for one, other in ((course, twin), (twin, reduce(Course.after, twin.path, Course(twin.plan)))):
        assert other.turn == one.turn
        assert other.recall(seat) == one.recall(seat)
        assert (other.record, other.plays) == (one.record, one.plays)
        assert (other.observation(seat) == one.observation(seat)).all()
        seen, known = ([draw for draw in each.dealt() if draw[1] in (seat, -1)] for each in (one, other))
        assert known == seen
        assert seat != one.turn or other.legal_actions() == one.legal_actions()
    assert str(other) == str(twin)
    assert other.views == twin.views
    check_state(course.rules, np.atleast_1d(np.asarray(twin.state)).view(np.recarray))
