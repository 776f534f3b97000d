"""How agents are trained: `run.train` reads from settings to a finished model.

settings  the settings of a training
run       a training: self-play, checkpoints, learning curve, final evaluation
ppo       the learner: MaskablePPO in which every seat learns, and its loss
buffer    what the seats have played, and their advantages
policy    the network as a policy of Stable-Baselines3, with the critic
network   the network in torch
report    the learning curve as a picture, and the model card
"""
