"""Training in one file, to read and to change.

ppo  PPO with masks and self-play, in plain torch
"""
