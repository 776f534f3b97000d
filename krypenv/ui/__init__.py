"""A table for people: they play against agents. It uses games and agents, and holds no rules.

table     a game with its players: moves, undo, saving
choices   what a person may choose, and what is meant by what they type
view      what one seat may see of a game, as plain values
captions  what pictures of a game say in words
rulebook  what a game is, as rich prints it
screen    what a person in a terminal reads
board     the same on a screen that stays in place
saving    the files of a game that is being played
ahead     compiling while a person reads and thinks
terminal  the table in a terminal
"""
