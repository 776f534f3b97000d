"""The learner: a policy over the actions of a decision, trained by PPO.

network      the network in torch
policy       the policy that Stable-Baselines3 trains
buffer       what has been played
ppo          PPO over self-play
sb3_private  what that needs of Stable-Baselines3's private parts
"""
