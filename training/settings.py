"""The settings of a training: `krypenv.training.selfplay.settings`."""

from krypenv.training.selfplay.settings import (
    PRESETS as PRESETS,
)
from krypenv.training.selfplay.settings import (
    Settings as Settings,
)
