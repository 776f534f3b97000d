"""Resampling: a random course of a seat's information set, with other hands and the same moves."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NO_CARD, NUM_KINDS, STOP, TAKE
from krypenv.engine import IllegalMove
from krypenv.envs.course import Course
from krypenv.runtime.jit import handle
from krypenv.worlds.determinize import determinize

MOST_DRAWS = 10_000  # of hands that could have been played like that
_KINDS = np.arange(NUM_KINDS)


def resampled(course: Course, seat: int, seed: int) -> Course:
    """Sample a course of a seat's information set: the other hands of the deal are drawn anew.

    All consistent hands are equally likely (`determinize`). The same moves are made with them, by actions
    that may differ: with other hands a play may need a `stop`, or end without one. Hands that could not have made these
    moves are rejected: a seat that built held a card of the build's value, even if nobody owns the build any more (B5).
    After 10,000 rejections the course itself is returned.

    Raises ValueError for an unknown seat, while chance deals, and at the end.
    """
    seat, rng = course.check_seat(seat), np.random.default_rng(seed)
    if course.turn < 0:
        raise ValueError("other hands are drawn where a seat is to act, not while cards are dealt nor at the end")
    observation = course.observation(seat)
    for _ in range(MOST_DRAWS):
        twin = _played_alike(course, _redealt(course, seat, rng))
        if (
            twin is not None
            and twin.turn == course.turn
            and twin.recall(seat) == course.recall(seat)
            and (twin.observation(seat) == observation).all()
        ):
            return twin
    return course


def _redealt(course: Course, seat: int, rng: np.random.Generator) -> Course:
    """Draw the other hands anew at the deal's first decision."""
    rules, beginning, row = course.rules, course.beginning, course.state
    world = handle(determinize(course.observation(seat), rng, rules))[0]  # its dealer is the last seat
    hands = np.zeros(row["hands"].shape, np.int64)
    hands[: rules.players] = np.roll(world["hands"][: rules.players], int(row["dealer"]) + 1, axis=0)
    for player, (card, *_) in course.plays[len(beginning.plays) :]:
        hands[player, card] += 1
    if _is_choosing(course):  # the card of an unfinished play is in no hand
        hands[course.turn, row["pending"]] += 1
    piles = [np.repeat(_KINDS, hand)[::-1] for hand in hands]
    if not course.plan.sorted_deals:
        piles = [rng.permutation(pile) for pile in piles]
    left = [pile.tolist() for pile in piles]
    twin = beginning
    draws = course.plan.deals[int(row["deal_number"]) - 1]
    for draw, kind in zip(draws, course.path[len(beginning.path) :], strict=False):
        owner = course.owner_of(draw)
        twin = twin.after(kind if owner < 0 or owner == seat else left[owner].pop())
    return twin


def _played_alike(course: Course, twin: Course) -> Course | None:
    """Make the moves of the deal of a course in its twin; None if one is illegal.

    A `stop` is added or left out where the twin's play needs one or ends by itself.
    """
    try:
        for action in course.path[len(twin.path) :]:
            if action < TAKE and _is_choosing(twin):
                twin = twin.after(STOP)
            if action != STOP:
                twin = twin.after(action)
        return twin.after(STOP) if _is_choosing(twin) and not _is_choosing(course) else twin
    except IllegalMove:
        return None


def _is_choosing(course: Course) -> bool:
    """Test whether a play has begun and is not complete."""
    return bool(course.state["pending"] != NO_CARD)
