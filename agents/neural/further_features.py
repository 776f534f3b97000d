"""Action features of games that count or allow more than Krypkasino: optional captures, majorities, mulles, sweeps.

They begin with the rows of the observation's features block (`krypenv.features`). What follows says what an
action is worth by a fair price, what it leaves, what others and the own hand can take of that, and the majorities.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from krypenv.agents.moves.space import FEW_MOVES, begin_listing, listing_type
from krypenv.agents.replies import REPLIES, look_at_replies, weigh_replies
from krypenv.agents.search.workspace import JUDGING, WORLDS, tally_type
from krypenv.cards import NUM_KINDS, NUM_RANKS, SPADES, STOP, TAKE
from krypenv.families.bounds import LILLAN, NUM_VALUES, STORAN
from krypenv.features import ALL_COLUMNS, ALL_WIDTH, write_entries, write_further
from krypenv.kernels.compiled import CARDS_WON, NUM_CLASSES, SPADES_WON, classes_of_values
from krypenv.kernels.gains import find_best, search_best
from krypenv.kernels.observing import clip_int8
from krypenv.kernels.outlook import chance_of_hit, count_piles
from krypenv.kernels.unions import add_value
from krypenv.kernels.weighing import cost_now, weigh_any
from krypenv.observation import LAYOUT, slices_of
from krypenv.runtime.jit import handle, kernel, rare_kernel, records

VERSION = "further 1"  # of these features; a network reads only the version it was trained on
TENTHS = 10.0  # worths are in tenths of a point
_BY_CLASS = "by rank, then the two of spades and the ten of diamonds where they have other values in the hand: "
_ENTRIES = (
    ("gain", 1, "what it is worth now in tenths of a point: points, sweeps, mulles, and a price of cards and spades"),
    ("balance", 1, "the best of its captures less the next seat's reply, as the tactician weighs it, in tenths"),
    ("threat", 1, "what the best capture of the next seat of what it leaves is worth in the mean, in tenths"),
    ("next_gain", 1, "what the best capture of what it leaves by another card of the own hand is worth, in tenths"),
    ("left", NUM_RANKS, "by rank: cards on the table after it"),
    ("left_cards", 1, "cards on the table after it"),
    ("left_spades", 1, "spades among them"),
    ("takers", NUM_CLASSES, f"{_BY_CLASS}unseen cards that the next seat may hold and that take something of that"),
    ("own_takers", NUM_CLASSES, f"{_BY_CLASS}other cards of the own hand that take something of that"),
    ("worth", NUM_CLASSES, f"{_BY_CLASS}what such a card's best capture is worth, in tenths of a point"),
    ("mulle_chance", 1, "chance in percent that the next seat holds the copy of a card that it leaves"),
    ("own_mulles", 1, "cards that it leaves of which the own hand holds the copy"),
    ("held", 1, "copies of the card in the own hand"),
    ("seen", 1, "copies of the card that the seat has seen"),
    ("sweeps_count", 1, "1 if a sweep would count now"),
    ("cards_lead", 1, "cards that the own side has won after it, less those of the best other side"),
    ("cards_open", 1, "cards that nobody has won yet"),
    ("cards_sure", 1, "1 if most cards are the own side's whatever happens, -1 if they can't be any more"),
    ("spades_lead", 1, "the same for spades"),
    ("spades_open", 1, "spades that nobody has won yet"),
    ("spades_sure", 1, "1 if most spades are the own side's whatever happens, -1 if they can't be any more"),
)
COLUMNS: dict[str, slice] = {**ALL_COLUMNS, **slices_of(_ENTRIES, ALL_WIDTH)}
WIDTH = ALL_WIDTH + sum(size for _, size, _ in _ENTRIES)  # entries for each legal action
DESCRIPTIONS: dict[str, str] = {name: text for name, _, text in _ENTRIES}

(
    _GAIN, _BALANCE, _THREAT, _NEXT_GAIN, _LEFT, _LEFT_CARDS, _LEFT_SPADES, _TAKERS, _OWN_TAKERS, _WORTH, _MULLE_CHANCE,
    _OWN_MULLES, _HELD, _SEEN_COPIES, _SWEEPS_COUNT, _CARDS_LEAD, _CARDS_OPEN, _CARDS_SURE, _SPADES_LEAD, _SPADES_OPEN,
    _SPADES_SURE,
) = (COLUMNS[name].start for name, _, _ in _ENTRIES)  # fmt: skip
_CARDS, _SPADES = ALL_COLUMNS["cards"].start, ALL_COLUMNS["spades"].start
_HAND, _TABLE, _SEEN, _CAPTURER = (LAYOUT[name].start for name in ("hand", "table", "seen", "last_capturer"))

ACTION_SCRATCH = np.dtype(
    [
        ("prices", np.int64, (NUM_VALUES,)),  # of the main game's features
        ("left", np.int8, (NUM_KINDS,)),  # the table after an action, by kind
        ("none", np.int8, (NUM_KINDS,)),  # zeros
        ("own", np.int64, (NUM_CLASSES,)),  # other cards of the own hand
        ("worth", np.float64, (NUM_CLASSES,)),  # of the best capture by a card of a class
        ("replies", REPLIES),
        # where cards are built:
        ("listing", listing_type(FEW_MOVES)),
        ("worlds", WORLDS),
        ("judging", JUDGING),
        ("tally", tally_type(FEW_MOVES)),
    ],
    align=True,
)


class _Space(threading.local):
    """A thread's scratch, made once: it is large."""

    def __init__(self) -> None:
        scratch = records(ACTION_SCRATCH, 1)
        begin_listing(scratch["listing"])
        self.scratch = handle(scratch)


