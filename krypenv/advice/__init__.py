"""The values of the moves of a decision, by an agent that values moves: margins over worlds, and sweeps that follow.

estimates  a mean over worlds with its interval
sweeps     sweeps that a move sets up and risks
values     the moves of a decision with their values
"""
