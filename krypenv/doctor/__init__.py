"""What is installed, what is missing, and what is wrong.

report       `krypenv doctor`; needs only Python
played_game  a game in a process of its own
"""
