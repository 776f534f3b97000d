"""The state of many games: one plain numpy array of records, batch axis first.

Legend, for the whole project: B games (rows), P seats, A actions (105, or 139 with builds), N entries of an
observation, D cards in the deck; 52 card kinds. Counts are of copies of a kind. "Bits" are sets as integers: bit k of a
set of kinds is kind k, bit r of a set of ranks is rank r + 1. Classes of cards are ranks, and lillan and storan
where they have values of their own (`krypenv.families.bounds.rank_classes`). Multisets of ranks are packed as in
`krypenv.kernels.compiled`.

A row of `State` is one game, and kernels take a row: `game.table[card] += 1`. Over the batch,
`state.table` is a (B, 52) array. Every row has room for six seats and 104 cards, so kernels are compiled once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import BUILD, MAX_BUILD, NUM_BUILDING_ACTIONS, NUM_KINDS, STOP, TAKE
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.runtime.jit import kernel, records

MAX_DECK = 2 * NUM_KINDS
MAX_COPIES = 8  # of a rank, at most
MAY_STOP = 1 << NUM_KINDS  # in the bits of the legal takes: action STOP is TAKE + NUM_KINDS
DEALS, ACTIONS = 0, 1  # the two random streams of a row

GAME = np.dtype(  # the larger numbers first, so that there are no gaps: every byte of a row is memory to be fetched
    [
        ("rng", np.uint64, (2,)),  # the streams that shuffle decks and that sample actions
        ("hand_kinds", np.int64, (MAX_PLAYERS,)),  # bits of the kinds in each hand
        ("table_ranks", np.int64),  # the table as a packed multiset of ranks
        ("taken_ranks", np.int64),  # `taken` as a packed multiset of ranks
        ("legal_plays", np.int64),  # bits of the kinds that may be played
        ("legal_takes", np.int64),  # bits of the kinds that may be taken, and MAY_STOP if the play may stop (K2)
        ("legal_builds", np.int64),  # bits of the actions from BUILD on (B1, B2)
        ("sweep_values", np.int32),  # bits of the hand values that take the whole table, 0 for an empty table
        ("seat", np.int32),  # the seat to act
        ("points", np.int32, (MAX_PLAYERS,)),  # points of the cards captured
        ("bonus", np.int32, (MAX_PLAYERS,)),  # other points: initial match, last capture, and majorities (K5)
        ("cannot_hold", np.int32, (MAX_PLAYERS,)),  # bits of the classes a seat can't hold until the next deal (R10)
        ("game_number", np.int32),  # 1 for the first game of the session
        ("totals", np.int32, (MAX_PLAYERS,)),  # scores in the session's finished games
        ("total_points", np.int32, (MAX_PLAYERS,)),  # points of the cards captured in them
        ("total_sweeps", np.int32, (MAX_PLAYERS,)),  # sweeps made in them
        ("total_void_sweeps", np.int32, (MAX_PLAYERS,)),  # sweeps that counted for nothing in them (F4, F5)
        ("builds", np.int32),  # bits of the values of the builds on the table (B1)
        ("multiple_builds", np.int32),  # bits of those that have several groups
        ("taken_builds", np.int32),  # those that the pending play, or the last complete one, captures, raises or joins
        ("table_sum", np.int16),  # sum of the table values
        ("next_card", np.int16),  # place in the deck of the next card to be dealt
        ("deal_number", np.int16),  # 1 for the first deal
        ("dealer", np.int16),
        ("pending", np.int16),  # the card just played while its capture is being chosen, else NO_CARD
        ("last_card", np.int16),  # the card of the last complete play of the game, else NO_CARD
        ("last_seat", np.int16),  # the seat that made it, else NO_SEAT
        ("last_sweep", np.int16),  # 0, 1 or 2 sweeps in it
        ("last_capturer", np.int16),  # seat of the last capture of the game, else NO_SEAT
        ("sweeps", np.int16, (MAX_PLAYERS,)),  # sweeps made; a double sweep counts as two
        ("void_sweeps", np.int16, (MAX_PLAYERS,)),  # sweeps made that don't count (F5)
        ("cards_won", np.int16, (MAX_PLAYERS,)),  # cards in each pile, where the rules count them (K5)
        ("spades_won", np.int16, (MAX_PLAYERS,)),  # spades in each pile, likewise
        ("mulles", np.int16, (MAX_PLAYERS,)),  # mulles made (M2)
        ("mulle_scores", np.int16, (MAX_PLAYERS,)),  # what mulles made count, where it differs from mulle to mulle (G2)
        ("hand_size", np.int8, (MAX_PLAYERS,)),
        ("deck", np.int8, (MAX_DECK,)),  # the deck in deal order
        ("hands", np.int8, (MAX_PLAYERS, NUM_KINDS)),  # counts
        ("table", np.int8, (NUM_KINDS,)),  # counts
        ("set_aside", np.int8, (NUM_KINDS,)),  # counts
        ("seen", np.int8, (NUM_KINDS,)),  # counts of the cards that have been face up
        ("taken", np.int8, (NUM_KINDS,)),  # counts taken in the pending play, or in the last complete one
        ("built", np.uint8, (NUM_KINDS,)),  # in which builds copies of each kind lie: `krypenv.kernels.builds.LIES_IN`
        ("build_owner", np.int8, (MAX_BUILD + 1,)),  # by value, the seat that owns each build (B5)
        ("build_value", np.int8),  # value of the build that the pending play, or the last complete one, makes, else 0
        ("over", np.bool_),  # the game is over (never so in an `Engine`, which deals the next one at once)
        ("cut_short", np.bool_),  # the game ended at once, by its threshold (F6)
    ],
    align=True,
)

State = np.recarray  # (B,) of GAME


def allocate(num_games: int) -> State:
    """Allocate the zeroed state of B games."""
    return records(GAME, num_games)


# ---------------------------------------------------------------------- the random streams of a game

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW_32, _TWO_32 = np.uint64(0xFFFFFFFF), np.uint64(1 << 32)


@kernel
def mix(word: np.uint64) -> np.uint64:
    """Scramble 64 bits (the finalizer of SplitMix64: Steele, Lea and Flood 2014)."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@kernel
def seed_game(game: np.record, seed: np.uint64) -> None:
    """Seed both random streams of a game from one number."""
    game.rng[DEALS] = mix(seed)
    game.rng[ACTIONS] = mix(~seed)


@kernel
def random_below(game: np.record, stream: int, limit: int) -> int:
    """Draw a uniform integer below `limit` (at most 2**32) from one of a game's streams (Lemire 2019, no bias)."""
    bound = np.uint64(limit)
    while True:
        game.rng[stream] += _GOLDEN
        product: Any = (mix(game.rng[stream]) >> _S32) * bound
        low = product & _LOW_32
        if low >= bound or low >= _TWO_32 % bound:
            return np.int64(product >> _S32)


@kernel
def is_legal(game: np.record, action: int) -> bool:
    """Check whether an action is legal for the seat to act."""
    if action < 0 or action >= NUM_BUILDING_ACTIONS:
        return False
    if action < TAKE:
        return game.legal_plays >> action & 1 == 1
    if action > STOP:
        return game.legal_builds >> (action - BUILD) & 1 == 1
    return game.legal_takes >> (action - TAKE) & 1 == 1
