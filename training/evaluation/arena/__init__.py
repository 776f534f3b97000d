"""Tournaments: many agents over the same deals, with ratings and a report.

arena      a tournament
lineups    matches and seatings
shards     portions of a tournament, for workers
games      games as arrays, from the folder of a tournament
standings  margins between agents and over the field, and ratings
tables     the standings as texts
html_report  the HTML page
"""
