"""The record of a game: `krypenv.kernels.state`."""

from krypenv.kernels.state import (
    GAME as GAME,
)
from krypenv.kernels.state import (
    MAX_DECK as MAX_DECK,
)
from krypenv.kernels.state import (
    State as State,
)
from krypenv.kernels.state import (
    allocate as allocate,
)
