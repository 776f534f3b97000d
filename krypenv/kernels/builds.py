"""Builds (B): what may be laid together, captured and raised, and what their owners have promised.

A build is a pile of table cards with one value. It is taken whole, by a card of that hand value. Who makes, raises or
joins one owns it, and has to hold a card of its value until it is captured or raised, or another seat owns it (B5).
Sets of values are bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import BUILD, MAX_BUILD, NUM_KINDS, NUM_RANKS, SPADES, TAKE_BUILD
from krypenv.kernels.compiled import NIBBLE, bit_index, hand_value_of, table_value_of
from krypenv.kernels.deals import add_to_table
from krypenv.kernels.optional import left_to_take, offer_value, takes_within_group
from krypenv.kernels.scoring import count_cards
from krypenv.runtime.jit import kernel
from krypenv.state import MAY_STOP

TAKEN = TAKE_BUILD - BUILD  # bit TAKEN + v of the legal builds: the build of value v may be captured or raised
_VALUES = (2 << MAX_BUILD) - 1
_ONE: Any = np.int64(1)

# The two copies of a kind can lie in one build, in two, or elsewhere. `built` has a byte for each kind: its place here.
_PAIRS = [(value, 0) for value in range(MAX_BUILD + 1)]  # so the byte of a single copy is the value of its build
_PAIRS += [(lower, higher) for lower in range(1, MAX_BUILD + 1) for higher in range(lower, MAX_BUILD + 1)]
NUM_PAIRS = len(_PAIRS)
LIES_IN = np.zeros((256, 2), np.int64)  # the values of the builds that a kind's copies lie in, the lower first, else 0
LIES_IN[:NUM_PAIRS] = _PAIRS
JOINED = np.zeros((MAX_BUILD + 1, MAX_BUILD + 1), np.uint8)  # and the byte of two such values, in any order
for _place, (_lower, _higher) in enumerate(_PAIRS):
    JOINED[_lower, _higher] = JOINED[_higher, _lower] = _place


def values_built(built: npt.NDArray[np.uint8]) -> npt.NDArray[np.int8]:
    """Decode `built`, (..., 52) uint8, into the values of the builds that copies of each kind lie in, (2, ..., 52).

    The lower value comes first; 0 stands for a copy that lies in none.
    """
    return np.moveaxis(LIES_IN[built], -1, 0).astype(np.int8)


# ---------------------------------------------------------------------- what is promised


@kernel
def own_builds(game: np.record, seat: int) -> int:
    """Find the values, as bits, of the builds that a seat owns (B5)."""
    own: Any = np.int64(0)
    left = np.int64(game.builds)
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        own |= np.int64(game.build_owner[value] == seat) << value
    return own


@kernel
def held_values(compiled: np.record, game: np.record, seat: int, played: int) -> int:
    """Find the hand values, as bits, of a seat's cards but for one copy of `played`, a kind or NO_CARD."""
    held: Any = np.int64(0)
    left = np.int64(game.hand_kinds[seat])
    while left != 0:
        kind = bit_index(left & -left)
        left &= left - 1
        if kind != played or game.hands[seat, kind] > 1:
            held |= _ONE << hand_value_of(compiled, kind)
    return held


# ---------------------------------------------------------------------- what is legal


@kernel
def loose_sums(compiled: np.record, game: np.record) -> int:
    """Find the sums up to 16, as bits, of all subsets of the loose cards; that of the empty one is 0."""
    sums = _ONE
    ranks = np.int64(game.table_ranks)
    for rank in range(NUM_RANKS):
        for _ in range(ranks >> NIBBLE * rank & 15):
            sums |= sums << compiled.table_value[rank] & _VALUES
    return sums


@kernel
def buildable(compiled: np.record, game: np.record, card: int, held: int, own: int, sums: int) -> int:
    """Find the values of the builds that a card can make, raise or join, if its owner then holds `held` (B2 to B5).

    If a value in `own` is not in `held`, no card left fulfils that promise, and only raising that build is legal.
    `sums` are `loose_sums`.
    """
    table_value = table_value_of(compiled, card)
    broken = own & ~held
    singles = np.int64(game.builds & ~game.multiple_builds)
    if broken != 0:
        return held & (singles & broken) << table_value & _VALUES
    made = (sums & ~_ONE) << table_value | (sums | game.builds) & _ONE << table_value
    return held & (made | singles << table_value) & _VALUES


