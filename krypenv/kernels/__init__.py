"""The rules as compiled functions over one game's row, and the state that they work on.

state        the record of a game, and its random streams
compiled     rules, compiled into a record that the kernels read, and multisets of ranks packed into an integer
captures     what a card must take where captures are maximal, and the search for one union of groups
unions       what a card may take where captures are optional
builds       what may be laid together, captured as one and raised
scoring      points, sweeps, scores and margins
deals        decks and deals
plays        one play: what a card takes, and what counts of it
play         the course of a game and of a session
observation  what a seat sees
gains        what an optional capture is worth
outlook      what the next seat may hold
weighing     what an action costs and leads to
features     the features block, a row for each card
checks       checks of observations and masks from outside
"""
