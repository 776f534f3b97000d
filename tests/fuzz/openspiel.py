"""Fuzzers of sessions as trees: actions of chance and of the seats, and other hands drawn anew for a seat."""

from __future__ import annotations

import pickle
import random
from functools import lru_cache, partial
from typing import Any

import numpy as np
from support.fuzzing import NASTY_VALUES, REFUSED, Fuzzer, Tally, attempt
from support.random_rules import draw_rules
from support.relatives import BUILDING, GLIMNE

from fuzz.games import PLAYABLE
from krypenv import Rules
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course
from krypenv.envs.resampling import resampled
from krypenv.inputs.words import is_whole
from krypenv.worlds.invariants import check_state

ALL = [*PLAYABLE.values(), *map(Rules.preset, Rules.presets())]
BUILDY = [*BUILDING.values(), *GLIMNE.values()]  # where what another seat holds decides how its play is staged
GAMES = 1  # random games by the same rules, and as many that began from a state
KEPT = 120  # moments of them
MOST_STEPS = 250  # of a session, which may be long
NUMBERS = (-(2**63), -105, -53, -52, -1, 0, 1, 12, 51, 52, 103, 104, 105, 121, 122, 138, 139, 2**31, 2**64)
ODD: tuple[Any, ...] = (
    *NUMBERS,
    *NASTY_VALUES,
    np.int8(3),
    np.int64(-1),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.array(3),
    np.array([1]),
    np.float32(1),
)


def go_on(course: Course, rng: random.Random, steps: int) -> list[Course]:
    """Return a course and those after it, of random actions."""
    passed = [course]
    while len(passed) <= steps and passed[-1].turn != TERMINAL:
        course = passed[-1]
        if course.turn == CHANCE:
            kinds, chances = zip(*course.chance_outcomes(), strict=True)
            action = rng.choices(kinds, chances)[0]
        else:
            action = rng.choice(course.legal_actions())
        passed.append(course.after(action))
    return passed


@lru_cache(400)
def passed(rules: Rules, sorted_deals: bool) -> list[Course]:
    """Return the courses of some random games, some of which began from a state."""
    rng, found = random.Random(len(str(rules))), []
    for _ in range(GAMES):
        found += go_on(Course(CoursePlan(rules, sorted_deals)), rng, MOST_STEPS)
    begun = rng.choice([course for course in found if course.turn >= 0])
    found += go_on(Course.resume(begun.plan, begun.state), rng, MOST_STEPS)
    return rng.sample(found, min(KEPT, len(found)))


def draw_course(rng: random.Random, kind: str = "any") -> Course:
    """Return a moment of a game by some rules, often by those with builds: any, or one where a seat is to act."""
    rules = rng.choice(BUILDY if rng.random() < 0.4 else ALL)
    if rng.random() < 0.1:
        rules = draw_rules(rng)
    found = passed(rules, rng.random() < 0.3)
    return rng.choice([course for course in found if course.turn >= 0] if kind == "to act" else found)


def fuzz_paths(seed: int, mutants: int) -> Tally:
    """An odd action is carried out if it is a legal one, and else it is refused and nothing is changed."""
    rng, tally = random.Random(seed), Tally()
    for _ in range(mutants):
        course = draw_course(rng)
        legal = course.legal_actions()
        if course.turn == CHANCE:
            legal = [kind for kind, _ in course.chance_outcomes()]
        action = rng.choice([rng.choice(ODD), rng.randrange(-60, 200), *legal[:1]])
        before = course.state.tobytes(), course.path, course.views
        following = attempt(partial(course.after, action), tally, (str(course.rules), course.path, action))
        is_legal = is_whole(action, 0, 200) and int(action) in legal
        assert (following is not REFUSED) == is_legal, (str(course.rules), course.path, action)
        assert before == (course.state.tobytes(), course.path, course.views)
        if is_legal:
            assert following.path == (*course.path, int(action))
            assert {type(each) for each in following.path} == {int}
    return tally


def check_alike(course: Course, twin: Course, seat: int) -> None:
    """Assert that a seat can't tell a course from another one, and that its path leads to it."""
    assert twin.turn == course.turn
    assert twin.recall(seat) == course.recall(seat)
    assert twin.record == course.record
    assert twin.plays == course.plays
    assert twin.own_hands(seat) == course.own_hands(seat)
    assert (twin.observation(seat) == course.observation(seat)).all()
    assert [draw for draw in twin.dealt() if draw[1] in (seat, -1)] == [
        draw for draw in course.dealt() if draw[1] in (seat, -1)
    ]
    if seat == course.turn:
        assert twin.legal_actions() == course.legal_actions()
    check_state(course.rules, np.atleast_1d(np.asarray(twin.state)).view(np.recarray))
    again = twin.start.followed(twin.path)
    assert str(again) == str(twin)
    assert again.legal_actions() == twin.legal_actions()
    assert again.views == twin.views
    if twin.start.turn == CHANCE:
        assert pickle.loads(pickle.dumps(twin)).views == twin.views


def fuzz_resampled(seed: int, mutants: int) -> Tally:
    """Other hands drawn anew leave what a seat knows as it was, or the seat or the moment is refused."""
    rng, tally = random.Random(seed), Tally()
    for _ in range(mutants):
        course = draw_course(rng, "to act" if rng.random() < 0.9 else "any")
        players = course.rules.players
        seat = rng.choice(ODD) if rng.random() < 0.1 else rng.randrange(players)
        what = str(course.rules), course.path, seat
        twin = attempt(partial(resampled, course, seat, rng.randrange(1 << 53)), tally, what)
        assert (twin is not REFUSED) == (course.turn >= 0 and is_whole(seat, 0, players - 1)), what
        if twin is not REFUSED:
            check_alike(course, twin, seat)
    return tally


FUZZERS: dict[str, Fuzzer] = {"paths": fuzz_paths, "resampled": fuzz_resampled}
