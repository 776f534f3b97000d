"""Worlds, which a search samples: complete games that are consistent with what a seat has seen."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.cards import MAX_BUILD, NO_CARD, NO_SEAT, NUM_ACTIONS, NUM_KINDS, NUM_RANKS
from krypenv.families.layout import LARGEST_SIZE, OBSERVATION_SIZE
from krypenv.inputs.words import is_whole, shown
from krypenv.kernels.builds import add_to_build, copies_built, own_builds
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.checks import HOLDS, LEGAL, MASK, SHOWN, SOUND, fault_of, tell_fault
from krypenv.kernels.compiled import (
    BUILD_MULTIPLE,
    BUILD_OWNER,
    BUILDING,
    BUILT,
    BUILT_TWIN,
    CARDS_WON,
    COUNTED_SWEEPS,
    MULLE_SCORES,
    MULLES,
    NIBBLE,
    SPADES_WON,
    SPECIAL,
    TOTALS,
    classes_of_values,
    compile_rules,
    hand_value_of,
)
from krypenv.kernels.deals import add_to_table, leader_of
from krypenv.kernels.invariants import fault_of_state, is_mask_of
from krypenv.kernels.observation import LAYOUT, write_observation
from krypenv.kernels.play import prepare, sweep_values_of
from krypenv.kernels.state import DEALS, MAX_DECK, State, allocate, random_below, seed_game
from krypenv.rules import MAX_PLAYERS, Rules, check_rules
from krypenv.runtime.jit import handle, kernel, rare_kernel

MAX_TRIES = 200  # whole shuffles before one is repaired
MIXING_SWAPS = 2_000  # swaps that make a repaired shuffle random again
MOST_DEALS = 2_000  # until the seat at play has something that it may do
NO_MASKS = np.empty((0, NUM_ACTIONS), np.int8)

_HAND, _TABLE, _SEEN, _ASIDE, _PENDING, _TAKEN = (
    LAYOUT[name].start for name in ("hand", "table", "seen", "set_aside", "pending", "taken")
)
_POINTS, _SWEEPS, _HAND_SIZE, _CAPTURER, _DEALER, _TURN, _TOTAL = (
    LAYOUT[name].start for name in ("points", "sweeps", "hand_size", "last_capturer", "dealer", "turn", "session_total")
)
_CANNOT_HOLD, _DEALS_LEFT, _GAMES_LEFT = (LAYOUT[name].start for name in ("cannot_hold", "deals_left", "games_left"))


def determinize(observation: npt.ArrayLike, rng: np.random.Generator | int, rules: Rules | None = None) -> State:
    """Return one complete game for each observation, drawn uniformly from all games that would have shown it.

    The unseen cards are dealt at random to the other hands and the stock, so that no seat holds a rank that it would
    have been forced to sweep with. Whatever does not affect the future is made up: the order of the cards played, who
    has captured which cards, and the absolute level of the session's totals. Seats are numbered so that the last one
    is the dealer, as in a single game.

    Args:
        observation: (N,) or (B, N) int8, N >= `rules.observation_size`, of any seat, to act or not; each gives one row
            of the result.
        rng: a numpy generator or a seed.
        rules: the rules of the game; by default the main rulebook for the players and teams in the observation.

    Raises ValueError for an observation that no game under these rules can show.

    >>> engine = Engine(Rules.preset(), 4)
    >>> worlds = determinize(engine.observation, rng=0)
    >>> bool((Engine.from_state(engine.rules, worlds).observation == engine.observation).all())
    True
    """
    seen = np.atleast_2d(np.asarray(observation))
    size = OBSERVATION_SIZE if rules is None else check_rules(rules).observation_size
    if seen.ndim != 2 or seen.shape[1] < size or seen.dtype != np.int8:
        raise ValueError(f"an observation is int8 of shape ({size},) or more, not {seen.dtype} {seen.shape[1:]}")
    rules = rules or _rules_of(seen)
    seeds = make_generator(rng).integers(0, 2**63, len(seen)).astype(np.uint64)
    state = allocate(len(seen))
    _build(rules, np.ascontiguousarray(seen[:, :size]), NO_MASKS, handle(state), seeds)
    return state


def check_genuine(rules: Rules, observations: np.ndarray, action_masks: np.ndarray) -> None:
    """Raise ValueError unless some game shows each row of (B, N or more) int8 to the seat to act, with that mask.

    This builds a world for each row, which takes a few microseconds.
    """
    _build(rules, observations, action_masks, _SCRATCH.world, np.zeros(len(observations), np.uint64))


class _WorldScratch(NamedTuple):
    """Scratch for building worlds."""

    owner: npt.NDArray[np.int64]  # (104,)
    pool: npt.NDArray[np.int64]  # (104,)
    spare: np.ndarray  # (2,) of `GAME`, the first one zeros
    shown: npt.NDArray[np.int8]  # an observation, without features


class _Space(threading.local):
    """A thread's scratch for worlds, made once: for a few rows, making it takes longer than building the worlds."""

    def __init__(self) -> None:
        self.world = handle(allocate(1))
        owner, pool = np.empty((2, MAX_DECK), np.int64)
        self.world_scratch = _WorldScratch(owner, pool, handle(allocate(2)), np.empty(LARGEST_SIZE, np.int8))