@kernel
def limit_plays(compiled: np.record, game: np.record) -> None:
    """Remove from the legal plays of an owner the cards that could only trail (B5)."""
    seat = game.seat
    own = own_builds(game, seat)
    if own == 0:
        return
    sums = loose_sums(compiled, game)
    left = np.int64(game.legal_plays)
    while left != 0:
        bit = left & -left
        left ^= bit
        card = bit_index(bit)
        if (sums | game.builds) >> hand_value_of(compiled, card) & 1 == 0:
            held = held_values(compiled, game, seat, card)
            if buildable(compiled, game, card, held, own, sums) == 0:
                game.legal_plays ^= bit


@kernel
def offer_choices(compiled: np.record, game: np.record, scratch: np.record) -> None:
    """Write what the pending card may do next: take a card or a build, begin a build, or stop (B1 to B5)."""
    own = own_builds(game, game.seat)
    held = held_values(compiled, game, game.seat, -1)
    game.legal_plays, game.legal_takes, game.legal_builds = 0, 0, 0
    if game.build_value == 0:
        _offer_captures(compiled, game, held, own, scratch)
    else:
        _offer_cards(compiled, game, own & ~held, scratch)


@kernel
def _offer_captures(compiled: np.record, game: np.record, held: int, own: int, scratch: np.record) -> None:
    """Offer what the pending card may capture; before it has taken anything it may also trail or begin a build."""
    card = np.int64(game.pending)
    value = hand_value_of(compiled, card)
    if game.taken_ranks == 0:
        sums = loose_sums(compiled, game)
        game.legal_builds = buildable(compiled, game, card, held, own, sums)
        if sums >> value & 1:
            game.legal_takes = takes_within_group(compiled, _ONE << value, 1, left_to_take(game), game)
        is_capture, may_stop = True, own == 0
    else:
        offer_value(compiled, game, value, game.taken_ranks, game.table_ranks, left_to_take(game), scratch)
        is_capture = game.legal_takes & MAY_STOP != 0
        may_stop = is_capture and own & ~held == 0
    game.legal_takes = game.legal_takes & ~MAY_STOP | MAY_STOP * np.int64(may_stop)
    if is_capture and game.builds >> value & 1:
        game.legal_builds |= _ONE << TAKEN + value


@kernel
def _offer_cards(compiled: np.record, game: np.record, broken: int, scratch: np.record) -> None:
    """Offer what the build that the pending card makes may consist of (B2), and a build that the card raises (B3).

    `broken` has the values of promises that no card left fulfils: only raising that build is legal.
    """
    card, value, free = np.int64(game.pending), np.int64(game.build_value), left_to_take(game)
    may_stop = np.int64(0)
    if broken == 0:
        own_rank = _ONE << NIBBLE * (card % NUM_RANKS)
        offer_value(compiled, game, value, game.taken_ranks + own_rank, game.table_ranks + own_rank, free, scratch)
        if game.taken_ranks != 0 or game.builds >> value & 1:  # a card alone makes no build
            may_stop = game.legal_takes & MAY_STOP
        game.legal_takes &= ~MAY_STOP
    raised = value - table_value_of(compiled, card)
    if raised > 0 and (game.builds & ~game.multiple_builds) >> raised & 1 and broken & ~(_ONE << raised) == 0:
        if game.taken_ranks == 0:
            game.legal_takes |= takes_within_group(compiled, _ONE << value, 1, free, game) | MAY_STOP
        else:
            offer_value(compiled, game, value, game.taken_ranks, game.table_ranks, free, scratch)
        if game.legal_takes & MAY_STOP:
            game.legal_builds = _ONE << TAKEN + raised
    game.legal_takes = game.legal_takes & ~MAY_STOP | may_stop


