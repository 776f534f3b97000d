"""The hidden hands that agree with an observation: all of them where they are few, else uniformly sampled ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from krypenv.cards import NUM_KINDS
from krypenv.kernels.compiled import compile_rules
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.worlds.determinize import determinize

MOST_HANDS = 2000  # that are listed
SAMPLES = 1000  # where there are more

FloatArray = npt.NDArray[np.float64]
Int8Array = npt.NDArray[np.int8]


class HiddenHands(NamedTuple):
    """W combinations of hidden hands, by place from the next seat on."""

    hands: Int8Array  # (W, P - 1, 52)
    logs: FloatArray  # (W,) the log of each one's share of uniform deals, or of the sample
    are_all: bool  # every combination that is possible, once


def hidden_hands(rules: Rules, observation: np.ndarray, rng: np.random.Generator) -> HiddenHands:
    """Return the hidden hands that agree with an observation, (N,) int8, of the seat to act.

    They are listed for two players without builds if there are at most `MOST_HANDS`; else they are `SAMPLES` uniform
    deals.
    """
    if rules.players == 2 and not rules.building:
        copies, size = free_cards(rules, observation), int(observation[LAYOUT["hand_size"]][1])
        if count_hands(copies, size) <= MOST_HANDS:
            hands = list_hands(copies, size)
            return HiddenHands(hands[:, None], log_shares(hands, copies), True)
    worlds = determinize(np.repeat(observation[None], SAMPLES, axis=0), rng, rules)
    return HiddenHands(others_hands(rules, worlds), np.full(SAMPLES, -np.log(SAMPLES)), False)


def others_hands(rules: Rules, state: np.ndarray) -> Int8Array:
    """Return the hands of the seats that are not to act, (B, P - 1, 52), in games (B,) of `GAME`."""
    seats = (state["seat"][:, None] + np.arange(1, rules.players)) % rules.players
    hands: Int8Array = state["hands"][np.arange(len(state))[:, None], seats]
    return hands


def free_cards(rules: Rules, observation: np.ndarray) -> npt.NDArray[np.int64]:
    """Return how many unseen copies of each kind the other one of two seats can hold, (52,): none by R10 of some."""
    world = determinize(observation, 0, rules)[0]
    unseen = rules.deck_counts - observation[LAYOUT["seen"]].astype(np.int64)
    barred = world["cannot_hold"][1 - world["seat"]] >> compile_rules(rules)[0]["class_of"] & 1
    free: npt.NDArray[np.int64] = np.where(barred, 0, unseen)
    return free


def count_hands(copies: npt.NDArray[np.int64], size: int) -> int:
    """Return how many hands of so many cards, or of fewer, there are at most, as multisets of kinds."""
    counts = np.eye(1, size + 1, dtype=np.float64)[0]
    for number in copies[copies > 0]:
        counts = np.convolve(counts, np.ones(number + 1))[: size + 1]
    return int(min(counts.max(), MOST_HANDS + 1))


def list_hands(copies: npt.NDArray[np.int64], size: int) -> Int8Array:
    """Return all hands of a size, (W, 52), as multisets of kinds of which there are (52,) copies."""
    found = [np.zeros((int(held == 0), NUM_KINDS), np.int8) for held in range(size + 1)]  # by size, kind after kind
    for kind in np.flatnonzero(copies):
        longer = [found]
        for number in range(1, min(int(copies[kind]), size) + 1):
            more = [each[:0] for each in found[:number]] + [each.copy() for each in found[: size + 1 - number]]
            for each in more:
                each[:, kind] = number
            longer.append(more)
        found = [np.concatenate(parts) for parts in zip(*longer, strict=True)]
    return found[size]


def surprise_of(rules: Rules, observation: np.ndarray, truth: Int8Array) -> float:
    """Return minus the log of the share of uniform deals that give the true hidden hands, (P - 1, 52).

    It is known for two players without builds, and nan for others.
    """
    if rules.players > 2 or rules.building:
        return float("nan")
    copies, held = free_cards(rules, observation), truth[0].astype(np.int64)
    return float(log_ways(copies.sum(), held.sum()) - log_ways(copies, held).sum())


def log_ways(copies: npt.NDArray[np.int64], held: npt.NDArray[np.int64]) -> FloatArray:
    """Return the log of the number of ways to hold some of several copies."""
    ways: FloatArray = gammaln(copies + 1.0) - gammaln(held + 1.0) - gammaln(copies - held + 1.0)
    return ways


def log_shares(hands: Int8Array, copies: npt.NDArray[np.int64]) -> FloatArray:
    """Return the log of the share of deals that give each hand, (W,): one of two copies can be had in two ways."""
    logs = log_ways(copies, hands.astype(np.int64)).sum(axis=1)
    shares: FloatArray = logs - np.logaddexp.reduce(logs)
    return shares