_SCRATCH = _Space()


def _build(rules: Rules, seen: np.ndarray, masks: np.ndarray, state: np.ndarray, seeds: np.ndarray) -> None:
    """Fill the rows of a state, or overwrite its only row; raise ValueError for an impossible observation."""
    row, fault = _build_rows(compile_rules(rules), seen, masks, state, seeds, _SCRATCH.world_scratch, borrow_scratch())
    if fault != SOUND:
        raise ValueError(tell_fault(rules, f"observation {row}", fault))


def _rules_of(observations: np.ndarray) -> Rules:
    if len(observations) == 0:
        return Rules.preset("krypkasino")
    players = int((observations[0, LAYOUT["seated"]] == 1).sum())
    sides = int(observations[0, LAYOUT["team"]].max()) + 1
    try:
        return Rules.preset("krypkasino", players=players, teams=sides if sides < players else None)
    except ValueError:
        raise ValueError(tell_fault("krypkasino", "observation 0", SHOWN)) from None


def make_generator(rng: np.random.Generator | int) -> np.random.Generator:
    """Return a numpy generator, itself or from a seed; raise ValueError for anything else."""
    if isinstance(rng, np.random.Generator):
        return rng
    if not is_whole(rng, 0, 1 << 128):
        raise ValueError(f"rng is a numpy generator or a seed from 0 on, not {shown(rng)}")
    return np.random.default_rng(rng)


@kernel
def _build_rows(
    compiled: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    state: np.ndarray,
    seeds: np.ndarray,
    world_scratch: _WorldScratch,
    scratch: np.ndarray,
) -> tuple[int, int]:
    """Build a world for each row of observations; return the first row that has none and why, or SOUND.

    `state` has a row for each, or a single one that is overwritten. If there are `masks`, they must be those of the
    worlds.
    """
    rules = compiled[0]
    for row in range(len(observations)):
        seen = observations[row]
        fault = fault_of(rules, seen)
        if fault != SOUND:
            return row, fault
        state[row % len(state)] = world_scratch.spare[0]
        game = state[row % len(state)]
        seed_game(game, seeds[row])
        fault = _build_world(rules, game, seen, world_scratch, scratch[0])
        deals = 1
        while fault == LEGAL and deals < MOST_DEALS and rules.building and game.pending != NO_CARD:
            # who has begun a play can also end it (B5), and this deal of the hidden cards would not let it
            streams = game.rng[DEALS]
            state[row % len(state)] = world_scratch.spare[0]
            seed_game(game, seeds[row])
            game.rng[DEALS] = streams
            fault = _build_world(rules, game, seen, world_scratch, scratch[0])
            deals += 1
        if fault != SOUND:
            return row, fault
        viewer = viewer_of(rules, seen)
        write_observation(rules, game, viewer, world_scratch.shown)
        for at in range(rules.entries):
            if world_scratch.shown[at] != seen[at]:
                return row, SHOWN
        if len(masks) > 0 and (viewer != game.seat or game.over or not is_mask_of(game, masks[row])):
            return row, MASK
    return len(observations), SOUND


