"""Matches between agents over duplicate deals.

duplicate    matches of two agents: their deals, each played from every side, and their tables
deal_lists   lists of deals
margins      margins and their intervals, as figures and as text
mixed_table  many games of several agents at once
"""
