"""The Gymnasium environments of one seat: `krypenv.envs.gym`."""

from krypenv.envs.gym import (
    KasinoEnv as KasinoEnv,
)
from krypenv.envs.gym import (
    KrypkasinoEnv as KrypkasinoEnv,
)
from krypenv.envs.gym import (
    MulleEnv as MulleEnv,
)
