"""What a seat sees, and its layout: `krypenv.kernels.observation`."""

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
