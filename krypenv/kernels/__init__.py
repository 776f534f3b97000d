"""The rules as compiled functions over one game's row, and the state that they work on.

state        the record of a game
compiled     rules, compiled into a record that the kernels read
captures     what a card can take
scoring      who gains and who pays, and which end of the score is good
play         one play, the deals, and the end of a game
observation  what a seat sees
features     what a player works out on the table, for each card
checks       observations and masks from outside are held to what can be
invariants   states from outside, too
worlds       complete games that show a given observation
stepping     steps of many games at once
stack        steps of one game that can be taken back
"""
