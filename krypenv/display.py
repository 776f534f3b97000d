"""Games drawn as text: `krypenv.game.display`."""

from krypenv.game.display import (
    format_announcement as format_announcement,
)
from krypenv.game.display import (
    format_game as format_game,
)
from krypenv.game.display import (
    format_playthrough as format_playthrough,
)
