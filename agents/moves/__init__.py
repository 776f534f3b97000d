"""Whole moves: a card with what it takes, builds, joins or captures, listed once for search, judgement and features.

record    the record of a move
space     scratch for listing moves, and how many are kept
prices    what cards, builds and moves win
kinds     which of the cards of a rank a move takes
maximal   moves where captures must be made, and are maximal (R7)
optional  moves where captures are optional (K2)
builds    moves where cards are built (B)
listing   the moves of any rules, and their order
making    carrying out moves, as a whole or by staged actions
"""
