"""Families of rules: what is special about each, and the bounds that all hold to.

bounds  how much work some rules can make
"""
