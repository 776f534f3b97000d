"""The settings of a training and their parts: `krypenv.training.selfplay.settings`, `krypenv.training.common.parts`."""

from krypenv.training.common.parts import (
    Evaluation as Evaluation,
)
from krypenv.training.common.parts import (
    GameRules as GameRules,
)
from krypenv.training.common.parts import (
    Length as Length,
)
from krypenv.training.common.parts import (
    Network as Network,
)
from krypenv.training.selfplay.settings import (
    PRESETS as PRESETS,
)
from krypenv.training.selfplay.settings import (
    Games as Games,
)
from krypenv.training.selfplay.settings import (
    Ppo as Ppo,
)
from krypenv.training.selfplay.settings import (
    Records as Records,
)
from krypenv.training.selfplay.settings import (
    Rewards as Rewards,
)
from krypenv.training.selfplay.settings import (
    Settings as Settings,
)
from krypenv.training.selfplay.settings import (
    Start as Start,
)
