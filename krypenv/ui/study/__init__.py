"""For who wants to learn: games that are over, step by step with all hands open, and lessons that are played.

steps      a game step by step, and a decision with the values of its moves, in words
challenge  the same cards played by an agent, beside a person's game
studies    the server of pages that study games
lessons    positions that teach by being played
guided     a first deal with a guide
exercises  what a learner plays: the lessons, then the guided deal
learners   the server of pages of who learns, each with a table of its own
"""
