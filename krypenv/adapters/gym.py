"""The Gymnasium environment of one seat: `krypenv.envs.gym`."""

from krypenv.envs.gym import (
    KrypkasinoEnv as KrypkasinoEnv,
)
