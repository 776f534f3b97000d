"""Action features of games in which cards are built (B): the best move that an action begins or continues.

The tactician's judgement picks it (`krypenv.agents.search.judging`). The features say what it wins and lays, and what
can be taken of what it leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.making import make_move
from krypenv.agents.moves.prices import worth_of_promise
from krypenv.agents.moves.record import copies_taken
from krypenv.agents.moves.staging import next_action
from krypenv.agents.search.judging import judge_building, may_be_mulle
from krypenv.agents.search.sampling import look_around
from krypenv.cards import MAX_BUILD, NUM_KINDS, NUM_RANKS, STOP, TAKE
from krypenv.kernels.builds import copies_in, loose_sums
from krypenv.kernels.compiled import CARDS_WON, NUM_CLASSES, SPADES_WON, bit_index, classes_of_values, hand_value_of
from krypenv.kernels.observing import clip_int8
from krypenv.kernels.outlook import chance_of_sweep, count_piles
from krypenv.kernels.scoring import margin_of
from krypenv.observation import LAYOUT, slices_of
from krypenv.runtime.jit import kernel, rare_kernel

VERSION = "building 1"  # of these features; a network reads only the version it was trained on
TENTHS = 10.0  # worths are in tenths of a point
MOST_LISTED = 6  # captures of a card, and builds with it, that are weighed
_BY_CLASS = "by rank, then the two of spades and the ten of diamonds where they have other values in the hand: "
_BY_VALUE = "by value, 0 to 16: "
_ENTRIES = (
    ("listed", 1, "1 if a move that was weighed begins or goes on with it; all else but the last two is 0 if not"),
    ("gain", 1, "what the move wins at once, in tenths of a point"),
    ("balance", 1, "the same less the next seat's reply, as the tactician weighs it, in tenths"),
    ("behind", 1, "how far that is behind the best move of all, in tenths"),
    ("trails", 1, "1 if it trails a card"),
    ("lays", 1, "1 if it makes, joins or raises a build"),
    ("joins", 1, "1 if it joins a build"),
    ("raises", 1, "1 if it raises a build"),
    ("takes_build", 1, "1 if it captures a build"),
    ("takes_own", 1, "1 if the build that it captures or raises belongs to the own side"),
    ("cards", 1, "loose cards that it takes or lays, the card played apart"),
    ("sweeps", 1, "sweeps that it makes"),
    ("mulle", 1, "points of the mulle that it makes"),
    ("made", MAX_BUILD + 1, f"{_BY_VALUE}1 for the build that it makes, joins or raises to"),
    ("laid", 1, "what that build will win, in tenths"),
    ("laid_chance", 1, "chance in percent that the next seat holds a card that can take it"),
    ("left", NUM_RANKS, "by rank: loose cards on the table after it"),
    ("left_cards", 1, "loose cards after it"),
    ("left_points", 1, "points of them"),
    ("own_builds", MAX_BUILD + 1, f"{_BY_VALUE}1 for a build of the own side after it"),
    ("other_builds", MAX_BUILD + 1, f"{_BY_VALUE}1 for a build of another side after it"),
    ("own_promise", 1, "what builds of the own side will win, in tenths"),
    ("other_promise", 1, "the same for those of others, as far as their cards are known"),
    ("takers", NUM_CLASSES, f"{_BY_CLASS}unseen cards that the next seat may hold and that take something after it"),
    ("own_takers", NUM_CLASSES, f"{_BY_CLASS}other cards of the own hand that take something after it"),
    ("take_chance", 1, "chance in percent that the next seat can take something"),
    ("copies", 1, "unseen copies of cards that can be taken with them"),
    ("own_copies", 1, "copies in the own hand of cards that can be taken with them"),
    ("sweeps_count", 1, "1 if a sweep would count now"),
    ("cards_lead", 1, "cards that the own side has won before it, less those of the best other side"),
    ("spades_lead", 1, "the same for spades"),
    ("held", 1, "copies of its card in the own hand"),
    ("seen", 1, "copies of its card that the seat has seen"),
)
COLUMNS: dict[str, slice] = slices_of(_ENTRIES)
WIDTH = sum(size for _, size, _ in _ENTRIES)  # entries for each legal action
DESCRIPTIONS: dict[str, str] = {name: text for name, _, text in _ENTRIES}
(
    _LISTED, _GAIN, _BALANCE, _BEHIND, _TRAILS, _LAYS, _JOINS, _RAISES, _TAKES_BUILD, _TAKES_OWN, _CARDS, _SWEEPS,
    _MULLE, _MADE, _LAID, _LAID_CHANCE, _LEFT, _LEFT_CARDS, _LEFT_POINTS, _OWN_BUILDS, _OTHER_BUILDS, _OWN_PROMISE,
    _OTHER_PROMISE, _TAKERS, _OWN_TAKERS, _TAKE_CHANCE, _COPIES, _OWN_COPIES, _SWEEPS_COUNT, _CARDS_LEAD, _SPADES_LEAD,
    _HELD, _SEEN_COPIES,
) = (COLUMNS[name].start for name, _, _ in _ENTRIES)  # fmt: skip
_HAND, _SEEN = (LAYOUT[name].start for name in ("hand", "seen"))
_ONE: Any = np.int64(1)


@rare_kernel
def look_at_moves(
    compiled: np.record,
    observation: np.ndarray,
    listing: np.record,
    worlds: np.record,
    judging: np.record,
    tally: np.record,
) -> None:
    """List and weigh the moves of a decision, for all of its actions."""
    look_around(compiled, observation, worlds, listing.scratch)
    listing.keep = MOST_LISTED
    end = list_moves(compiled, worlds.root, 0, listing)
    order_moves(compiled, worlds.root, 0, end, listing)
    judge_building(compiled, observation, end, True, listing, worlds, judging, tally)
    judging.listed = end


@rare_kernel
def write_building_features(
    compiled: np.record,
    observation: np.ndarray,
    action: int,
    listing: np.record,
    worlds: np.record,
    judging: np.record,
    tally: np.record,
    out: np.ndarray,
) -> None:
    """Write the features of a legal action into `out`, (WIDTH,) int8 zeros; call `look_at_moves` first."""
    root = worlds.root
    card = np.int64(action) if action < TAKE else np.int64(root.pending)
    kind = np.int64(action - TAKE) if TAKE <= action < STOP else card
    out[_HELD], out[_SEEN_COPIES] = observation[_HAND + kind], observation[_SEEN + kind]
    chosen, most = -1, -np.inf
    for at in range(judging.listed):
        most = max(most, tally.totals[at])
        if next_action(root, listing.moves[at]) == action and (chosen < 0 or tally.totals[at] > tally.totals[chosen]):
            chosen = at
    if chosen < 0:
        return
    side, before = root.seat % compiled.teams, margin_of(compiled, root, root.seat % compiled.teams)
    judging.after = root
    make_move(compiled, judging.after, listing.moves[chosen], listing)
    out[_LISTED] = 1
    out[_GAIN] = _in_tenths(margin_of(compiled, judging.after, side) - before)
    out[_BALANCE], out[_BEHIND] = _in_tenths(tally.totals[chosen]), _in_tenths(most - tally.totals[chosen])
    _write_move(compiled, listing.moves[chosen], worlds, judging, out)
    _write_loose(compiled, judging.after, out)
    _write_builds(compiled, judging.after, side, out)
    _write_takers(compiled, observation, worlds, judging, listing.scratch, out)
    out[_SWEEPS_COUNT] = judging.feature_scratch.sweeps_count
    if compiled.counts_piles:
        for column, block in ((_CARDS_LEAD, CARDS_WON), (_SPADES_LEAD, SPADES_WON)):
            own, best, _ = count_piles(compiled, observation, compiled.further[block])
            out[column] = clip_int8(own - best)


@kernel
def _in_tenths(points: float) -> int:
    return clip_int8(np.int64(np.floor(TENTHS * points + 0.5)))


@kernel
def _write_move(compiled: np.record, move: np.record, worlds: np.record, judging: np.record, out: np.ndarray) -> None:
    """Write what a move does."""
    root, after, seat = worlds.root, judging.after, worlds.root.seat
    lays = move.build != 0
    out[_TRAILS] = move.ranks == 0 and move.taken == 0 and not lays
    out[_LAYS] = lays
    out[_RAISES], out[_TAKES_BUILD] = lays and move.taken != 0, not lays and move.taken != 0
    if move.taken != 0:
        out[_TAKES_OWN] = (root.build_owner[move.taken] - seat) % compiled.teams == 0
    cards = np.int64(0)
    for kind in range(NUM_KINDS):
        cards += copies_taken(move, kind)
    out[_CARDS] = cards
    out[_SWEEPS] = after.last_sweep
    if compiled.mulle_by_value:
        out[_MULLE] = after.mulle_scores[seat] - root.mulle_scores[seat]
    else:
        out[_MULLE] = compiled.mulle_points * (after.mulles[seat] - root.mulles[seat])
    if lays:
        out[_JOINS] = root.builds >> move.build & 1
        out[_MADE + move.build] = 1
        out[_LAID] = _in_tenths(worth_of_promise(compiled, after, np.int64(move.build)))
        out[_LAID_CHANCE] = _percent(chance_of_sweep(compiled, judging.feature_scratch, _ONE << move.build))


@kernel
def _percent(chance: float) -> int:
    return int(100.0 * chance + 0.5)


@kernel
def _write_loose(compiled: np.record, after: np.record, out: np.ndarray) -> None:
    """Write the loose cards of a table."""
    cards, points = np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        count = np.int64(after.table[kind])
        out[_LEFT + kind % NUM_RANKS] += count
        cards += count
        points += count * compiled.card_points[kind]
    out[_LEFT_CARDS], out[_LEFT_POINTS] = cards, clip_int8(points)


@kernel
def _write_builds(compiled: np.record, after: np.record, side: int, out: np.ndarray) -> None:
    """Write the builds on a table, and what they will win."""
    own_worth, other_worth = 0.0, 0.0
    left = np.int64(after.builds)
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        worth = worth_of_promise(compiled, after, value)
        if after.build_owner[value] % compiled.teams == side:
            out[_OWN_BUILDS + value] = 1
            own_worth += worth
        else:
            out[_OTHER_BUILDS + value] = 1
            other_worth += worth
    out[_OWN_PROMISE], out[_OTHER_PROMISE] = _in_tenths(own_worth), _in_tenths(other_worth)


@kernel
def _write_takers(
    compiled: np.record,
    observation: np.ndarray,
    worlds: np.record,
    judging: np.record,
    scratch: np.record,
    out: np.ndarray,
) -> None:
    """Write which cards take something of a table, and which of them would be mulles."""
    after, unseen, seat = judging.after, judging.feature_scratch.unseen, worlds.root.seat
    values = (loose_sums(compiled, after) | after.builds) & ~_ONE
    out[_TAKE_CHANCE] = _percent(chance_of_sweep(compiled, judging.feature_scratch, values))
    takers = np.int64(classes_of_values(compiled, values))
    copies, own_copies = np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        own = np.int64(after.hands[seat, kind])
        hidden = np.int64(compiled.deck_counts[kind] - observation[_SEEN + kind])
        place = compiled.class_of[kind]
        if own > 0 and takers >> place & 1:
            out[_OWN_TAKERS + place] += own
        lies = after.table[kind] > 0 or copies_in(after, hand_value_of(compiled, kind), kind) > 0
        if lies and own + hidden > 0 and may_be_mulle(compiled, after, kind, np.int64(after.table_ranks), scratch):
            copies += hidden
            own_copies += own
    while takers != 0:
        place = bit_index(takers & -takers)
        takers &= takers - 1
        out[_TAKERS + place] = unseen[place]
    out[_COPIES], out[_OWN_COPIES] = copies, own_copies
