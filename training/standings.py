"""The table of an arena: `krypenv.training.arena.standings`."""

from krypenv.training.arena.standings import (
    Standing as Standing,
)
from krypenv.training.arena.standings import (
    Standings as Standings,
)
from krypenv.training.arena.standings import (
    print_standings as print_standings,
)
from krypenv.training.arena.standings import (
    standings as standings,
)
