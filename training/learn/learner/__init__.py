"""The learner: a policy over the legal actions of a decision, trained by PPO.

torch_network  the network in torch
policy       the policy that Stable-Baselines3 trains
buffer       the rollout buffer, with a stream for each seat
ppo          PPO over self-play
versions     the versions of Stable-Baselines3 that it subclasses
"""
