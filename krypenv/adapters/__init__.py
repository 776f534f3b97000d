"""Public import paths of `krypenv.envs.gym` and `krypenv.envs.sb3`.

gym  `KrypkasinoEnv`
sb3  `KrypkasinoVecEnv` and `PolicyAgent`
"""
