"""Environments in the form that other libraries expect; they translate and hold no rules.

learner      games in which one seat learns, and opponents or the learner itself play the others
opponents    who these are
whole_state  all of a game as one array
vector       many games as one Gymnasium environment
gym          one seat's game as a Gymnasium environment
sb3          for Stable-Baselines3 and sb3-contrib
"""
