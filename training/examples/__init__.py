"""Training in one file, to read and to change.

ppo                 PPO with masks and self-play, in plain torch
openspiel_learners  NFSP, DQN, Deep CFR and PSRO of OpenSpiel, in small games whose exploitability is known
"""
