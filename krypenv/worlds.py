"""Complete games in agreement with what a seat has seen: the worlds that a search samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from krypenv.captures import make_scratch
from krypenv.cards import NO_CARD, NO_SEAT, NUM_KINDS, NUM_RANKS
from krypenv.jit import handle, kernel
from krypenv.observation import LAYOUT, SIZE
from krypenv.play import add_to_table, leader_of, offer_takes, random_below, refresh, seed_game
from krypenv.rules import Rules
from krypenv.state import DEALS, MAX_DECK, State, allocate
from krypenv.tables import NIBBLE, compile_rules

MAX_TRIES = 200  # whole shuffles before hands are mended card by card
MAX_SWAPS = 100_000  # swaps before an observation counts as impossible
MIXING_SWAPS = 2_000  # swaps that forget how a world was mended

_HAND, _TABLE, _SEEN, _ASIDE, _PENDING, _TAKEN = (
    LAYOUT[name].start for name in ("hand", "table", "seen", "set_aside", "pending", "taken")
)
_POINTS, _SWEEPS, _HAND_SIZE, _CAPTURER, _DEALER, _TURN, _TOTAL = (
    LAYOUT[name].start for name in ("points", "sweeps", "hand_size", "last_capturer", "dealer", "turn", "session_total")
)
_CANNOT_HOLD, _DEALS_LEFT, _GAMES_LEFT = (LAYOUT[name].start for name in ("cannot_hold", "deals_left", "games_left"))


def determinize(observation: npt.ArrayLike, rng: np.random.Generator | int, rules: Rules | None = None) -> State:
    """Return one complete game for each observation, uniformly drawn from all that would have shown it.

    The unseen cards are dealt at random to the other hands and the stock, so that no seat holds a rank that it would
    have been forced to sweep with. What the future does not depend on is made up: the order of the cards played, who
    has captured which cards, and the absolute level of the session's totals. Seats are numbered so that the last one
    is the dealer, as in a single game.

    Args:
        observation: (N,) or (B, N) int8, N >= 433, of any seat, to act or not; one row is returned for each.
        rng: a numpy generator or a seed.
        rules: the rules of the game; by default the main rulebook for the players and teams in the observation.

    Raises ValueError for an observation that no game under these rules shows.

    >>> engine = Engine(Rules.preset(), 4)
    >>> worlds = determinize(engine.observation, rng=0)
    >>> bool((Engine.from_state(engine.rules, worlds).observation == engine.observation).all())
    True
    """
    seen = np.atleast_2d(np.asarray(observation))
    if seen.ndim != 2 or seen.shape[1] < SIZE or seen.dtype != np.int8:
        raise ValueError(f"an observation is int8 of shape ({SIZE},) or more, not {seen.dtype} {seen.shape[1:]}")
    seen = np.ascontiguousarray(seen[:, :SIZE])
    rules = rules or _rules_of(seen[0])
    _check(seen, rules)
    seeds = np.random.default_rng(rng).integers(0, 2**63, len(seen)).astype(np.uint64)
    state = allocate(len(seen))
    owner, pool = np.empty((2, MAX_DECK), np.int64)
    failed = _determinize_rows(compile_rules(rules), seen, handle(state), seeds, owner, pool, make_scratch())
    if failed < len(seen):
        raise ValueError(f"no deal of the unseen cards agrees with observation {failed}")
    return state


def _rules_of(observation: np.ndarray) -> Rules:
    players = int(observation[LAYOUT["seated"]].sum())
    sides = int(observation[LAYOUT["team"]].max()) + 1
    return Rules.preset("krypkasino", players=players, teams=sides if sides < players else None)


def _check(seen: np.ndarray, rules: Rules) -> None:
    if (seen[:, LAYOUT["seated"]].sum(1) != rules.players).any():
        raise ValueError(f"the observation is not one of a game of {rules.players} players")
    unseen = rules.deck_counts - seen[:, LAYOUT["seen"]]
    hidden = seen[:, LAYOUT["hand_size"]].astype(int)[:, 1:].sum(1)
    tables = compile_rules(rules)[0]
    deals_left = seen[:, _DEALS_LEFT].astype(int)
    numbers = tables["num_deals"] - deals_left
    shown = [seen[:, LAYOUT[name]].astype(int) for name in ("hand", "table", "set_aside", "pending")]
    is_torn = (seen[:, LAYOUT["seen"]] < sum(shown)).any() or any((counts < 0).any() for counts in shown)
    if is_torn or (unseen < 0).any() or (deals_left < 0).any() or (numbers < 1).any():
        raise ValueError(
            f"the observation is not one of a game of {rules}: it shows cards that this deck does not have"
        )
    stock = rules.deck_size - tables["deal_start"][numbers]
    if (unseen.sum(1) != hidden + stock).any():
        raise ValueError(f"the observation is not one of a game of {rules}: the number of unseen cards does not fit")


@kernel
def _determinize_rows(
    tables: np.ndarray,
    observations: np.ndarray,
    state: np.ndarray,
    seeds: np.ndarray,
    owner: np.ndarray,
    pool: np.ndarray,
    scratch: np.ndarray,
) -> int:
    """Fill all rows; return the first that can't be filled, or their number."""
    for row in range(len(state)):
        game = state[row]
        seed_game(game, seeds[row])
        copy_public(tables[0], game, observations[row])
        if not deal_hidden(tables[0], game, observations[row], True, owner, pool):
            return row
        prepare(tables[0], game, scratch[0])
    return len(state)


