"""Studies of small games that are solved, each a file.

small    agents against perfect play, and what training reaches
matched  what the goal changes between perfect players
"""
