"""Imitation learning: initial weights for self-play from a teacher's games.

demonstrations  files of the teacher's decisions and values
cloning         behaviour cloning on them
imitate         `krypenv imitate`
"""
