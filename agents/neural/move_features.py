"""Action features of all games but those like Krypkasino: the best move that an action begins or continues.

The judgement picks it (`krypenv.agents.judgement`). The features show its gain, the expected reply and the keep, what
it takes and lays, what it leaves, and who can take something of that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from krypenv.agents.judgement import carry_out_hidden, expected_reply, judge_decision, may_be_mulle
from krypenv.agents.moves.making import next_action
from krypenv.agents.moves.prices import worth_of_promise
from krypenv.agents.moves.record import JUDGED_CAPTURES, copies_taken, trails
from krypenv.agents.search.worlds import set_root
from krypenv.cards import MAX_BUILD, NUM_KINDS, NUM_RANKS, SPADES, STOP, TAKE
from krypenv.kernels.builds import copies_in, sweep_builds
from krypenv.kernels.captures import find_sweep_values
from krypenv.kernels.compiled import (
    CARDS_WON,
    NIBBLE,
    NUM_CLASSES,
    SPADES_WON,
    bit_index,
    classes_of_values,
    hand_value_of,
    sum_of,
)
from krypenv.kernels.observing import clip_int8
from krypenv.kernels.optional import add_value
from krypenv.kernels.outlook import chance_of_sweep, compare_piles
from krypenv.observation import LAYOUT, slices_of
from krypenv.runtime.jit import kernel, other_kernel


class FeatureSet(NamedTuple):
    """The action features of some rules."""

    version: int | str  # as in a model's file; a network reads only the version it was trained on
    columns: dict[str, slice]  # the places of each feature
    descriptions: dict[str, str]  # of each feature
    divisors: dict[str, float]  # that bring features to the order of one; 1 for others

    @property
    def width(self) -> int:
        """W, the number of entries for each legal action."""
        return max(part.stop for part in self.columns.values())


TENTHS = 10.0  # worths are in tenths of a point
_BY_CLASS = "by rank, then the two of spades and the ten of diamonds where they have other values in the hand: "
_BY_VALUE = "by value, 0 to 16: "
_ENTRIES = (
    ("held", 1, "copies of its card in the own hand"),
    ("seen", 1, "copies of its card that the seat has seen"),
    ("sweeps_count", 1, "1 if a sweep would count now"),
    ("listed", 1, "1 if a move that was judged begins or goes on with it; all that follows is 0 if not"),
    ("gain", 1, "what the move wins at once, in tenths of a point, with a fair share of the majorities"),
    ("reply", 1, "what the next seat can be expected to win then, in tenths"),
    ("keep", 1, "what the own side keeps for later, in tenths"),
    ("worth", 1, "the gain less the reply, and the keep, in tenths"),
    ("behind", 1, "how far that is behind the best move of all, in tenths"),
    ("trails", 1, "1 if its card stays on the table, and nothing is taken or built"),
    ("cards", 1, "cards that it wins"),
    ("spades", 1, "spades that it wins"),
    ("points", 1, "points of the cards that it wins"),
    ("sweeps", 1, "sweeps that it makes"),
    ("mulle", 1, "points of the mulle that it makes"),
    ("loose", 1, "loose cards that it takes or builds with, the card played apart"),
    ("lays", 1, "1 if it makes, joins or raises a build"),
    ("joins", 1, "1 if it joins a build"),
    ("raises", 1, "1 if it raises a build"),
    ("takes_build", 1, "1 if it captures a build"),
    ("takes_own", 1, "1 if the build that it captures or raises belongs to the own side"),
    ("made", MAX_BUILD + 1, f"{_BY_VALUE}1 for the build that it makes, joins or raises to"),
    ("laid", 1, "what that build will win, in tenths"),
    ("laid_chance", 1, "chance in percent that the next seat holds a card that can take it"),
    ("left", NUM_RANKS, "by rank: loose cards on the table after it"),
    ("left_cards", 1, "loose cards after it"),
    ("left_spades", 1, "spades among them"),
    ("left_points", 1, "points of them"),
    ("own_builds", MAX_BUILD + 1, f"{_BY_VALUE}1 for a build of the own side after it"),
    ("other_builds", MAX_BUILD + 1, f"{_BY_VALUE}1 for a build of another side after it"),
    ("own_promise", 1, "what builds of the own side will win, in tenths"),
    ("other_promise", 1, "the same for those of others, as far as their cards are known"),
    ("takers", NUM_CLASSES, f"{_BY_CLASS}unseen cards that the next seat may hold and that take something after it"),
    ("own_takers", NUM_CLASSES, f"{_BY_CLASS}other cards of the own hand that take something after it"),
    ("takes", NUM_CLASSES, f"{_BY_CLASS}what the best capture by such an unseen card wins, in tenths"),
    ("take_chance", 1, "chance in percent that the next seat can take something"),
    ("sweepers", NUM_CLASSES, f"{_BY_CLASS}unseen cards that the next seat may hold and that sweep after it"),
    ("sweep_chance", 1, "chance in percent that the next seat can sweep"),
    ("copies", 1, "unseen copies of cards that can be taken with them"),
    ("own_copies", 1, "copies in the own hand of cards that can be taken with them"),
    ("cards_lead", 1, "cards that the own side has won after it, less those of the best other side"),
    ("cards_open", 1, "cards that nobody has won then"),
    ("cards_sure", 1, "1 if most cards are the own side's whatever happens, -1 if they can't be any more"),
    ("spades_lead", 1, "the same for spades"),
    ("spades_open", 1, "spades that nobody has won then"),
    ("spades_sure", 1, "1 if most spades are the own side's whatever happens, -1 if they can't be any more"),
)
_DIVISORS = {
    "gain": 15.0, "reply": 15.0, "keep": 15.0, "worth": 15.0, "behind": 15.0, "cards": 3.0, "points": 2.0,
    "mulle": 8.0, "laid": 30.0, "laid_chance": 50.0, "left": 2.0, "left_cards": 4.0, "left_spades": 2.0,
    "left_points": 2.0, "own_promise": 30.0, "other_promise": 30.0, "takers": 4.0, "takes": 10.0, "take_chance": 50.0,
    "sweepers": 4.0, "sweep_chance": 50.0, "copies": 2.0, "cards_lead": 10.0, "cards_open": 20.0, "spades_lead": 4.0,
    "spades_open": 6.0,
}  # fmt: skip
MOVE_FEATURES = FeatureSet("moves 1", slices_of(_ENTRIES), {name: text for name, _, text in _ENTRIES}, _DIVISORS)
(
    _HELD, _SEEN_COPIES, _SWEEPS_COUNT, _LISTED, _GAIN, _REPLY, _KEEP, _WORTH, _BEHIND, _TRAILS, _CARDS, _SPADES,
    _POINTS, _SWEEPS, _MULLE, _LOOSE, _LAYS, _JOINS, _RAISES, _TAKES_BUILD, _TAKES_OWN, _MADE, _LAID, _LAID_CHANCE,
    _LEFT, _LEFT_CARDS, _LEFT_SPADES, _LEFT_POINTS, _OWN_BUILDS, _OTHER_BUILDS, _OWN_PROMISE, _OTHER_PROMISE, _TAKERS,
    _OWN_TAKERS, _TAKES, _TAKE_CHANCE, _SWEEPERS, _SWEEP_CHANCE, _COPIES, _OWN_COPIES, _CARDS_LEAD, _CARDS_OPEN,
    _CARDS_SURE, _SPADES_LEAD, _SPADES_OPEN, _SPADES_SURE,
) = (part.start for part in MOVE_FEATURES.columns.values())  # fmt: skip
_HAND, _SEEN = (LAYOUT[name].start for name in ("hand", "seen"))
_ONE: Any = np.int64(1)


@other_kernel
def judge_actions(compiled: np.record, seen: np.ndarray, workspace: np.record) -> None:
    """List and judge the moves of a decision, for all of its actions."""
    set_root(compiled, seen, workspace)
    workspace.listing.keep = JUDGED_CAPTURES
    workspace.judging.listed = judge_decision(compiled, seen, workspace.decision.root, 0, True, workspace)


@other_kernel
def write_move_features(
    compiled: np.record, seen: np.ndarray, action: int, workspace: np.record, out: np.ndarray
) -> None:
    """Write the features of a legal action to `out`, (W,) int8 zeros; call `judge_actions` first."""
    root, listing, judging = workspace.decision.root, workspace.listing, workspace.judging
    after, outlook = judging.after, judging.outlook
    card = np.int64(action) if action < TAKE else np.int64(root.pending)
    kind = np.int64(action - TAKE) if TAKE <= action < STOP else card
    out[_HELD], out[_SEEN_COPIES] = seen[_HAND + kind], seen[_SEEN + kind]
    out[_SWEEPS_COUNT] = outlook.sweeps_count
    chosen, most = -1, -np.inf
    for at in range(judging.listed):
        worth = judging.judged[at].worth
        most = max(most, worth)
        if (chosen < 0 or worth > judging.judged[chosen].worth) and next_action(root, listing.moves[at]) == action:
            chosen = at
    if chosen < 0:
        return
    judged = judging.judged[chosen]
    out[_LISTED] = 1
    out[_GAIN], out[_REPLY], out[_KEEP] = _in_tenths(judged.gain), _in_tenths(judged.reply), _in_tenths(judged.keep)
    out[_WORTH], out[_BEHIND] = _in_tenths(judged.worth), _in_tenths(most - judged.worth)
    carry_out_hidden(compiled, seen, root, listing.moves[chosen], workspace)
    _write_move(compiled, listing.moves[chosen], root, after, out)
    if compiled.building:
        _write_builds(compiled, listing.moves[chosen], workspace, out)
    _write_loose(compiled, after, out)
    _write_takers(compiled, workspace, out)
    if compiled.counts_piles:
        cards, spades = compiled.blocks[CARDS_WON], compiled.blocks[SPADES_WON]
        won, won_spades = np.int64(out[_CARDS]), np.int64(out[_SPADES])
        _write_majority(compiled, seen, cards, compiled.deck_size, won, out[_CARDS_LEAD:])
        _write_majority(compiled, seen, spades, compiled.num_spades, won_spades, out[_SPADES_LEAD:])


@kernel
def _in_tenths(points: float) -> int:
    return clip_int8(np.int64(np.floor(TENTHS * points + 0.5)))


@kernel
def _percent(chance: float) -> int:
    return int(100.0 * chance + 0.5)


@kernel
def _write_move(compiled: np.record, move: np.record, root: np.record, after: np.record, out: np.ndarray) -> None:
    """Write what a move wins."""
    seat = root.seat
    out[_TRAILS] = trails(move)
    out[_CARDS] = after.cards_won[seat] - root.cards_won[seat]
    out[_SPADES] = after.spades_won[seat] - root.spades_won[seat]
    out[_POINTS] = clip_int8(np.int64(after.points[seat] - root.points[seat]))
    out[_SWEEPS] = after.last_sweep
    if compiled.mulle_by_value:
        out[_MULLE] = after.mulle_scores[seat] - root.mulle_scores[seat]
    else:
        out[_MULLE] = compiled.mulle_points * (after.mulles[seat] - root.mulles[seat])
    for kind in range(NUM_KINDS):
        out[_LOOSE] += copies_taken(move, kind)


@kernel
def _write_builds(compiled: np.record, move: np.record, workspace: np.record, out: np.ndarray) -> None:
    """Write the builds that a move makes or takes, and those on the table after it with what they will win."""
    root, after = workspace.decision.root, workspace.judging.after
    outlook, prices = workspace.judging.outlook, workspace.listing.prices
    side = root.seat % compiled.teams
    lays = move.build != 0
    out[_LAYS], out[_RAISES], out[_TAKES_BUILD] = lays, lays and move.taken != 0, not lays and move.taken != 0
    if move.taken != 0:
        out[_TAKES_OWN] = root.build_owner[move.taken] % compiled.teams == side
    if lays:
        out[_JOINS] = root.builds >> move.build & 1
        out[_MADE + move.build] = 1
        out[_LAID] = _in_tenths(worth_of_promise(compiled, after, np.int64(move.build), prices))
        out[_LAID_CHANCE] = _percent(chance_of_sweep(compiled, outlook, _ONE << move.build))
    own_worth, other_worth = 0.0, 0.0
    left = np.int64(after.builds)
    while left != 0:
        value = bit_index(left & -left)
        left &= left - 1
        worth = worth_of_promise(compiled, after, value, prices)
        if after.build_owner[value] % compiled.teams == side:
            out[_OWN_BUILDS + value] = 1
            own_worth += worth
        else:
            out[_OTHER_BUILDS + value] = 1
            other_worth += worth
    out[_OWN_PROMISE], out[_OTHER_PROMISE] = _in_tenths(own_worth), _in_tenths(other_worth)


@kernel
def _write_loose(compiled: np.record, after: np.record, out: np.ndarray) -> None:
    """Write the loose cards on the table after the move."""
    points = np.int64(0)
    for kind in range(NUM_KINDS):
        count = np.int64(after.table[kind])
        out[_LEFT + kind % NUM_RANKS] += count
        out[_LEFT_CARDS] += count
        out[_LEFT_SPADES] += count * (kind >= SPADES * NUM_RANKS)
        points += count * compiled.card_points[kind]
    out[_LEFT_POINTS] = clip_int8(points)


@kernel
def _takable(compiled: np.record, after: np.record) -> int:
    """Find the values of hand cards that take something of a table, as bits."""
    sums, ranks = _ONE, np.int64(after.table_ranks)
    for rank in range(NUM_RANKS):
        choice = np.int64(compiled.table_choice[rank])
        for _ in range(ranks >> NIBBLE * rank & 15):
            sums |= add_value(sums, choice)
    return (sums | after.builds) & ~_ONE


@kernel
def _write_takers(compiled: np.record, workspace: np.record, out: np.ndarray) -> None:
    """Write the cards that take something after the move, what they win, and which of them sweep or make a mulle."""
    root, judging, scratch = workspace.decision.root, workspace.judging, workspace.listing.scratch
    after, outlook, replies = judging.after, judging.outlook, judging.replies
    values = _takable(compiled, after)
    out[_TAKE_CHANCE] = _percent(chance_of_sweep(compiled, outlook, values))
    takers = np.int64(classes_of_values(compiled, values))
    ranks, sweeping = np.int64(after.table_ranks), np.int64(0)
    if ranks != 0:
        sweeping = np.int64(find_sweep_values(compiled, ranks, sum_of(compiled, ranks), scratch))
    if compiled.building:
        sweeping = sweep_builds(sweeping, ranks, np.int64(after.builds))
    out[_SWEEP_CHANCE] = _percent(chance_of_sweep(compiled, outlook, sweeping))
    sweepers = np.int64(classes_of_values(compiled, sweeping))
    if takers != 0:
        expected_reply(compiled, after, workspace)
    for place in range(NUM_CLASSES):
        unseen = outlook.unseen[place]
        out[_SWEEPERS + place] = unseen * (sweepers >> place & 1)
        if takers >> place & 1 and unseen > 0:
            out[_TAKERS + place], out[_TAKES + place] = unseen, _in_tenths(replies.best[place])
    counts_copies = compiled.mulle_points != 0 or compiled.mulle_by_value
    for kind in range(NUM_KINDS):
        own, hidden, place = np.int64(after.hands[root.seat, kind]), replies.unseen[kind], compiled.class_of[kind]
        if takers >> place & 1:
            out[_OWN_TAKERS + place] += own
        if counts_copies and own + hidden > 0:
            lies = after.table[kind] > 0 or copies_in(after, hand_value_of(compiled, kind), kind) > 0
            if lies and may_be_mulle(compiled, after, kind, ranks, scratch):
                out[_COPIES] += hidden
                out[_OWN_COPIES] += own


@kernel
def _write_majority(compiled: np.record, seen: np.ndarray, block: int, total: int, won: int, out: np.ndarray) -> None:
    """Write the own side's lead, what is open, and whether the majority is decided, after winning `won` more (K5)."""
    own, best, piles = compare_piles(compiled, seen[block:], 0)
    lead, left = own + won - best, total - piles - won
    out[0] = clip_int8(lead)
    out[1] = clip_int8(left)
    out[2] = np.int64(lead > left) - np.int64(-lead >= left)
