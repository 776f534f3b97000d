"""Fuzzers of rules: random ones of every field and family are refused, or played with every invariant."""

from __future__ import annotations

import random

from support.beside import play_beside
from support.checked_play import LOOK_AFTER, CheckedPlay
from support.fuzzing import Fuzzer, Tally
from support.random_rules import draw_rules

REFERENCE_PLIES = 40


def fuzz_played(seed: int, mutants: int) -> Tally:
    """Random rules are played at random; every invariant holds after every ply, and worlds are found for every seat."""
    rng, tally = random.Random(seed), Tally()
    while tally["right"] + tally["refused"] < mutants:
        rules = draw_rules(rng, tally)
        play = CheckedPlay(rules, rng.randrange(1 << 32))
        for _ in range(2 * LOOK_AFTER):
            play.go_on()
        tally.update(right=1, plies=play.plies)
    return tally


def fuzz_beside_reference(seed: int, mutants: int) -> Tally:
    """Random rules are played as by the slow reference, which shares no code with the engine."""
    rng, tally = random.Random(seed), Tally()
    while tally["right"] + tally["refused"] < mutants:
        rules = draw_rules(rng, tally)
        style = rng.choice(("random", "take", "choose"))
        if sum(table for _, table in rules.deal_sizes()[:1]) <= 8:  # the reference tries all sets of table cards
            played = play_beside(rules, rng.randrange(1 << 32), style, most=REFERENCE_PLIES)
            tally.update(right=1, plies=played["plies"])
    return tally


FUZZERS: dict[str, Fuzzer] = {"played": fuzz_played, "beside_reference": fuzz_beside_reference}
