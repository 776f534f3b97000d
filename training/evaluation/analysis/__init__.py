"""The value of each move in a position or a recorded game.

analysis  positions and records
comments  tables, and comments in records
picture   pictures
streamed  one move after another, for pages
"""
