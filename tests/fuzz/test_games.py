"""What the engine, agents and trees of sessions are handed at random moments of all games and of random rules.

Damage is refused and changes nothing, or what is made of it is played on with every invariant.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.checked_play import LOOK_AFTER, CheckedPlay
from support.fuzzing import ODD, REFUSED, attempt, fuzz, seeded
from support.games import seen_by
from support.random_rules import some_rules

from krypenv import Engine, Rules, agents, determinize
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course
from krypenv.envs.resampling import resampled
from krypenv.inputs.words import is_whole
from krypenv.observation import LAYOUT, SIZE
from krypenv.rules import FIELDS
from krypenv.state import GAME
from krypenv.worlds.invariants import check_state

ROWS = 4
VALUES = (-128, -127, -101, -2, -1, 0, 1, 2, 3, 4, 5, 8, 13, 26, 27, 52, 104, 126, 127)
AGENTS = (
    "random", "greedy", "tactician", "rollout(worlds=2)", "search(worlds=2)", "ismcts(worlds=4)", "champion(worlds=2)",
)  # fmt: skip


def moment(rng: random.Random) -> tuple[Rules, Engine]:
    """Return rules, and an engine at some moment of random play, late in long sessions too."""
    rules = some_rules(rng)
    engine = Engine(rules, ROWS, seed=rng.getrandbits(32))
    for _ in range(rng.choice((0, 1, 3, 7, 15, 30, 61, 120, 2000))):
        engine.step(engine.sample_actions())
    return rules, engine


def damaged(numbers: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return an observation or a mask, (N,) int8, with one to three changes, half of them in its small blocks."""
    numbers = numbers.copy()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        block = rng.choice(list(LAYOUT.values())) if rng.random() < 0.5 and len(numbers) >= SIZE else slice(0, None)
        part = numbers[block]
        at, other = rng.randrange(len(part)), rng.randrange(len(part))
        kind = rng.randrange(4)
        if kind == 0:
            part[at] = rng.choice(VALUES)
        elif kind == 1:
            part[at : at + 1] += rng.choice((-1, 1))
        elif kind == 2:
            part[[at, other]] = part[[other, at]]
        else:
            part[at:other] = rng.choice(VALUES)
    return numbers


def go_on(engine: Engine) -> None:
    """Play some random actions, and check every invariant after each."""
    for _ in range(6):
        check_state(engine.rules, engine.state)
        assert engine.action_mask.any(axis=1).all()
        engine.step(engine.sample_actions())


@fuzz(share=2, rng=seeded)
def test_a_damaged_observation_is_shown_by_its_world_or_refused(rng: random.Random) -> None:
    rules, engine = moment(rng)
    seen = damaged(seen_by(engine, np.full(ROWS, rng.randrange(rules.players)))[0], rng)
    world = attempt(partial(determinize, seen, rng.randrange(1000), rules), (str(rules), seen.tolist()))
    if world is not REFUSED and not world.over[0]:
        viewer = rules.players - 1 - int(seen[LAYOUT["dealer"]].argmax())
        going = Engine.from_state(rules, world)
        assert (seen_by(going, np.array([viewer]))[0] == seen).all()
        go_on(going)


@fuzz(share=2, rng=seeded)
def test_an_agent_that_is_handed_damage_obeys_the_mask_or_refuses_it(rng: random.Random) -> None:
    rules, engine = moment(rng)
    agent = agents.make(rng.choice(AGENTS), rules)
    seen, mask = engine.observation.copy(), engine.action_mask.copy()
    for rows in rng.choice(((seen,), (mask,), (seen, mask))):
        rows[1] = damaged(rows[1], rng)
    what = agent.name, str(rules), seen[1].tolist(), mask[1].tolist()
    actions = attempt(partial(agent.act, seen, mask), what)
    assert actions is REFUSED or mask[1, actions[1]], what


@fuzz(share=2, rng=seeded)
def test_a_damaged_state_is_played_on_or_refused_and_changes_nothing(rng: random.Random) -> None:
    rules, engine = moment(rng)
    state = engine.state[:1].copy()
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice([name for name in GAME.names if name != "rng"])
        numbers = state[name].reshape(-1)
        at, data = rng.randrange(len(numbers)), numbers.view(np.uint8)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        if rng.random() < 0.7 and numbers.dtype != np.bool_:
            low, high = np.iinfo(numbers.dtype).min, np.iinfo(numbers.dtype).max
            now = int(engine.state[name][0].reshape(-1)[at])
            numbers[at] = np.clip(rng.choice((low, high, -1, 0, 1, 1000, now + 1, now - 1)), low, high)
    going = Engine(rules, 1, seed=1)
    before = going.state.tobytes()
    if attempt(partial(going.set_state, state), (str(rules), state)) is REFUSED:
        assert going.state.tobytes() == before
    else:
        go_on(going)


@fuzz(rng=seeded)
def test_random_rules_are_refused_or_keep_every_invariant_and_are_searched(rng: random.Random) -> None:
    other, base = Rules.random(rng.getrandbits(64)), Rules.random(rng.getrandbits(64))
    mixed = {field: getattr(other, field) for field in rng.sample(FIELDS, rng.choice((0, 0, 1, 2, 5)))}
    rules = attempt(partial(base.replace, **mixed), (str(base), mixed))
    if rules is REFUSED:
        return
    play = CheckedPlay(rules, rng.randrange(1 << 32))
    for _ in range(rng.choice((1, 1, 4)) * LOOK_AFTER):
        play.go_on()
    engine = Engine.from_state(rules, play.engine.state[:4], features=True)
    for name in ("tactician", "search(worlds=1,plies=1)"):
        engine.step(agents.make(name, rules).act(engine.observation, engine.action_mask))


# ---------------------------------------------------------------------- sessions as trees

odd = st.integers(-60, 200) | st.sampled_from(ODD)


def actions_of(course: Course) -> list[int]:
    """Return what chance or the seat to act may do."""
    if course.turn == TERMINAL:
        return []
    return [kind for kind, _ in course.chance_outcomes()] if course.turn == CHANCE else course.legal_actions()


@fuzz(share=8, action=odd | st.none(), seat=st.sampled_from(range(4)) | odd, rng=seeded)
def test_an_odd_action_is_legal_and_an_odd_seat_gets_other_hands_or_nothing_changes(
    action: Any, seat: Any, rng: random.Random
) -> None:
    course = Course(CoursePlan(some_rules(rng), rng.random() < 0.3))
    for _ in range(rng.randrange(150)):
        if course.turn != TERMINAL:
            course = course.after(rng.choice(actions_of(course)))
    legal = actions_of(course)
    action = legal[0] if legal and action is None else action
    before, what = (course.state.tobytes(), course.path, course.views), (str(course.rules), course.path, action, seat)
    following = attempt(partial(course.after, action), what)
    assert (following is not REFUSED) == (is_whole(action, 0, 200) and int(action) in legal), what
    twin = attempt(partial(resampled, course, seat, rng.randrange(1 << 53)), what)
    assert (twin is not REFUSED) == (course.turn >= 0 and is_whole(seat, 0, course.rules.players - 1)), what
    assert before == (course.state.tobytes(), course.path, course.views)
