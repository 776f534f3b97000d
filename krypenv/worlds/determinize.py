"""Worlds, which a search samples: complete games that are consistent with what a seat has seen."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.arguments import check_seed
from krypenv.cards import MAX_BUILD, NO_CARD, NO_SEAT, NUM_ACTIONS, NUM_KINDS, NUM_RANKS
from krypenv.kernels.builds import JOINED, copies_built
from krypenv.kernels.captures import borrow_scratch
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
    NEVER,
    NIBBLE,
    SPADES_WON,
    SPECIAL,
    TOTALS,
    classes_of_values,
    compile_rules,
)
from krypenv.kernels.deals import add_to_table, leader_of
from krypenv.kernels.decision_checks import HOLDS, LEGAL, MASK, SHOWN, SOUND, describe_fault, fault_of
from krypenv.kernels.observing import write_mask, write_observation
from krypenv.kernels.play import prepare, sweep_values_of
from krypenv.kernels.scoring import running_score
from krypenv.observation import LARGEST_SIZE, LAYOUT, SIZE
from krypenv.rules import Rules, RulesLike, as_rules
from krypenv.runtime.jit import for_kernels, handle, kernel, rare_kernel
from krypenv.state import DEALS, MAX_DECK, State, allocate, seed_game
from krypenv.worlds.hidden import deal_hidden, give, viewer_of
from krypenv.worlds.invariants import fault_of_state

MOST_SHOWN = 127  # points that an observation shows, at most
MOST_DEALS = 2_000  # tried until the begun play can be completed (B5)
NO_MASKS = np.empty((0, NUM_ACTIONS), np.int8)

_HAND, _TABLE, _SEEN, _ASIDE, _PENDING, _TAKEN = (
    LAYOUT[name].start for name in ("hand", "table", "seen", "set_aside", "pending", "taken")
)
_POINTS, _SWEEPS, _HAND_SIZE, _CAPTURER, _DEALER, _TURN, _TOTAL = (
    LAYOUT[name].start for name in ("points", "sweeps", "hand_size", "last_capturer", "dealer", "turn", "session_total")
)
_CANNOT_HOLD, _DEALS_LEFT, _GAMES_LEFT = (LAYOUT[name].start for name in ("cannot_hold", "deals_left", "games_left"))


def determinize(observation: npt.ArrayLike, rng: np.random.Generator | int, rules: RulesLike | None = None) -> State:
    """Draw one complete game for each observation, uniformly from all games that would have shown it.

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
    rules = None if rules is None else as_rules(rules)
    size = SIZE if rules is None else rules.observation_size
    if seen.ndim != 2 or seen.shape[1] < size or seen.dtype != np.int8:
        raise ValueError(f"an observation is int8 of shape ({size},) or more, not {seen.dtype} {seen.shape[1:]}")
    rules = rules or _rules_of(seen)
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(check_seed(rng))
    seeds = generator.integers(0, 2**63, len(seen)).astype(np.uint64)
    state = allocate(len(seen))
    _build(rules, seen[:, :size], NO_MASKS, handle(state), seeds)
    return state


def check_genuine(rules: Rules, observations: np.ndarray, action_masks: np.ndarray) -> None:
    """Raise ValueError unless a game shows each row, (B, N or more) int8, to the seat to act, with its mask.

    A world is built for each row, which takes a few microseconds.
    """
    _build(rules, observations, action_masks, _SCRATCH.world, np.zeros(len(observations), np.uint64))


class _WorldScratch(NamedTuple):
    """Scratch for building worlds."""

    owner: npt.NDArray[np.int64]  # (104,)
    pool: npt.NDArray[np.int64]  # (104,)
    spare: np.ndarray  # (2,) of `GAME`, the first one zeros but for its random streams
    shown: npt.NDArray[np.int8]  # an observation, without features


class _Space(threading.local):
    """A thread's scratch for worlds, allocated once, since that takes longer than building a few worlds."""

    def __init__(self) -> None:
        self.world = handle(allocate(1))
        owner, pool = np.empty((2, MAX_DECK), np.int64)
        self.world_scratch = _WorldScratch(owner, pool, handle(allocate(2)), np.empty(LARGEST_SIZE, np.int8))


