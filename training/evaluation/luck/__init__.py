"""Luck taken out of margins: what the cards brought at each deal, measured while games are played.

meter    the luck of the deals of many games
control  which rollouts value a deal, stored with their coefficients, and in which matches
of_game  the luck of one game, deal by deal, and in a sentence
"""