_SPACE = _Space()


def borrow_action_scratch() -> np.ndarray:
    """Return the thread's scratch for the features of an action, (1,) of `ACTION_SCRATCH`."""
    return _SPACE.scratch


@rare_kernel
def write_further_action_features(
    compiled: np.record,
    observation: np.ndarray,
    action: int,
    feature_scratch: np.record,
    scratch: np.record,
    action_scratch: np.record,
    out: np.ndarray,
) -> None:
    """Write the features of a legal action into `out`, (WIDTH,) int8 zeros; call `look` first."""
    weigh_any(compiled, observation, action, feature_scratch, scratch)
    write_entries(compiled, feature_scratch, out)
    write_further(compiled, observation, action, feature_scratch, out)
    out[_GAIN] = _in_tenths(-cost_now(compiled, feature_scratch))
    out[_SWEEPS_COUNT] = feature_scratch.sweeps_count
    card = np.int64(feature_scratch.card if action >= TAKE else action)
    kind = card if action == STOP else action % TAKE
    out[_HELD] = observation[_HAND + kind]
    out[_SEEN_COPIES] = observation[_SEEN + kind]
    takers = _write_left(compiled, observation, action, feature_scratch, action_scratch, out)
    if takers != 0:
        _weigh_takers(compiled, card, takers, feature_scratch, scratch, action_scratch)
        _write_takers(compiled, takers, feature_scratch, action_scratch, out)
    look_at_replies(compiled, observation, feature_scratch, action_scratch.replies)
    cost = weigh_replies(compiled, observation, action, feature_scratch, action_scratch.replies, scratch)
    out[_BALANCE] = _in_tenths(-cost)
    if compiled.counts_piles:
        cards, spades = np.int64(out[_CARDS]), np.int64(out[_SPADES])
        deck, suit = compiled.deck_size, compiled.num_spades
        _write_majority(compiled, observation, compiled.further[CARDS_WON], deck, cards, out[_CARDS_LEAD:])
        _write_majority(compiled, observation, compiled.further[SPADES_WON], suit, spades, out[_SPADES_LEAD:])


@kernel
def _in_tenths(points: float) -> int:
    return clip_int8(np.int64(np.floor(TENTHS * points + 0.5)))


