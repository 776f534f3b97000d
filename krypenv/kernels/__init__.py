"""The rules as compiled functions over one game's row of `krypenv.state`.

compiled         rules, compiled into a record that the kernels read, and multisets of ranks packed into an integer
unions           sets of table cards that are made of groups of one value
captures         what a card must take where captures are maximal
optional         what a card may take next where captures are optional
builds           what may be laid together, captured as one and raised
scoring          points, sweeps, scores and margins
deals            decks and deals
completing       one play: what a card takes, and what counts of it
play             the course of a game and of a session
observing        what a seat sees
gains            what an optional capture is worth
outlook          what the next seat may hold
weighing         what an action costs and leads to
decision_checks  checks of observations and masks from outside
"""
