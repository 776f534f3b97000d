"""One game, for people: moves by name, undo, texts of positions and records. `krypenv.one_game` puts them together.

core             a game without its texts
starts           decks, seeds and places in a session that a game may start from
history          the states of a game, and how they follow each other
stack            the kernels over those states
whole_plays      which whole plays are legal, and how they are carried out
some_moves       moves of a decision that has very many
begun            plays that were only begun
moves            whole plays as people write them
positions        a position as a text
position_parser  a game from the text of a position
records          a game as a text, and back
base_agent       an agent's move in a game
display          a game drawn as text
view             what one seat may see of a game, as text
"""