@kernel
def _write_left(
    compiled: np.record,
    observation: np.ndarray,
    action: int,
    feature_scratch: np.record,
    action_scratch: np.record,
    out: np.ndarray,
) -> int:
    """Write what the action that was weighed leaves, and the rest of the own hand; return the classes that take of it.

    If only some cards of a rank are set aside (V3), all of their kinds are.
    """
    asked = feature_scratch.asked
    card = np.int64(feature_scratch.card if action >= TAKE else action)
    captures = feature_scratch.capture != 0
    takes_rest = feature_scratch.game_ends and (captures or observation[_CAPTURER] != 0)
    sums, cards, spades, mulles, copies = np.int64(1), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for place in range(NUM_CLASSES):
        action_scratch.own[place] = 0
    for kind in range(NUM_KINDS):
        own = np.int64(observation[_HAND + kind]) - (action == kind)
        action_scratch.own[compiled.class_of[kind]] += own
        rest = np.int64(observation[_TABLE + kind]) + (kind == card and not captures)
        if captures:
            rest -= asked.chosen[kind]
        if takes_rest or feature_scratch.game_ends or (feature_scratch.deal_ends and compiled.is_aside[kind]):
            rest = np.int64(0)
        action_scratch.left[kind] = rest
        if rest == 0:
            continue
        out[_LEFT + kind % NUM_RANKS] += rest
        cards += rest
        spades += rest * (kind >= SPADES * NUM_RANKS)
        mulles += own > 0
        copies += compiled.deck_counts[kind] - observation[_SEEN + kind]
        choice = compiled.table_choice[kind % NUM_RANKS]
        for _ in range(rest):
            sums |= add_value(sums, choice) | choice
    out[_LEFT_CARDS], out[_LEFT_SPADES] = cards, spades
    if compiled.mulle_points != 0:
        chance = chance_of_hit(min(copies, np.int64(feature_scratch.pool)), feature_scratch.pool, feature_scratch.drawn)
        out[_MULLE_CHANCE] = np.int64(100.0 * chance + 0.5)
        out[_OWN_MULLES] = mulles
    return classes_of_values(compiled, sums & ~1)


@kernel
def _weigh_takers(
    compiled: np.record,
    card: int,
    takers: int,
    feature_scratch: np.record,
    scratch: np.record,
    action_scratch: np.record,
) -> None:
    """Work out what the best capture of what is left is worth for each class that takes of it, the card itself apart.

    Mulles don't count: which copy makes one is known by kind, not by class.
    """
    asked = feature_scratch.asked
    ranks = find_best(compiled, card, card, action_scratch.left, action_scratch.none, asked)
    asked.start, asked.counts_mulle, asked.wanted = 0.0, False, 1
    for place in range(NUM_CLASSES):
        action_scratch.worth[place] = 0.0
        if takers >> place & 1 and (feature_scratch.unseen[place] > 0 or action_scratch.own[place] > 0):
            kind = place
            if place >= NUM_RANKS:
                kind = LILLAN if place == NUM_RANKS else STORAN
            search_best(compiled, kind, ranks, feature_scratch.sweeps_count, asked, scratch)
            action_scratch.worth[place] = asked.gains[0]
    asked.counts_mulle = True


@kernel
def _write_takers(
    compiled: np.record, takers: int, feature_scratch: np.record, action_scratch: np.record, out: np.ndarray
) -> None:
    """Write which classes take of what is left and what that is worth, to the next seat and to the own hand."""
    best_own = 0.0
    open_classes: Any = np.int64(takers)
    for place in range(NUM_CLASSES):
        if takers >> place & 1:
            unseen, own = feature_scratch.unseen[place], action_scratch.own[place]
            out[_TAKERS + place], out[_OWN_TAKERS + place] = unseen, own
            out[_WORTH + place] = _in_tenths(action_scratch.worth[place])
            if own > 0:
                best_own = max(best_own, action_scratch.worth[place])
    out[_NEXT_GAIN] = _in_tenths(best_own)
    threat, reached, hits = 0.0, 0.0, np.int64(0)
    while open_classes != 0:  # the dearest class first: the chance that it is the best one that the next seat holds
        best = -1
        for place in range(NUM_CLASSES):
            if open_classes >> place & 1 and (best < 0 or action_scratch.worth[place] > action_scratch.worth[best]):
                best = place
        open_classes ^= np.int64(1) << best
        if action_scratch.worth[best] <= 0.0:
            break
        hits += feature_scratch.unseen[best]
        chance = chance_of_hit(hits, feature_scratch.pool, feature_scratch.drawn)
        threat += action_scratch.worth[best] * (chance - reached)
        reached = chance
    out[_THREAT] = _in_tenths(threat)


@kernel
def _write_majority(
    compiled: np.record, observation: np.ndarray, block: int, total: int, won: int, out: np.ndarray
) -> None:
    """Write the own side's lead, what is open, and whether the majority is decided, after winning `won` more (K5)."""
    own, best, piles = count_piles(compiled, observation, block)
    lead, left = own + won - best, total - piles - won
    out[0] = clip_int8(lead)
    out[1] = clip_int8(left)
    out[2] = np.int64(lead > left) - np.int64(-lead >= left)
