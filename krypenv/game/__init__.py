"""One game, for people: moves by name, undo, texts of positions and records.

game         a game and its past
present      the present state of a game by name
starts       decks, seeds and places in a session that a game may start from
stack        the kernels over the states of a game
moves        whole plays as people write them, and as states have them
whole_plays  which whole plays are legal, and the staged actions that make them
piles        who has captured what
positions    a position as a text, and back
records      a game as a text, and back
display      the present position as text, and how the game ended
playthrough  the course of a game as text, and what one seat may see of it
base_agent   an agent's move in a game
"""
