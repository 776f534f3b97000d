"""What a seat sees, and its layout: `krypenv.kernels.observation`."""

from krypenv.families.layout import (
    HISTORY_COLUMNS as HISTORY_COLUMNS,
)
from krypenv.families.layout import (
    HISTORY_DESCRIPTIONS as HISTORY_DESCRIPTIONS,
)
from krypenv.families.layout import (
    history_columns as history_columns,
)
from krypenv.families.layout import (
    history_shape as history_shape,
)
from krypenv.families.layout import (
    history_size as history_size,
)
from krypenv.kernels.observation import (
    DESCRIPTIONS as DESCRIPTIONS,
)
from krypenv.kernels.observation import (
    LAYOUT as LAYOUT,
)
from krypenv.kernels.observation import (
    SIZE as SIZE,
)
from krypenv.kernels.observation import (
    VERSION as VERSION,
)
