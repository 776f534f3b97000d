"""Studies of small games that are solved, each a file.

small       agents against perfect play, and what training reaches
matched     what the goal changes between perfect players
recall      what memory of earlier deals is worth to them
baselines   how soon our solver, OpenSpiel's algorithms and PPO come close to an equilibrium
late_deals  what perfect play of the last two deals of a full game is worth
late_bounds how far from it agents are in its whole deals, by bounded ranges
openspiel   OpenSpiel's side of a small game: its tree, its measure and its algorithms
"""
