"""Games from outside: whether play leads to them, and games that show what a seat has seen.

hidden       the cards that a seat can't see, dealt at random
invariants   checks of states from outside
determinize  complete games that show a given observation
"""
