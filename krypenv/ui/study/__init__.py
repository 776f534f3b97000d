"""For who wants to learn: games that are over, step by step with all hands open, and lessons that are played.

steps      a game step by step, and a decision with the values of its moves, in words
visits     what pages that study may ask for
challenge  the same cards played by an agent, beside a person's game
entries    the text of a position, changed entry by entry
boards     a position that is being set up
editor     the editor of positions
studies    the server of pages that study games
lessons    positions that teach by being played
guided     a first deal with a guide
exercises  what a learner plays: the lessons, then the guided deal
learners   the server of pages of who learns, each with a table of its own
"""