@kernel
def _build_world(
    rules: np.record, game: np.record, seen: np.ndarray, world_scratch: _WorldScratch, scratch: np.record
) -> int:
    """Build a world in a zeroed row whose streams are seeded; return its fault, or SOUND."""
    copy_public(rules, game, seen)
    known, pending_seat = game.cannot_hold[game.seat], np.int64(game.seat)
    if game.pending != NO_CARD and rules.forced_sweep and game.seat != viewer_of(rules, seen):
        # the seat choosing what to take had no card that sweeps, or it would have had to play that (R10)
        game.cannot_hold[game.seat] |= classes_of_values(rules, sweep_values_of(rules, game, scratch))
    is_dealt = deal_hidden(rules, game, seen, True, world_scratch.owner, world_scratch.pool)
    game.cannot_hold[pending_seat] = known
    if not is_dealt:
        return HOLDS
    prepare(rules, game, scratch)
    return fault_of_state(rules, game, True, world_scratch.spare[1:], scratch)


@kernel
def viewer_of(compiled: np.record, seen: np.ndarray) -> int:
    """Return the seat that sees an observation, if the last seat is the dealer."""
    for place in range(compiled.players):
        if seen[_DEALER + place]:
            return compiled.players - 1 - place
    return compiled.players - 1


@kernel
def copy_public(compiled: np.record, game: np.record, seen: np.ndarray) -> None:
    """Copy all that an observation shows, from relative places to seats."""
    players = compiled.players
    viewer = viewer_of(compiled, seen)
    game.dealer = players - 1
    game.deal_number = compiled.num_deals - seen[_DEALS_LEFT]
    game.next_card = compiled.deal_start[game.deal_number]
    game.game_number = max(compiled.games - seen[_GAMES_LEFT], 1)
    game.pending = NO_CARD
    game.last_card = NO_CARD
    game.last_seat = NO_SEAT
    game.last_capturer = NO_SEAT
    captured = np.int64(0)
    mulles = compiled.further[MULLES]
    for kind in range(NUM_KINDS):
        public = np.int64(seen[_SEEN + kind]) - seen[_HAND + kind]
        game.seen[kind] = public
        game.set_aside[kind] = seen[_ASIDE + kind]
        game.taken[kind] = seen[_TAKEN + kind]
        game.taken_ranks += np.int64(seen[_TAKEN + kind]) << NIBBLE * (kind % NUM_RANKS)
        add_to_table(compiled, game, kind, np.int64(seen[_TABLE + kind]))
        if seen[_PENDING + kind]:
            game.pending = kind
        lying = np.int64(seen[_TABLE + kind]) + seen[_ASIDE + kind] + seen[_PENDING + kind]
        if compiled.building:
            lying += _copy_built(compiled, game, seen, kind)
        captured += (public - lying) * compiled.card_points[kind]
        _give(game, viewer, kind, np.int64(seen[_HAND + kind]))
    for place in range(players):
        seat = (viewer + place) % players
        game.points[seat] = seen[_POINTS + place]
        game.sweeps[seat] = seen[_SWEEPS + place]
        if mulles:
            game.mulles[seat] = seen[mulles + place]
            game.points[seat] -= compiled.mulle_points * game.mulles[seat]
        captured -= game.points[seat]
        if seen[_CAPTURER + place]:
            game.last_capturer = seat
        if seen[_TURN + place]:
            game.seat = seat
        for rank in range(NUM_RANKS):
            if place > 0 and seen[_CANNOT_HOLD + (place - 1) * NUM_RANKS + rank]:
                game.cannot_hold[seat] |= 1 << rank
    _copy_further(compiled, game, seen, viewer)
    if compiled.building:
        _copy_owners(compiled, game, seen, viewer)
    leader = leader_of(compiled, game)
    game.bonus[leader] = -captured  # points shown that no card accounts for
    game.points[leader] += captured


@kernel
def _copy_built(compiled: np.record, game: np.record, seen: np.ndarray, kind: int) -> int:
    """Copy in which builds the copies of a kind lie; return their number."""
    for block in (BUILT, BUILT_TWIN):
        value = np.int64(seen[compiled.further[block] + kind])
        if value != 0:
            add_to_build(game, value, kind)
            game.builds |= np.int64(1) << value
    return copies_built(game, kind)


