"""Matches between agents over duplicate deals.

duplicate        matches of two agents, with confidence intervals, and their tables
duplicate_deals  the deals of such a match, each played from every side
deal_lists       lists of deals
margins          margins and their intervals, as figures and as text
mixed_table      many games of several agents at once
"""
