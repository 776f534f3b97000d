"""Environments in the forms that other libraries expect. They translate; the rules are in the engine.

base                what all environments share
learner             games in which one seat learns, and opponents or the learner itself play the others
opponents           the opponents of a learner
aec                 the environment with PettingZoo's AEC interface
chance              what chance deals, card by card
course              a session as a tree: chance deals, and the seats act
course_text         texts in which it remembers cards and plays
resampling          courses that a seat can't tell from its own
structs             positions as plain values, for programs and OpenSpiel
openspiel           the games as a game of OpenSpiel, and bots both ways
openspiel_observer  what OpenSpiel observes, and its structs
"""