_SCRATCH = _Space()


def _build(rules: Rules, seen: np.ndarray, masks: np.ndarray, state: np.ndarray, seeds: np.ndarray) -> None:
    """Fill the rows of a state, or overwrite its only row; raise ValueError for an impossible observation."""
    seen, masks = for_kernels(seen), for_kernels(masks)
    row, fault = _build_rows(compile_rules(rules), seen, masks, state, seeds, _SCRATCH.world_scratch, borrow_scratch())
    if fault != SOUND:
        raise ValueError(describe_fault(rules, f"observation {row}", fault))


def _rules_of(observations: np.ndarray) -> Rules:
    if len(observations) == 0:
        return Rules.preset("krypkasino")
    players = int((observations[0, LAYOUT["seated"]] == 1).sum())
    sides = int(observations[0, LAYOUT["team"]].max()) + 1
    try:
        return Rules.preset("krypkasino", players=players, teams=sides if sides < players else None)
    except ValueError:
        raise ValueError(describe_fault("krypkasino", "observation 0", SHOWN)) from None


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
    fresh = world_scratch.spare[0]
    for row in range(len(observations)):
        seen, place = observations[row], row % len(state)
        fault = fault_of(compiled[0], seen)
        if fault != SOUND:
            return row, fault
        viewer = viewer_of(compiled[0], seen)
        seed_game(fresh, seeds[row])
        for _ in range(MOST_DEALS):
            state[place] = fresh
            game = state[place]
            fault = _build_world(compiled[0], game, seen, world_scratch, scratch[0])
            if fault != LEGAL or not compiled[0].building or game.pending == NO_CARD:
                break
            fresh.rng[DEALS] = game.rng[DEALS]  # the begun play can't be completed: deal again
        if fault != SOUND:
            return row, fault
        game = state[place]
        write_observation(compiled[0], game, viewer, world_scratch.shown)
        for at in range(compiled[0].entries):
            if world_scratch.shown[at] != seen[at]:
                return row, SHOWN
        if len(masks) > 0:
            own = world_scratch.shown[: masks.shape[1]]
            write_mask(game, own)
            is_own = viewer == game.seat and not game.over
            for action in range(masks.shape[1]):
                is_own &= masks[row, action] == own[action]
            if not is_own:
                return row, MASK
    return len(observations), SOUND


@kernel
def _build_world(
    compiled: np.record, game: np.record, seen: np.ndarray, world_scratch: _WorldScratch, scratch: np.record
) -> int:
    """Build a world in a zeroed row whose streams are seeded; return its fault, or SOUND."""
    copy_public(compiled, game, seen)
    known, pending_seat = game.cannot_hold[game.seat], np.int64(game.seat)
    if game.pending != NO_CARD and compiled.forced_sweep and game.seat != viewer_of(compiled, seen):
        # the seat choosing what to take had no card that sweeps, or it would have had to play that (R10)
        game.cannot_hold[game.seat] |= classes_of_values(compiled, sweep_values_of(compiled, game, scratch))
    is_dealt = deal_hidden(compiled, game, seen, True, world_scratch.owner, world_scratch.pool)
    game.cannot_hold[pending_seat] = known
    if not is_dealt:
        return HOLDS
    prepare(compiled, game, scratch)
    return fault_of_state(compiled, game, world_scratch.spare[1:], scratch)


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
    mulles = compiled.blocks[MULLES]
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
        give(game, viewer, kind, np.int64(seen[_HAND + kind]))
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
    _copy_extra(compiled, game, seen, viewer)
    if compiled.building:
        _copy_owners(compiled, game, seen, viewer)
    cut = _seat_of_cut(compiled, seen, viewer) if compiled.may_cut else NO_SEAT
    if cut != NO_SEAT:
        _share_cut_points(compiled, game, seen, viewer, cut, captured)
    else:
        leader = leader_of(compiled, game)
        game.bonus[leader] = -captured  # points shown that no card accounts for
        game.points[leader] += captured