@kernel
def _copy_owners(compiled: np.record, game: np.record, seen: np.ndarray, viewer: int) -> None:
    """Copy who owns the builds, which of them are multiple, and which one the pending card makes."""
    game.build_value = seen[compiled.further[BUILDING]]
    for value in range(1, MAX_BUILD + 1):
        place = seen[compiled.further[BUILD_OWNER] + value - 1]
        if place != 0:
            game.build_owner[value] = (viewer + place - 1) % compiled.players
        is_multiple = np.int64(seen[compiled.further[BUILD_MULTIPLE] + value - 1])
        game.multiple_builds |= is_multiple << value


@kernel
def _copy_further(compiled: np.record, game: np.record, seen: np.ndarray, viewer: int) -> None:
    """Copy what only some rules show (K7), and the totals or what they can be."""
    cards, spades, counted = compiled.further[CARDS_WON], compiled.further[SPADES_WON], compiled.further[COUNTED_SWEEPS]
    totals, special = compiled.further[TOTALS], compiled.further[SPECIAL]
    mulle_scores = compiled.further[MULLE_SCORES]
    for place in range(compiled.players):
        seat = (viewer + place) % compiled.players
        if mulle_scores:
            game.mulle_scores[seat] = seen[mulle_scores + place]
        if cards:
            game.cards_won[seat] = seen[cards + place]
            game.spades_won[seat] = seen[spades + place]
        if counted:
            game.void_sweeps[seat] = game.sweeps[seat] - seen[counted + place]
        if special and place > 0:
            for at in range(2):
                if seen[special + 2 * (place - 1) + at]:
                    game.cannot_hold[seat] |= 1 << NUM_RANKS + at
    if totals == 0:
        _make_totals(compiled, game, seen, viewer)
        return
    for place in range(compiled.players):
        game.totals[(viewer + place) % compiled.players] = seen[totals + place]
        if seen[totals + place] != 0:
            game.game_number = max(game.game_number, 2)


@kernel
def _make_totals(compiled: np.record, game: np.record, seen: np.ndarray, viewer: int) -> None:
    """Make up totals that are observed as those given: relative to their mean, and clipped to +-127.

    If clipping has moved the sum away from zero, one of the clipped totals makes up for it. (Rounding moves the sum by
    at most half a point per seat, which does not show.)
    """
    players = compiled.players
    total, most, least = np.int64(0), viewer, viewer
    any_points = False
    for place in range(players):
        seat = (viewer + place) % players
        game.totals[seat] = seen[_TOTAL + place]
        total += seen[_TOTAL + place]
        any_points |= seen[_TOTAL + place] != 0
        most = seat if game.totals[seat] > game.totals[most] else most
        least = seat if game.totals[seat] < game.totals[least] else least
    if 2 * total <= -players:
        game.totals[most] -= total
    elif 2 * total > players:
        game.totals[least] -= total
    if any_points:
        game.game_number = max(game.game_number, 2)


@kernel
def _give(game: np.record, seat: int, card: int, count: int) -> None:
    game.hands[seat, card] += count
    game.hand_size[seat] += count
    if count > 0:
        game.hand_kinds[seat] |= np.int64(1) << card


@kernel
def deal_hidden(
    compiled: np.record, game: np.record, seen: np.ndarray, whole: bool, owner: np.ndarray, pool: np.ndarray
) -> bool:
    """Deal the unseen cards to the other hands and the stock; return whether there is a deal that is consistent.

    Unless `whole` is set, the stock is left in no particular order, which is faster.
    Scratch, (104,) int64 each: `pool` holds the unseen cards, and `owner` the seat of each, NO_SEAT for the stock.
    """
    size = 0
    for kind in range(NUM_KINDS):
        for _ in range(compiled.deck_counts[kind] - seen[_SEEN + kind]):
            pool[size] = kind
            size += 1
    hidden = 0
    viewer = viewer_of(compiled, seen)
    for place in range(1, compiled.players):
        for _ in range(seen[_HAND_SIZE + place]):
            owner[hidden] = (viewer + place) % compiled.players
            hidden += 1
    for at in range(hidden, size):
        owner[at] = NO_SEAT
    drawn = size if whole else hidden
    if compiled.building:
        if not arrange_promised(compiled, game, pool, owner, size, hidden, drawn):
            return False
    elif not _arrange(compiled, game, pool, owner, size, hidden, drawn):
        return False
    place = 0
    for kind in range(NUM_KINDS):  # the part of the deck that has been dealt, in any order
        for _ in range(seen[_SEEN + kind]):
            game.deck[place] = kind
            place += 1
    for at in range(size):
        game.deck[place + at] = pool[at]
        if owner[at] != NO_SEAT:
            _give(game, owner[at], pool[at], 1)
    return True


