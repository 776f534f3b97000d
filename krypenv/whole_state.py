"""The whole state of a game as one array, and its layout: `krypenv.envs.whole_state`."""

from krypenv.envs.whole_state import (
    DESCRIPTIONS as DESCRIPTIONS,
)
from krypenv.envs.whole_state import (
    LAYOUT as LAYOUT,
)
from krypenv.envs.whole_state import (
    SIZE as SIZE,
)
from krypenv.envs.whole_state import (
    VERSION as VERSION,
)
from krypenv.envs.whole_state import (
    layout_of as layout_of,
)
from krypenv.envs.whole_state import (
    state_space as state_space,
)
from krypenv.envs.whole_state import (
    whole_state as whole_state,
)
