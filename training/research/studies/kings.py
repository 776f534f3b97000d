"""Kings: no card captures more, and here nobody wants to. Should they leave the hand early or late?"""

import numpy as np

from krypenv.cards import KING, NUM_KINDS, NUM_RANKS
from krypenv.rules import Rules
from krypenv.training.lab.comparison import comparison_of_habits
from krypenv.training.lab.habits import BoolArray, Habit, Int8Array, creeping, first_of

_KINGS = np.arange(NUM_KINDS) % NUM_RANKS == KING - 1


def kings_first(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card creeps, it is a king where one can."""
    return first_of(creeping(rules, observations, masks), ~_KINGS, masks)


def kings_last(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card creeps, it is no king where another one can."""
    return first_of(creeping(rules, observations, masks), _KINGS, masks)


HABITS: dict[str, Habit] = {"creep kings first": kings_first, "creep kings last": kings_last}
STUDY = comparison_of_habits("kings", "Should kings leave the hand early or late?", HABITS)
