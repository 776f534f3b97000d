"""For Stable-Baselines3: `krypenv.envs.sb3`."""

from krypenv.envs.sb3 import (
    KrypkasinoVecEnv as KrypkasinoVecEnv,
)
from krypenv.envs.sb3 import (
    PolicyAgent as PolicyAgent,
)