@kernel
def _copy_built(compiled: np.record, game: np.record, seen: np.ndarray, kind: int) -> int:
    """Copy in which builds the copies of a kind lie; return their number."""
    lower, higher = np.int64(seen[compiled.blocks[BUILT] + kind]), np.int64(seen[compiled.blocks[BUILT_TWIN] + kind])
    game.built[kind] = JOINED[lower, higher]
    game.builds |= (np.int64(1) << lower | np.int64(1) << higher) & ~np.int64(1)
    return copies_built(game, kind)


@kernel
def _copy_owners(compiled: np.record, game: np.record, seen: np.ndarray, viewer: int) -> None:
    """Copy who owns the builds, which of them are multiple, and which one the pending card makes."""
    game.build_value = seen[compiled.blocks[BUILDING]]
    for value in range(1, MAX_BUILD + 1):
        place = seen[compiled.blocks[BUILD_OWNER] + value - 1]
        if place != 0:
            game.build_owner[value] = (viewer + place - 1) % compiled.players
        is_multiple = np.int64(seen[compiled.blocks[BUILD_MULTIPLE] + value - 1])
        game.multiple_builds |= is_multiple << value


@kernel
def _copy_extra(compiled: np.record, game: np.record, seen: np.ndarray, viewer: int) -> None:
    """Copy the blocks that only some rules have (K7), and the totals, or some that would show the same."""
    cards, spades, counted = compiled.blocks[CARDS_WON], compiled.blocks[SPADES_WON], compiled.blocks[COUNTED_SWEEPS]
    totals, special = compiled.blocks[TOTALS], compiled.blocks[SPECIAL]
    mulle_scores = compiled.blocks[MULLE_SCORES]
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
    """Choose totals that are observed as those given, which are relative to their mean and clipped to +-127.

    If clipping has moved their sum away from zero, a clipped total is changed to restore it. (Rounding moves the sum by
    at most half a point a seat, which is not observed.)
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


# ---------------------------------------------------------------------- points beyond what an observation shows


@kernel
def _seat_of_cut(compiled: np.record, seen: np.ndarray, viewer: int) -> int:
    """Find a seat whose points are cut off in an observation, or NO_SEAT."""
    for place in range(compiled.players):
        if seen[_POINTS + place] == MOST_SHOWN:
            return (viewer + place) % compiled.players
    return NO_SEAT


@rare_kernel
def _share_cut_points(
    compiled: np.record, game: np.record, seen: np.ndarray, viewer: int, cut: int, missing: int
) -> None:
    """Share the points that no seat shows among the seats whose points are cut off; choose the leader's bonus (H5).

    The bonus is 0 unless the leader's pile can't account for its points, or others show too many. At the end of a game
    the points that it settles belong to a seat whose points are cut off.
    """
    leader = leader_of(compiled, game)
    is_end, bonus = compiled.num_deals == game.deal_number and game.pending == NO_CARD, 0
    for place in range(compiled.players):
        is_end &= seen[_HAND_SIZE + place] == 0
    if is_end:
        leader, bonus = cut, max(-missing, 0)
    else:
        has_nothing = compiled.counts_piles and game.cards_won[leader] == 0 and game.points[leader] != 0
        if missing < 0 or (leader != cut and (has_nothing or game.points[leader] < 0)):
            bonus = compiled.initial_match_bonus
    game.bonus[leader] = bonus
    game.points[leader] -= bonus
    if missing + bonus < 0:
        game.points[cut] += missing + bonus
    for _ in range(missing + bonus):  # each point to the side with the lowest score: none reaches a threshold (F6)
        lowest, seat_of_lowest = NEVER, cut
        for place in range(compiled.players):
            seat = (viewer + place) % compiled.players
            score = running_score(compiled, game, seat % compiled.teams)
            if seen[_POINTS + place] == MOST_SHOWN and score < lowest:
                lowest, seat_of_lowest = score, seat
        game.points[seat_of_lowest] += 1