@kernel
def copy_public(tables: np.record, game: np.record, seen: np.ndarray) -> None:
    """Copy all that an observation tells, from relative places to seats."""
    players = tables.players
    dealer_place = np.int64(0)
    for place in range(players):
        if seen[_DEALER + place]:
            dealer_place = place
    viewer = players - 1 - dealer_place
    game.dealer = players - 1
    game.deal_number = tables.num_deals - seen[_DEALS_LEFT]
    game.next_card = tables.deal_start[game.deal_number]
    game.game_number = max(tables.games - seen[_GAMES_LEFT], 1)
    game.pending = NO_CARD
    game.last_card = NO_CARD
    game.last_seat = NO_SEAT
    game.last_capturer = NO_SEAT
    captured = np.int64(0)
    for kind in range(NUM_KINDS):
        public = np.int64(seen[_SEEN + kind]) - seen[_HAND + kind]
        game.seen[kind] = public
        game.set_aside[kind] = seen[_ASIDE + kind]
        game.taken[kind] = seen[_TAKEN + kind]
        game.taken_ranks += np.int64(seen[_TAKEN + kind]) << NIBBLE * (kind % NUM_RANKS)
        add_to_table(tables, game, kind, np.int64(seen[_TABLE + kind]))
        if seen[_PENDING + kind]:
            game.pending = kind
        lying = np.int64(seen[_TABLE + kind]) + seen[_ASIDE + kind] + seen[_PENDING + kind]
        captured += (public - lying) * tables.card_points[kind]
        _give(game, viewer, kind, np.int64(seen[_HAND + kind]))
    for place in range(players):
        seat = (viewer + place) % players
        game.points[seat] = seen[_POINTS + place]
        game.sweeps[seat] = seen[_SWEEPS + place]
        game.totals[seat] = seen[_TOTAL + place]
        captured -= seen[_POINTS + place]
        if seen[_CAPTURER + place]:
            game.last_capturer = seat
        if seen[_TURN + place]:
            game.seat = seat
        for rank in range(NUM_RANKS):
            if place > 0 and seen[_CANNOT_HOLD + (place - 1) * NUM_RANKS + rank]:
                game.cannot_hold[seat] |= 1 << rank
    leader = leader_of(tables, game)
    game.bonus[leader] = -captured  # points shown that no card accounts for
    game.points[leader] += captured


@kernel
def _give(game: np.record, seat: int, card: int, count: int) -> None:
    game.hands[seat, card] += count
    game.hand_size[seat] += count
    if count > 0:
        game.hand_kinds[seat] |= np.int64(1) << card


@kernel
def deal_hidden(
    tables: np.record, game: np.record, seen: np.ndarray, whole: bool, owner: np.ndarray, pool: np.ndarray
) -> bool:
    """Deal the unseen cards to the other hands and the stock; return whether a deal was found that agrees.

    Unless the `whole` is wanted, the stock is in no order, which is faster.
    Scratch, (104,) int64 each: `pool` holds the unseen cards, and `owner` whose each is, NO_SEAT for the stock.
    """
    size = 0
    for kind in range(NUM_KINDS):
        for _ in range(tables.deck_counts[kind] - seen[_SEEN + kind]):
            pool[size] = kind
            size += 1
    hidden = 0
    viewer = (game.dealer + 1 + _dealer_distance(tables, seen)) % tables.players
    for place in range(1, tables.players):
        for _ in range(seen[_HAND_SIZE + place]):
            owner[hidden] = (viewer + place) % tables.players
            hidden += 1
    for at in range(hidden, size):
        owner[at] = NO_SEAT
    if not _arrange(game, pool, owner, size, hidden, size if whole else hidden):
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
def _dealer_distance(tables: np.record, seen: np.ndarray) -> int:
    """Return how many seats after the leader the viewer sits."""
    for place in range(tables.players):
        if seen[_DEALER + place]:
            return tables.players - 1 - place
    return 0


@kernel
def _is_barred(game: np.record, seat: int, card: int) -> bool:
    return seat != NO_SEAT and game.cannot_hold[seat] >> (card % NUM_RANKS) & 1 == 1


@kernel
def _arrange(game: np.record, pool: np.ndarray, owner: np.ndarray, size: int, hidden: int, drawn: int) -> bool:
    """Bring the pool into a uniformly random order in which nobody owns a card that it can't hold.

    Whole shuffles until one agrees are uniform. Where that takes too long, a shuffle is mended by swaps, and then swaps
    that keep it agreeing forget the start (a symmetric random walk, so uniform in the limit). Only the first `drawn`
    places, the hidden hands among them, need be random.
    """
    for _ in range(MAX_TRIES):
        barred = 0
        for at in range(drawn):
            other = at + random_below(game, DEALS, size - at)
            card = pool[other]
            pool[other] = pool[at]
            pool[at] = card
            barred += _is_barred(game, owner[at], card)
        if barred == 0:
            return True
    mixing = -1
    for _ in range(MAX_SWAPS):
        if mixing == MIXING_SWAPS:
            return True
        at, other = random_below(game, DEALS, hidden), random_below(game, DEALS, size)
        before = _is_barred(game, owner[at], pool[at]) + _is_barred(game, owner[other], pool[other])
        after = _is_barred(game, owner[at], pool[other]) + _is_barred(game, owner[other], pool[at])
        if after <= before:
            card = pool[other]
            pool[other] = pool[at]
            pool[at] = card
            barred += after - before
        if barred == 0:
            mixing += 1
    return False


@kernel
def prepare(tables: np.record, game: np.record, scratch: np.record) -> None:
    """Work out what is legal, from the table and the hands."""
    held = np.int64(0)
    for seat in range(tables.players):
        held += game.hand_size[seat]
    if held == 0 and game.pending == NO_CARD:
        game.over = True
        return
    refresh(tables, game, scratch)
    if game.pending != NO_CARD:
        offer_takes(tables, game, scratch)
