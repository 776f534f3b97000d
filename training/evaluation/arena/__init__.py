"""Tournaments: many agents over the same deals, with ratings and a report.

arena      a tournament
lineups    matches and seatings
shards     portions of a tournament, for workers
stored_games  the folder of a tournament, and how luck is measured in it
games      games as arrays
payoffs    margins between agents
ratings    ratings
standings  the table
html_report  the HTML page
"""
