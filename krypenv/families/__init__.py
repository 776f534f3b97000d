"""Families of rules: what is special about each, and the bounds that all of them keep.

fields        the fields of the rules, and what follows from them
krypkasino    its presets
kasino        the presets of Kasino in Sweden and Finland, of Överspader and of Laistokasino
mulle         the presets of Mulle
presets       all presets
variants      the environments and the variants that each plays
field_checks  what a field of the rules may be
random_rules  random values of all fields
bounds        limits on the work that rules can cause, and the values of cards
"""
