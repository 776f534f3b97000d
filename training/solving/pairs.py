"""The pairs of hands that two seats may hold when a deal begins: all, or those of two ranges of candidate hands.

A *range* is a random sample of the hands that a seat may hold, for a deal that is too large with all of them. Chance
deals a pair of hands, draws the other hands of both ranges at random, and reveals the two ranges to both seats. Within
them, pairs of hands keep the proportions of the whole deal, so on average over ranges this is the whole deal between
seats that know more. A policy that ignores the ranges earns the same, and a best response to it no less: the mean
exploitability is an upper bound of that in the whole deal. It falls as ranges grow, since larger ones reveal less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_KINDS
from krypenv.kernels.compiled import compile_rules
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel, records
from krypenv.state import GAME, State, mix

IntArray = npt.NDArray[np.int64]
Ranges = tuple[IntArray, IntArray]  # the hands that each seat may hold, packed as in `Pairs` and ascending
MOST_KINDS = 31  # kinds of unseen cards in a game that is solved: a hand is two bits for each


class Pairs(NamedTuple):
    """The possible hands of two seats, and their current hands, packed: two bits for each place.

    A place is a kind with unseen copies.
    """

    places: np.ndarray  # (1,) int64: how many are in use
    kinds: np.ndarray  # (MOST_KINDS,) int64: the kind at each place
    limits: np.ndarray  # (MOST_KINDS,) int64: unseen copies
    most: np.ndarray  # (MOST_KINDS,) int64: copies that a seat may hold
    rest: np.ndarray  # (MOST_KINDS,) int64: scratch for counts
    packed: np.ndarray  # (2,) int64: the hands held
    hands: np.ndarray  # (2, H) int64: the hands that each seat may hold, packed and ascending
    counts: np.ndarray  # (2,) int64: their numbers
    is_given: bool  # whether the hands are ranges; else they are listed for each deal


def make_pairs(rules: Rules, deals: State, ranges: Ranges | None = None) -> Pairs:
    """Allocate the pairs of hands for deals that begin in some positions, (S,) of `GAME`.

    They hold all hands of the sizes in the positions, or those of the ranges.
    """
    unseen, sizes = rules.deck_size - deals.seen.sum(axis=1), deals.hand_size[:, :2].max(axis=1)
    most = map(len, ranges) if ranges else map(math.comb, unseen.tolist(), sizes.tolist())
    hands, counts = np.zeros((2, max(most, default=0)), np.int64), np.zeros(2, np.int64)
    for seat, hands_given in enumerate(ranges or ()):
        hands[seat, : len(hands_given)], counts[seat] = hands_given, len(hands_given)
    kinds, limits, held, rest = np.zeros((4, MOST_KINDS), np.int64)
    packed = np.zeros(2, np.int64)
    return Pairs(np.zeros(1, np.int64), kinds, limits, held, rest, packed, hands, counts, ranges is not None)


@kernel
def list_pairs(compiled: np.record, game: np.record, pairs: Pairs) -> int:
    """List the hands that the seats of a game at the beginning of a deal may hold; return the number of combinations.

    What each seat has not swept in this deal rules cards out (R10). Given ranges stay.
    """
    pairs.places[0] = 0
    for kind in range(NUM_KINDS):
        copies = np.int64(compiled.deck_counts[kind]) - np.int64(game.seen[kind])
        if copies > 0:
            pairs.kinds[pairs.places[0]], pairs.limits[pairs.places[0]] = kind, copies
            pairs.places[0] += 1
    if not pairs.is_given:
        for seat in range(2):
            pairs.counts[seat] = list_hands_of(compiled, game, seat, pairs)
    return int(pairs.counts[0] * pairs.counts[1])


@kernel
def hold_pair(game: np.record, pairs: Pairs, at: int) -> float:
    """Give the seats one combination of their hands; return how many sets of cards make it, 0 if none does."""
    own, other = pairs.hands[0, at // pairs.counts[1]], pairs.hands[1, at % pairs.counts[1]]
    sets = 1.0
    for place in range(pairs.places[0]):
        left, first, second = pairs.limits[place], own >> 2 * place & 3, other >> 2 * place & 3
        if first + second > left:
            return 0.0
        for step in range(first + second):
            sets *= left - step
        sets /= (1, 1, 2, 6)[first] * (1, 1, 2, 6)[second]
    hold(game, 0, pairs, own)
    hold(game, 1, pairs, other)
    return sets


@kernel
def hash_unseen(pairs: Pairs) -> np.uint64:
    """Hash the cards that the seats may hold, after `list_pairs`."""
    word = np.uint64(0)
    for place in range(pairs.places[0]):
        word = mix(word ^ np.uint64(4 * pairs.kinds[place] + pairs.limits[place]))
    return word


@kernel
def draw_pair(game: np.record, pairs: Pairs, draw: np.uint64) -> np.uint64:
    """Deal the seats hands at random, after `list_pairs`; `draw` decides them, and another one is returned."""
    rest = pairs.rest[: pairs.places[0]]
    for place in range(len(rest)):
        rest[place] = pairs.limits[place]
    for seat in range(2):
        hand = np.int64(0)
        for _ in range(game.hand_size[seat]):
            draw = mix(draw + np.uint64(1))
            at, place = np.int64(draw % np.uint64(rest.sum())), 0
            while at >= rest[place]:
                at -= rest[place]
                place += 1
            rest[place] -= 1
            hand += np.int64(1) << 2 * place
        hold(game, seat, pairs, hand)
    return draw


@kernel
def list_hands_of(compiled: np.record, game: np.record, seat: int, pairs: Pairs) -> int:
    """Write the hands that a seat may hold into `pairs.hands`; return how many there are."""
    count, hand, left, written = pairs.places[0], pairs.rest, np.int64(game.hand_size[seat]), 0
    for place in range(count):
        is_swept = game.cannot_hold[seat] >> compiled.class_of[pairs.kinds[place]] & 1
        pairs.most[place] = 0 if is_swept else pairs.limits[place]
        hand[place] = min(left, pairs.most[place])
        left -= hand[place]
    more = left == 0
    while more:
        code = np.int64(0)
        for place in range(count):
            code |= hand[place] << 2 * place
        pairs.hands[seat, written] = code
        written += 1
        more = next_hand(pairs.most, count, hand)
    return written


@kernel
def next_hand(limits: np.ndarray, kinds: int, hand: np.ndarray) -> bool:
    """Turn a hand, counts by place, into the next one of its size within the limits; return whether there is one."""
    carried = 0
    for place in range(kinds):
        if carried > 0 and hand[place] < limits[place]:
            hand[place] += 1
            carried -= 1
            for low in range(place):
                hand[low] = min(carried, limits[low])
                carried -= hand[low]
            return True
        carried += hand[place]
    return False


@kernel
def hold(game: np.record, seat: int, pairs: Pairs, hand: int) -> None:
    """Give a seat a packed hand."""
    pairs.packed[seat] = hand
    game.hand_kinds[seat] = 0
    for place in range(pairs.places[0]):
        kind, count = pairs.kinds[place], hand >> 2 * place & 3
        game.hands[seat, kind] = count
        if count > 0:
            game.hand_kinds[seat] |= np.int64(1) << kind


# ---------------------------------------------------------------------- ranges


@dataclass(frozen=True)
class Bounds:
    """Limits on the hands and last deals that are considered."""

    hands: int = 0  # in each range; 0 for all
    seed: int = 0  # of the ranges
    known: int | None = None  # a seat that is dealt the hand it holds in the game
    responder: int | None = None  # a seat whose range is the hand it is dealt, as only its best response counts
    samples: int = 0  # last deals, drawn at random, that value a position after the deal; 0 for all

    def __post_init__(self) -> None:
        if min(self.hands, self.samples) < 0:
            raise ValueError(f"hands and samples are 0, for all, or more, not {self.hands} and {self.samples}")

    @property
    def is_bounded(self) -> bool:
        """Whether some hands are left out."""
        return self.hands > 0 or self.responder is not None


UNBOUNDED = Bounds()
SAMPLES = 10  # so a best response gains at most a few hundredths of a point too much


def draw_ranges(rules: Rules, game: np.ndarray, bounds: Bounds) -> Ranges:
    """Draw the ranges of two seats in a record of `GAME`; with one seed, larger ranges contain the smaller ones.

    A range has fewer hands than `bounds.hands` if its seat can hold only fewer. Of the hands in the game only the sizes
    are used, apart from the known hand.
    """
    random = np.random.default_rng(bounds.seed)
    held = list_hands(rules, game)
    dealt = deal_pair(rules, game, bounds.known, random)
    while not all(hand in hands for hand, hands in zip(dealt, held, strict=True)):
        dealt = deal_pair(rules, game, bounds.known, random)
    if bounds.responder is not None:
        own, other = bounds.responder, 1 - bounds.responder
        held[own] = held[own][held[own] == dealt[own]]
        _, copies, codes = unseen_kinds(rules, game)
        counts = (held[other][:, None] // codes & 3) + (dealt[own] // codes & 3)
        held[other] = held[other][(counts <= copies).all(axis=1)]
    first, second = (choose_hands(hands, [hand], bounds.hands, random) for hand, hands in zip(dealt, held, strict=True))
    return first, second


def choose_hands(hands: IntArray, first: npt.ArrayLike, count: int, random: np.random.Generator) -> IntArray:
    """Choose a range of `count` hands, 0 for all: those in `first`, then others at random."""
    others = random.permutation(np.setdiff1d(hands, first))
    return np.sort(np.append(first, others)[: count or None])


def deal_pair(rules: Rules, game: np.ndarray, known: int | None, random: np.random.Generator) -> tuple[int, int]:
    """Deal two packed hands from the unseen cards, without a check that the seats may hold them."""
    kinds, copies, codes = unseen_kinds(rules, game)
    hands = [0, 0]
    if known is not None:
        own = game["hands"][known][kinds].astype(np.int64)
        hands[known], copies = int(own @ codes), copies - own
    cards = random.permutation(np.repeat(codes, copies))
    for seat in (seat for seat in range(2) if seat != known):
        size = int(game["hand_size"][seat])
        hands[seat], cards = int(cards[:size].sum()), cards[size:]
    return hands[0], hands[1]


def unseen_kinds(rules: Rules, game: np.ndarray) -> tuple[IntArray, IntArray, IntArray]:
    """List the kinds with unseen copies, the number of these copies, and one card of each kind, packed."""
    left = rules.deck_counts.astype(np.int64) - game["seen"]
    kinds = np.flatnonzero(left)
    return kinds, left[kinds], 1 << 2 * np.arange(len(kinds))


def list_hands(rules: Rules, game: np.ndarray) -> list[IntArray]:
    """List the hands that each seat may hold in a record of `GAME`, packed as in `Pairs` and ascending."""
    deals = records(GAME, 1)
    deals[0] = game
    pairs = make_pairs(rules, deals)
    list_pairs(compile_rules(rules)[0], handle(deals)[0], pairs)
    return [hands[:count] for hands, count in zip(pairs.hands, pairs.counts, strict=True)]