@kernel
def sweep_builds(values: int, loose: int, builds: int) -> int:
    """Find the hand values, as bits, that take a whole table: its loose cards, packed, and its builds (B6).

    `values` are those that take all loose cards.
    """
    if builds & (builds - 1) != 0:
        return 0
    if builds == 0:
        return values
    return values & builds if loose != 0 else builds


# ---------------------------------------------------------------------- what a play does


@kernel
def clear_builds(game: np.record) -> None:
    """Begin a game without builds."""
    for value in range(MAX_BUILD + 1):
        _clear(game, value)
    for kind in range(NUM_KINDS):
        game.built[kind] = 0
    game.legal_builds = 0
    begin_choice(game)


@kernel
def _clear(game: np.record, value: int) -> None:
    game.builds &= ~(_ONE << value)
    game.multiple_builds &= ~(_ONE << value)
    game.build_owner[value] = 0


@kernel
def begin_choice(game: np.record) -> None:
    """Begin a play: nothing is built, and no build is taken."""
    game.build_value = 0
    game.taken_builds = 0


@kernel
def choose_build(game: np.record, action: int) -> None:
    """Begin a build, or take one: to capture it or, where one is begun, to raise it."""
    if action < TAKE_BUILD:
        game.build_value = action - BUILD
    else:
        game.taken_builds |= _ONE << action - TAKE_BUILD


@kernel
def copies_built(game: np.record, kind: int) -> int:
    """Count the copies of a kind that lie in builds."""
    pair = game.built[kind]
    return np.int64(pair != 0) + np.int64(pair > MAX_BUILD)


@kernel
def copies_in(game: np.record, value: int, kind: int) -> int:
    """Count the copies of a kind that lie in the build of a value."""
    pair = LIES_IN[game.built[kind]]
    return np.int64(pair[0] == value) + np.int64(pair[1] == value)


@kernel
def add_to_build(game: np.record, value: int, kind: int) -> None:
    """Add a card to the cards of a build."""
    game.built[kind] = JOINED[game.built[kind], value]


@kernel
def _remove(game: np.record, value: int, kind: int) -> None:
    """Take a card off a build that it lies in."""
    pair = LIES_IN[game.built[kind]]
    game.built[kind] = pair[1] if pair[0] == value else pair[0]


@kernel
def ranks_of_build(game: np.record, value: int) -> int:
    """Pack the ranks of a build's cards."""
    ranks: Any = np.int64(0)
    for kind in range(NUM_KINDS):
        ranks += copies_in(game, value, kind) << NIBBLE * (kind % NUM_RANKS)
    return ranks


@kernel
def lay_together(compiled: np.record, game: np.record, seat: int, card: int) -> None:
    """Make, raise or join the build that a play has chosen; the seat owns it then (B2 to B5)."""
    value = np.int64(game.build_value)
    bit = _ONE << value
    total = table_value_of(compiled, card)
    for kind in range(NUM_KINDS):
        for _ in range(game.taken[kind]):
            add_to_build(game, value, kind)
            add_to_table(compiled, game, kind, -1)
            total += table_value_of(compiled, kind)
    add_to_build(game, value, card)
    if game.taken_builds != 0:
        raised = bit_index(np.int64(game.taken_builds))
        _move(game, raised, value)
        total += raised
    if game.builds & bit:
        game.taken_builds |= bit
    if game.builds & bit or total > value:
        game.multiple_builds |= bit
    game.builds |= bit
    game.build_owner[value] = seat


@kernel
def _move(game: np.record, raised: int, value: int) -> None:
    """Move the cards of a build to another one."""
    for kind in range(NUM_KINDS):
        for _ in range(copies_in(game, raised, kind)):
            _remove(game, raised, kind)
            add_to_build(game, value, kind)
    _clear(game, raised)


@kernel
def capture_build(compiled: np.record, game: np.record, seat: int, value: int) -> None:
    """Move a build to a seat's pile (B1)."""
    for kind in range(NUM_KINDS):
        for _ in range(copies_in(game, value, kind)):
            _remove(game, value, kind)
            count_cards(compiled, game, seat, kind, 1)
            if compiled.counts_piles:
                game.cards_won[seat] += 1
                game.spades_won[seat] += kind >= SPADES * NUM_RANKS
    _clear(game, value)
