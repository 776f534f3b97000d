"""Families of rules: what is special about each, and the bounds that all of them keep.

krypkasino      its presets
kasino          the presets of Kasino in Sweden and Finland, and of Överspader
mulle           the preset of Mulle
presets         all presets
variants        the environments and the variants that each plays
checks          what a field of the rules may be
bounds          limits on the work that rules can cause, and the values of cards
layout          the blocks of an observation
feature_layout  the entries of the features block
"""
