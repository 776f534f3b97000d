"""Games from outside: whether play leads to them, and games that show what a seat has seen.

invariants        checks of states from outside
build_invariants  checks of the builds in them
hidden            the cards that a seat can't see, dealt at random
cut_points        points beyond what an observation shows
determinize       complete games that show a given observation
"""
