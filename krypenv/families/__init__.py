"""Families of rules: what is special about each, and the bounds that all of them keep.

krypkasino  the presets of the main game
kasino      those of Kasino in Sweden and Finland and of Överspader
mulle       that of Mulle
presets     all presets
variants    the environments and the variants that each plays
checks      what each field of the rules may be, and which don't go together
layout      the blocks of an observation
bounds      limits on the work that rules can cause
"""
