"""Training in one file, to read and to change.

ppo                 PPO with masks and self-play, in plain torch
rllib_ppo           PPO in RLlib, by self-play and a league, on a Ray cluster too
torchrl_ppo         PPO in TorchRL's parts, against an opponent
tianshou_dqn        double DQN in Tianshou, against an opponent
tianshou_ppo        PPO in Tianshou, against an opponent
openspiel_learners  NFSP, DQN, Deep CFR and PSRO of OpenSpiel, in small games whose exploitability is known
"""
