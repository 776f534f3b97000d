"""Misère: studies of what changes where low scores are good.

large     which answers hold for which players
transfer  networks for one goal, tuned for the other
"""