@kernel
def _is_barred(compiled: np.record, game: np.record, seat: int, card: int) -> bool:
    return seat != NO_SEAT and game.cannot_hold[seat] >> compiled.class_of[card] & 1 == 1


@kernel
def _arrange(
    compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, size: int, hidden: int, drawn: int
) -> bool:
    """Bring the pool into a uniformly random order in which nobody owns a card that it can't hold.

    Repeating whole shuffles until one is allowed is uniform. If that takes too long, a shuffle is repaired, and random
    swaps that keep it allowed then wash out the repair (a symmetric random walk, so uniform in the limit). Only the
    first `drawn` places, the hidden hands among them, need be random. Returns False if no order is allowed.
    """
    for _ in range(MAX_TRIES):
        barred = 0
        for at in range(drawn):
            other = at + random_below(game, DEALS, size - at)
            card = pool[other]
            pool[other] = pool[at]
            pool[at] = card
            barred += _is_barred(compiled, game, owner[at], card)
        if barred == 0:
            return True
    for at in range(hidden):
        if _is_barred(compiled, game, owner[at], pool[at]) and not _exchange(compiled, game, pool, owner, size, at):
            return False
    for _ in range(MIXING_SWAPS):
        at, other = random_below(game, DEALS, hidden), random_below(game, DEALS, size)
        if not (
            _is_barred(compiled, game, owner[at], pool[other]) or _is_barred(compiled, game, owner[other], pool[at])
        ):
            card = pool[other]
            pool[other] = pool[at]
            pool[at] = card
    return True


@rare_kernel
def arrange_promised(
    compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, size: int, hidden: int, drawn: int
) -> bool:
    """Do what `_arrange` does where cards are built: every owner holds what it has promised (B5).

    No sweep is forced in such rules, so no card is barred. Returns False if no order keeps all promises.
    """
    for _ in range(MAX_TRIES):
        for at in range(drawn):
            _swap(pool, at, at + random_below(game, DEALS, size - at))
        if _are_kept(compiled, game, pool, owner, hidden):
            return True
    for seat in range(compiled.players):
        needed = _promised_by(compiled, game, owner, hidden, seat)
        for value in range(1, MAX_BUILD + 1):
            if needed >> value & 1 and not _keep(compiled, game, pool, owner, size, hidden, seat, value):
                return False
    for _ in range(MIXING_SWAPS):
        at, other = random_below(game, DEALS, hidden), random_below(game, DEALS, size)
        _swap(pool, at, other)
        if not _are_kept(compiled, game, pool, owner, hidden):
            _swap(pool, at, other)
    return True


@kernel
def _swap(pool: np.ndarray, at: int, other: int) -> None:
    card = pool[other]
    pool[other] = pool[at]
    pool[at] = card


@kernel
def _promised_by(compiled: np.record, game: np.record, owner: np.ndarray, hidden: int, seat: int) -> int:
    """Return the hand values that a seat with a hidden hand must hold, as bits (B5).

    Who has begun a play must hold a card for the build that it makes, and may have played the one for its own build.
    """
    is_hidden = False
    for at in range(hidden):
        is_hidden |= owner[at] == seat
    if not is_hidden:
        return np.int64(0)
    values = own_builds(game, seat)
    if game.pending != NO_CARD and game.seat == seat:
        values &= ~(np.int64(1) << hand_value_of(compiled, game.pending))
        if game.build_value != 0:
            values |= np.int64(1) << game.build_value
    return values


