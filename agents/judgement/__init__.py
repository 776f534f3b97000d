"""What a move is worth before any search, in points of margin: its gain, the expected reply, and what it keeps.

decision  what the seat to act knows of its game
replies   what the next seat can be expected to win
judge     the gain, the reply and the keep of each listed move
"""
