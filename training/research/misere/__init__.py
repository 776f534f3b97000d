"""Misère: studies of what changes where low scores are good.

goals     rule sets with both goals, and a study that compares them
large     which answers hold for which players
transfer  networks for one goal, tuned for the other
"""
