"""The rules as compiled functions over one game's row, and the state that they work on.

state        the record of a game
streams      random streams of a game
compiled     rules, compiled into a record that the kernels read
captures     what a card can take
scoring      points, sweeps, scores and margins
play         one play, the deals, and the end of a game
observation  what a seat sees
features     the features block, a row for each card
checks       checks of observations and masks from outside
invariants   checks of states from outside
worlds       complete games that show a given observation
stepping     steps of many games at once
stack        steps of one game that can be undone
"""
