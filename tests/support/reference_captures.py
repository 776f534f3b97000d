"""Captures by brute force from docs/rulings.md (R7, K2), for the slow reference; it shares no code with the package."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, product

import numpy as np

Cards = tuple[int, ...]
Values = tuple[int, ...]  # that a card may have


def rank(card: int) -> int:
    """Return the rank 1..13 of a kind."""
    return card % 13 + 1


def list_groups(stacks: tuple[tuple[Values, int], ...], target: int) -> list[Cards]:
    """Return the groups: choices of cards from stacks, as numbers of copies, that sum to a target by some values."""
    groups: list[tuple[Cards, set[int]]] = [((), {0})]
    for values, copies in stacks:
        longer = []
        for chosen, sums in groups:
            for number in range(copies + 1):
                longer.append(((*chosen, number), sums))
                sums = {total + value for total in sums for value in values if total + value <= target}
        groups = [(chosen, sums) for chosen, sums in longer if sums]
    return [chosen for chosen, sums in groups if target in sums]


@lru_cache(maxsize=1 << 16)
def list_unions(stacks: tuple[tuple[Values, int], ...], targets: Values, maximal: bool) -> tuple[Cards, ...]:
    """Return the captures (R7, K2) from stacks of equal cards, each as the number taken from every stack.

    `stacks` holds (table values, copies). A capture is a union of disjoint groups that sum to one of the targets. It is
    maximal when no other capture contains it.
    """
    copies, weights = np.array([number for _, number in stacks], int), 16 ** np.arange(len(stacks))
    found = np.zeros((0, len(stacks)), int)
    for target in targets:
        unions = np.zeros((1, len(stacks)), int)
        for group in map(np.array, list_groups(stacks, target)):
            fresh = unions
            while len(fresh := fresh[(fresh + group <= copies).all(axis=1)] + group):
                unions = np.concatenate([unions, fresh])
            unions = unions[np.unique(unions @ weights, return_index=True)[1]]
        found = np.concatenate([found, unions[unions.any(axis=1)]])
    if maximal:
        largest = []
        while len(found):
            largest.append(found[found.sum(axis=1).argmax()])
            found = found[(found > largest[-1]).any(axis=1)]
        return tuple(tuple(each.tolist()) for each in largest)
    return tuple(set(map(tuple, found.tolist())))


@lru_cache(maxsize=1 << 14)
def list_captures(
    table: Cards, values: tuple[tuple[int, Values], ...], targets: Values, maximal: bool
) -> frozenset[Cards]:
    """Return the captures from a sorted table by targets, as sorted kinds; `values` holds ranks and their values.

    Ranks decide: a capture that lies in a larger one by ranks can be filled up to such a larger one with the other
    cards of the table. The kinds are then chosen in every way for each rank.
    """
    kinds_of = [[card for card in table if rank(card) == each] for each, _ in values]
    stacks = tuple((own, len(kinds)) for (_, own), kinds in zip(values, kinds_of, strict=True))
    found: set[Cards] = set()
    for counts in list_unions(stacks, targets, maximal):
        choices = [set(combinations(kinds, number)) for kinds, number in zip(kinds_of, counts, strict=True)]
        found |= {tuple(sorted(sum(choice, ()))) for choice in product(*choices)}
    return frozenset(found)