@kernel
def _are_kept(compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, hidden: int) -> bool:
    """Return whether the hidden hands keep all promises."""
    if game.builds == 0 and (game.pending == NO_CARD or game.build_value == 0):
        return True
    for seat in range(compiled.players):
        values = _promised_by(compiled, game, owner, hidden, seat)
        for at in range(hidden):
            if owner[at] == seat:
                values &= ~(np.int64(1) << hand_value_of(compiled, pool[at]))
        if values != 0:
            return False
    return True


@kernel
def _keep(
    compiled: np.record,
    game: np.record,
    pool: np.ndarray,
    owner: np.ndarray,
    size: int,
    hidden: int,
    seat: int,
    value: int,
) -> bool:
    """Give a seat a card of a hand value, unless it has one, in exchange for one that it has not promised.

    Takes it from nobody who has promised its only one.
    """  # fmt: skip
    own = _promised_by(compiled, game, owner, hidden, seat)
    given = -1
    for at in range(hidden):
        if owner[at] == seat:
            held = hand_value_of(compiled, pool[at])
            if held == value:
                return True
            if own >> held & 1 == 0 or _count_of(compiled, pool, owner, hidden, seat, held) > 1:
                given = at
    for at in range(size):
        if given >= 0 and hand_value_of(compiled, pool[at]) == value and owner[at] != seat:
            holder = owner[at]
            is_free = holder == NO_SEAT or _promised_by(compiled, game, owner, hidden, holder) >> value & 1 == 0
            if is_free or _count_of(compiled, pool, owner, hidden, holder, value) > 1:
                _swap(pool, given, at)
                return True
    return False


@kernel
def _count_of(compiled: np.record, pool: np.ndarray, owner: np.ndarray, hidden: int, seat: int, value: int) -> int:
    """Return how many cards of a hand value a seat holds."""
    count = np.int64(0)
    for at in range(hidden):
        count += owner[at] == seat and hand_value_of(compiled, pool[at]) == value
    return count


@kernel
def _exchange(compiled: np.record, game: np.record, pool: np.ndarray, owner: np.ndarray, size: int, start: int) -> bool:
    """Move a card away from an owner that can't hold it, by the shortest cycle of owners who each pass on one card.

    Nobody gets a card that it can't hold. If any order of the pool is allowed, there is such a cycle: follow the card
    to its owner there, from that owner a card that has another owner there, and so on. (Owners are bits 0 to 6, 0 for
    the stock; `passed` holds, 8 bits for each, the place of the card that it would get.)
    """
    passed, reached, fresh = np.int64(0), np.int64(0), np.int64(0)
    for taker in range(MAX_PLAYERS + 1):
        if _has_owner(owner, size, taker) and not _is_barred(compiled, game, taker - 1, pool[start]):
            passed |= np.int64(start) << 8 * taker
            reached |= 1 << taker
    first = owner[start] + 1
    fresh = reached
    while fresh != 0 and reached >> first & 1 == 0:
        found = np.int64(0)
        for at in range(size):
            if fresh >> (owner[at] + 1) & 1:
                for taker in range(MAX_PLAYERS + 1):
                    is_new = (reached | found) >> taker & 1 == 0 and _has_owner(owner, size, taker)
                    if is_new and not _is_barred(compiled, game, taker - 1, pool[at]):
                        passed |= np.int64(at) << 8 * taker
                        found |= 1 << taker
        reached |= found
        fresh = found
    if reached >> first & 1 == 0:
        return False
    card = pool[start]
    hole, taker = np.int64(start), np.int64(first)
    while True:  # back along the cycle: each place gets the card that was to be passed to its owner
        at = passed >> 8 * taker & 255
        if at == start:
            pool[hole] = card
            return True
        pool[hole] = pool[at]
        hole = at
        taker = np.int64(owner[at] + 1)


@kernel
def _has_owner(owner: np.ndarray, size: int, taker: int) -> bool:
    """Return whether any place belongs to an owner, 0 for the stock and 1 to 6 for the seats."""
    for at in range(size):
        if owner[at] + 1 == taker:
            return True
    return False
