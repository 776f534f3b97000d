"""What is wrong with the text of a position or a record: `krypenv.game.notation`."""

from krypenv.game.notation import NotationError as NotationError
