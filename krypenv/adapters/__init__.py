"""Public import paths of `krypenv.envs.gym` and `krypenv.envs.sb3`.

gym  `KrypkasinoEnv`, `KasinoEnv` and `MulleEnv`
sb3  `KrypkasinoVecEnv` and `PolicyAgent`
"""
