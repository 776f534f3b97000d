"""The matches of an arena and their seatings, balanced over places and neighbours."""

from __future__ import annotations

import math
from itertools import combinations, combinations_with_replacement, permutations

MOST_MATCHES = 10_000
Seating = tuple[int, ...]  # the index of the agent on each side


def matches(agents: int, sides: int) -> list[list[Seating]]:
    """List the seatings of each match among some agents; each deal of a match is played in all its seatings.

    Each choice of S different agents is a match; with fewer agents than sides, each choice of S with repetition that
    has at least two different agents. Raises ValueError for more than `MOST_MATCHES` matches.

    >>> matches(agents=3, sides=2)
    [[(0, 1), (1, 0)], [(0, 2), (2, 0)], [(1, 2), (2, 1)]]
    """
    if math.comb(agents if agents >= sides else agents + sides - 1, sides) > MOST_MATCHES:
        raise ValueError(f"{agents} agents on {sides} sides make more than {MOST_MATCHES:,} matches; enter fewer")
    choose = combinations if agents >= sides else combinations_with_replacement
    return [seatings(members) for members in choose(range(agents), sides) if len(set(members)) > 1]


def seatings(members: Seating) -> list[Seating]:
    """List seatings of S agents in which each agent sits in every place, and after every other agent, equally often.

    These are all rotations of `circular_orders` or, if there are fewer, all distinct arrangements. Neighbours matter,
    as a sweep costs the previous seat points (R9).
    """
    sides = len(members)
    design = [
        tuple(members[order[(place + turn) % sides]] for place in range(sides))
        for order in circular_orders(sides)
        for turn in range(sides)
    ]
    return min(sorted(set(permutations(members))), design, key=len)


def circular_orders(sides: int) -> list[Seating]:
    """List orders of 2 to 6 sides around a table in which each side follows each other side equally often.

    Up to 4 sides these are all orders. With 3 and 5, primes, order k steps around the table by k, and each side follows
    each other once. With 4 and 6 no set of orders does that (Bermond and Faber, 1976), and each side follows each other
    twice: Walecki's zigzag 0, 1, S-2, 2, S-3, ... modulo S-1, closed by one more side, in all shifts and directions.
    """
    if sides % 2:
        return [tuple(step * place % sides for place in range(sides)) for step in range(1, sides)]
    ring = sides - 1
    zigzag = [place // 2 + 1 if place % 2 else -(place // 2) for place in range(ring)]
    shifts = [(ring, *((turn + place) % ring for place in zigzag)) for turn in range(ring)]
    return sorted({order for shift in shifts for order in (shift, (shift[0], *shift[:0:-1]))})
