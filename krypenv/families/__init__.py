"""Families of rules: what is special about each, and the bounds that all of them keep.

krypkasino  its presets
layout      the blocks of an observation
bounds      limits on the work that rules can cause
"""
