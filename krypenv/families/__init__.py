"""Families of rules: what is special about each, and the bounds that all hold to.

krypkasino  its presets
layout      the blocks of an observation
bounds      how much work some rules can make
"""
