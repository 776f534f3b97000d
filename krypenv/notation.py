"""The error for a faulty position or record: `krypenv.game.notation`."""

from krypenv.game.notation import NotationError as NotationError
