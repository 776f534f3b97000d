"""The games of one learner in the forms that other libraries expect. They translate; the rules are in the engine.

gym     one seat's game as a Gymnasium environment: `KrypkasinoEnv`, `KasinoEnv` and `MulleEnv`
vector  many games as one Gymnasium environment
sb3     for Stable-Baselines3 and sb3-contrib: `KrypkasinoVecEnv` and `PolicyAgent`
"""
