"""Environments in the forms that other libraries expect. They translate; the rules are in the engine.

learner             games in which one seat learns, and opponents or the learner itself play the others
opponents           the opponents of a learner
aec                 the environment with PettingZoo's AEC interface
chance              what chance deals, card by card
course              a session as a tree: chance deals, and the seats act
course_text         texts in which it remembers cards and plays
resampling          courses that a seat can't tell from its own
openspiel           for OpenSpiel: the module to import
openspiel_game      the games as a game of OpenSpiel
openspiel_observer  what OpenSpiel observes
openspiel_bots      agents as bots there, and bots as agents here
"""
