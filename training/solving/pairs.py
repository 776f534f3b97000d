"""The pairs of hands that two seats may hold when a deal begins, one after another: all, or those of two ranges.

A *range* has few of the hands that a seat may hold, for a deal that is too large with all of them. Chance deals a pair
of hands, draws others beside each at random, and tells both seats the two ranges. Given these, the pairs of hands in
them have the proportions of the whole deal. So on average over ranges this is the whole deal, with seats that are told
more. A policy that makes no use of it earns the same, and a best response to it no less: mean exploitability is an
upper bound of that in the whole deal. It falls as ranges grow, as larger ones tell less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_KINDS
from krypenv.kernels.compiled import bit_index, compile_rules
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel, records
from krypenv.state import GAME, mix

IntArray = npt.NDArray[np.int64]
MOST_KINDS = 31  # kinds of unseen cards in a game that is solved: a hand is two bits for each


class Pairs(NamedTuple):
    """A pair of hands, and what there is to hold; the places are those of the kinds that are not all seen."""

    places: np.ndarray  # (1,) int64: how many are in use
    kinds: np.ndarray  # (MOST_KINDS,) int64: the kind at each place
    limits: np.ndarray  # (MOST_KINDS,) int64: copies that seat 0 may hold
    rest: np.ndarray  # (MOST_KINDS,) int64: copies that it leaves to seat 1
    own: np.ndarray  # (MOST_KINDS,) int64: the hand of seat 0
    other: np.ndarray  # (MOST_KINDS,) int64: the hand of seat 1
    packed: np.ndarray  # (2,) int64: both hands, two bits for each place
    own_range: np.ndarray  # (H,) int64: the hands of seat 0 that count, packed and ascending; none stand for all
    other_range: np.ndarray  # (H',) int64: those of seat 1


NO_HANDS = np.zeros(0, np.int64)


def make_pairs(own_range: np.ndarray = NO_HANDS, other_range: np.ndarray = NO_HANDS) -> Pairs:
    """Return room for a pair of hands, of two ranges of packed hands; without one all hands count."""
    kinds, limits, rest, own, other = np.zeros((5, MOST_KINDS), np.int64)
    return Pairs(np.zeros(1, np.int64), kinds, limits, rest, own, other, np.zeros(2, np.int64), own_range, other_range)


@kernel
def first_pair(compiled: np.record, game: np.record, pairs: Pairs) -> bool:
    """Give the seats of a game at the beginning of a deal the first hands they may hold; return whether there are any.

    What each seat has not swept in this deal rules cards out (R10).
    """
    count = pairs.places[0] = list_unseen(compiled, game, pairs.kinds, pairs.limits)
    if not first_hand(pairs.limits, count, np.int64(game.hand_size[0]), pairs.own):
        return False
    return _settle_pair(compiled, game, pairs, _hold_own(compiled, game, pairs))


@kernel
def next_pair(compiled: np.record, game: np.record, pairs: Pairs) -> bool:
    """Give the seats the next hands that they may hold; return whether there are any."""
    return _settle_pair(compiled, game, pairs, next_hand(pairs.rest, pairs.places[0], pairs.other))


@kernel
def hash_unseen(pairs: Pairs) -> np.uint64:
    """Return a hash of the cards that the seats may hold, after `first_pair`."""
    word = np.uint64(0)
    for place in range(pairs.places[0]):
        word = mix(word ^ np.uint64(4 * pairs.kinds[place] + pairs.limits[place]))
    return word


@kernel
def draw_pair(compiled: np.record, game: np.record, pairs: Pairs, draw: np.uint64) -> np.uint64:
    """Deal the seats hands at random, after `first_pair`; `draw` decides them, and another one is returned."""
    count = pairs.places[0]
    while True:
        for place in range(count):
            pairs.rest[place] = pairs.limits[place]
        draw = _draw_hand(pairs.rest, count, np.int64(game.hand_size[0]), pairs.own, draw)
        draw = _draw_hand(pairs.rest, count, np.int64(game.hand_size[1]), pairs.other, draw)
        pairs.packed[0] = hold(game, 0, pairs.kinds, count, pairs.own)
        pairs.packed[1] = hold(game, 1, pairs.kinds, count, pairs.other)
        if can_hold(compiled, game, 0) and can_hold(compiled, game, 1):
            return draw


@kernel
def _draw_hand(rest: np.ndarray, count: int, size: int, hand: np.ndarray, draw: np.uint64) -> np.uint64:
    """Move `size` cards at random from the rest to an empty hand; return another number to draw by."""
    hand[:count] = 0
    for _ in range(size):
        draw = mix(draw + np.uint64(1))
        at, place = np.int64(draw % np.uint64(rest[:count].sum())), 0
        while at >= rest[place]:
            at -= rest[place]
            place += 1
        hand[place] += 1
        rest[place] -= 1
    return draw


@kernel
def ways_to_deal(pairs: Pairs) -> float:
    """Return how many sets of cards make a pair of hands."""
    count = pairs.places[0]
    return ways(pairs.limits, pairs.own, count) * ways(pairs.rest, pairs.other, count)


@kernel
def _hold_own(compiled: np.record, game: np.record, pairs: Pairs) -> bool:
    """Give seat 0 its hand; return whether it may hold that, and what is left makes a hand for seat 1, the first."""
    count = pairs.places[0]
    for place in range(count):
        pairs.rest[place] = pairs.limits[place] - pairs.own[place]
    pairs.packed[0] = hold(game, 0, pairs.kinds, count, pairs.own)
    if not (is_in(pairs.own_range, pairs.packed[0]) and can_hold(compiled, game, 0)):
        return False
    return first_hand(pairs.rest, count, np.int64(game.hand_size[1]), pairs.other)


@kernel
def _settle_pair(compiled: np.record, game: np.record, pairs: Pairs, found: bool) -> bool:
    """Give seat 1 its hand, or go on to a pair that both may hold; `found`: whether there is a hand for seat 1."""
    count = pairs.places[0]
    while True:
        while found:
            pairs.packed[1] = hold(game, 1, pairs.kinds, count, pairs.other)
            if is_in(pairs.other_range, pairs.packed[1]) and can_hold(compiled, game, 1):
                return True
            found = next_hand(pairs.rest, count, pairs.other)
        if not next_hand(pairs.limits, count, pairs.own):
            return False
        found = _hold_own(compiled, game, pairs)


@kernel
def is_in(hands: np.ndarray, packed: int) -> bool:
    """Return whether a hand is in a range."""
    at = np.searchsorted(hands, packed)
    return len(hands) == 0 or bool(at < len(hands) and hands[at] == packed)


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
def first_hand(limits: np.ndarray, kinds: int, size: int, hand: np.ndarray) -> bool:
    """Write the first hand of some size within the limits; return whether there is one."""
    for place in range(kinds):
        hand[place] = min(size, limits[place])
        size -= hand[place]
    return size == 0


@kernel
def list_unseen(compiled: np.record, game: np.record, kinds: np.ndarray, limits: np.ndarray) -> int:
    """Write the kinds of which not all copies have been seen, and how many are left; return how many kinds."""
    count = 0
    for kind in range(NUM_KINDS):
        copies = np.int64(compiled.deck_counts[kind]) - np.int64(game.seen[kind])
        if copies > 0:
            kinds[count], limits[count] = kind, copies
            count += 1
    return count


@kernel
def can_hold(compiled: np.record, game: np.record, seat: int) -> bool:
    """Return whether a seat may hold its hand, by what it has not swept in this deal (R10)."""
    kinds = np.int64(game.hand_kinds[seat])
    while kinds != 0:
        bit = kinds & -kinds
        kinds ^= bit
        if game.cannot_hold[seat] >> compiled.class_of[bit_index(bit)] & 1:
            return False
    return True


@kernel
def ways(limits: np.ndarray, hand: np.ndarray, kinds: int) -> float:
    """Return how many sets of cards make a hand."""
    product = 1.0
    for place in range(kinds):
        for step in range(hand[place]):
            product *= (limits[place] - step) / (step + 1)
    return product


@kernel
def hold(game: np.record, seat: int, kinds: np.ndarray, count: int, hand: np.ndarray) -> int:
    """Give a seat a hand; return it packed, two bits a place."""
    code = np.int64(0)
    game.hand_kinds[seat] = 0
    for place in range(count):
        kind = kinds[place]
        game.hands[seat, kind] = hand[place]
        code |= np.int64(hand[place]) << 2 * place
        if hand[place] > 0:
            game.hand_kinds[seat] |= np.int64(1) << kind
    return int(code)


# ---------------------------------------------------------------------- ranges


class Ranges(NamedTuple):
    """The hands that each seat may hold, packed as `Pairs` has them and ascending; none stand for all."""

    own: IntArray  # (H,) of seat 0
    other: IntArray  # (H,) of seat 1


ALL = Ranges(np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Bounds:
    """What keeps a deal small that has too many hands."""

    hands: int = 0  # in each range; 0 for all
    seed: int = 0  # of the ranges
    known: int | None = None  # a seat that is dealt the hand which it holds in the game
    responder: int | None = None  # a seat whose range is the hand that it is dealt, as only its best response counts
    samples: int = 0  # last deals, drawn at random, by which a position after the deal is valued; 0 for all

    def __post_init__(self) -> None:
        if min(self.hands, self.samples) < 0:
            raise ValueError(f"hands and samples are 0, for all, or more, not {self.hands} and {self.samples}")

    @property
    def is_bounded(self) -> bool:
        """Whether not all hands count."""
        return self.hands > 0 or self.responder is not None


UNBOUNDED = Bounds()
SAMPLES = 10  # enough: a best response gains at most a few hundredths more


def draw_ranges(rules: Rules, game: np.ndarray, bounds: Bounds) -> Ranges:
    """Return the hands that two seats may hold in a record of `GAME`; larger ranges hold the smaller ones of a seed.

    A range has fewer hands than `bounds.hands` if its seat can't hold so many. The hands in the game count only by
    their sizes, apart from the known one.
    """
    random = np.random.default_rng(bounds.seed)
    held = [list_hands(rules, game, seat) for seat in range(2)]
    dealt = deal_pair(rules, game, bounds.known, random)
    while not all(hand in each for hand, each in zip(dealt, held, strict=True)):
        dealt = deal_pair(rules, game, bounds.known, random)
    if bounds.responder is not None:
        own, other = bounds.responder, 1 - bounds.responder
        held[own] = held[own][held[own] == dealt[own]]
        held[other] = held[other][are_disjoint(rules, game, held[other], dealt[own])]
    return Ranges(*(choose_hands(each, [hand], bounds.hands, random) for hand, each in zip(dealt, held, strict=True)))


def choose_hands(hands: IntArray, first: npt.ArrayLike, count: int, random: np.random.Generator) -> IntArray:
    """Return a range of so many hands, 0 for all: those that come first, and others at random."""
    others = random.permutation(np.setdiff1d(hands, first))
    return np.sort(np.append(first, others)[: count or None])


def deal_pair(rules: Rules, game: np.ndarray, known: int | None, random: np.random.Generator) -> tuple[int, int]:
    """Return hands, packed, that are dealt from the unseen cards; whether the seats may hold them is not asked."""
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
    """Return the kinds of which not all copies have been seen, how many are left, and one of each, packed."""
    left = rules.deck_counts.astype(np.int64) - game["seen"]
    kinds = np.flatnonzero(left)
    return kinds, left[kinds], 1 << 2 * np.arange(len(kinds))


def are_disjoint(rules: Rules, game: np.ndarray, hands: IntArray, hand: int) -> npt.NDArray[np.bool_]:
    """Return which hands can be dealt beside a hand, (H,); all are packed."""
    _, copies, codes = unseen_kinds(rules, game)
    counts = (hands[:, None] // codes & 3) + (hand // codes & 3)
    return np.asarray((counts <= copies).all(axis=1))


def list_hands(rules: Rules, game: np.ndarray, seat: int) -> IntArray:
    """Return all hands that a seat may hold, packed as `Pairs` has them and ascending."""
    unseen = rules.deck_size - int(game["seen"].sum())
    found, games = np.zeros(math.comb(unseen, int(game["hand_size"][seat])), np.int64), records(GAME, 1)
    games[0] = game
    return np.sort(found[: _write_hands(compile_rules(rules), handle(games), seat, make_pairs(), found)])


@kernel
def _write_hands(rules: np.ndarray, games: np.ndarray, seat: int, pairs: Pairs, found: np.ndarray) -> int:
    """Write all hands that a seat may hold; return how many there are."""
    game, hand = games[0], pairs.own
    count = list_unseen(rules[0], game, pairs.kinds, pairs.limits)
    written = 0
    more = first_hand(pairs.limits, count, np.int64(game.hand_size[seat]), hand)
    while more:
        code = hold(game, seat, pairs.kinds, count, hand)
        if can_hold(rules[0], game, seat):
            found[written] = code
            written += 1
        more = next_hand(pairs.limits, count, hand)
    return written
