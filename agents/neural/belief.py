"""Belief, as kernels: how likely the other seats would have played as they did in this deal with given hands.

The history block tells who played what. The deal is replayed from its start: each play of another seat was a decision
in a position that everybody knows, but for the hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.agents.moves.making import next_action
from krypenv.agents.moves.record import MOVE, bits_of_counts
from krypenv.agents.neural.inference import Weights, score_legal
from krypenv.agents.scripted import list_bits
from krypenv.cards import NO_CARD, NO_SEAT, NUM_KINDS, NUM_RANKS
from krypenv.kernels.compiled import NIBBLE
from krypenv.kernels.deals import add_to_table
from krypenv.kernels.observing import write_observation
from krypenv.kernels.play import act, allow_plays, refresh
from krypenv.observation import HISTORY_COLUMNS, LAYOUT
from krypenv.runtime.jit import kernel
from krypenv.state import GAME, is_legal
from krypenv.worlds.determinize import copy_public
from krypenv.worlds.hidden import give

# The others need not play like the network: its policy is sharpened or flattened, as explains a seat's plays better,
# and mixed with random play. Fitted to the plays of tactician, search, network and champion between two players.
SHARP, DULL = 0.3, 3.0  # divide the logits
MIX = 0.05  # probability of a uniformly random legal card
MOST_PLAYS = 40  # of the other seats in a deal, that count: the last ones

BELIEF = np.dtype(
    [
        ("count", np.int64),  # plays of the other seats that are known
        ("first", np.int64),  # number of the first world that is weighted by them
        ("start", GAME),  # the start of the deal, with the cards that are known
        ("ahead", GAME),  # the deal as it is replayed
        ("games", GAME, (MOST_PLAYS,)),  # the position of each play, with any hand
        ("since", np.int64, (MOST_PLAYS, NUM_KINDS)),  # cards that its seat has played from there on
        ("cards", np.int64, (MOST_PLAYS,)),  # the first of these
        ("move", MOVE),  # a play
    ],
    align=True,
)

_WHO, _CARD, _TAKES = (HISTORY_COLUMNS[name].start for name in ("who", "card", "takes"))
_HAND_SIZE = LAYOUT["hand_size"].start


@kernel
def look_back(
    compiled: np.record, seen: np.ndarray, plays: np.ndarray, belief: np.record, worlds: np.record, scratch: np.record
) -> None:
    """Set up the positions in which the other seats played, given the history of an observation, (M, W) int8.

    None are known if the history does not fit what is seen.
    """
    belief.count = 0
    count = 0
    while count < len(plays) and card_of(plays[count]) != NO_CARD:
        count += 1
    if count == 0 or not rewind(compiled, seen, plays, count, belief, worlds, scratch):
        return
    if not replay(compiled, plays, count, NO_SEAT, belief, scratch):
        return
    keep_sums(compiled, belief.start, belief.ahead)
    viewer = worlds.root.seat
    if not replay(compiled, plays, count, viewer, belief, scratch) or belief.ahead.seat != viewer:
        belief.count = 0


@kernel
def card_of(play: np.ndarray) -> int:
    """Return the card of a row of the history, NO_CARD if there is none."""
    for kind in range(NUM_KINDS):
        if play[_CARD + kind]:
            return kind
    return NO_CARD


@kernel
def seat_of(compiled: np.record, play: np.ndarray, viewer: int) -> int:
    """Return the seat that made a play of the history."""
    for place in range(compiled.players):
        if play[_WHO + place]:
            return (viewer + place) % compiled.players
    return NO_SEAT


@kernel
def rewind(
    compiled: np.record,
    seen: np.ndarray,
    plays: np.ndarray,
    count: int,
    belief: np.record,
    worlds: np.record,
    scratch: np.record,
) -> bool:
    """Take back the first `count` plays, all of the deal, into `belief.start`; return whether they fit the table.

    Sums, such as points, are left as they are now, and hands hold only the cards that are known.
    """
    game: Any = belief.start
    belief.start = worlds.blank
    copy_public(compiled, game, seen)
    viewer = np.int64(game.seat)
    for place in range(1, compiled.players):
        game.hand_size[(viewer + place) % compiled.players] = seen[_HAND_SIZE + place]
    if game.pending != NO_CARD:
        take_back(game, viewer, np.int64(game.pending))
        game.pending = NO_CARD
    for kind in range(NUM_KINDS):
        game.taken[kind] = 0
    game.taken_ranks = 0
    for at in range(count - 1, -1, -1):
        play, captures = plays[at], False
        card, seat = card_of(play), seat_of(compiled, play, viewer)
        if seat == NO_SEAT:
            return False
        take_back(game, seat, card)
        for kind in range(NUM_KINDS):
            if play[_TAKES + kind] > 0:
                captures = True
                add_to_table(compiled, game, kind, np.int64(play[_TAKES + kind]))
                if game.table[kind] > compiled.deck_counts[kind]:
                    return False
        if captures:
            game.last_capturer = NO_SEAT  # who it was before is not known
        elif game.table[card] > 0:
            add_to_table(compiled, game, card, -1)
        else:
            return False
        if game.seen[card] < 0 or game.hands[seat, card] > compiled.deck_counts[card]:
            return False
        game.seat = seat
    for seat in range(compiled.players):
        game.cannot_hold[seat] = 0
    refresh(compiled, game, scratch)
    return True


@kernel
def take_back(game: np.record, seat: int, card: int) -> None:
    """Give a card that was played back to the hand that it came from."""
    give(game, seat, card, 1)
    game.seen[card] -= 1


@kernel
def replay(
    compiled: np.record, plays: np.ndarray, count: int, viewer: int, belief: np.record, scratch: np.record
) -> bool:
    """Make the first `count` plays from `belief.start`, in `belief.ahead`; return whether all of them are legal.

    With a `viewer`, write the positions of the other seats' plays; NO_SEAT for none.
    """
    game: Any = belief.ahead
    belief.ahead = belief.start
    belief.count = 0
    others = 0
    for at in range(count):
        others += viewer != NO_SEAT and plays[at, _WHO] == 0
    for at in range(count):
        card, seat = card_of(plays[at]), np.int64(game.seat)
        if viewer != NO_SEAT and seat_of(compiled, plays[at], viewer) != seat:
            return False
        if viewer != NO_SEAT and seat != viewer:
            others -= 1
            if others < MOST_PLAYS:
                note_position(belief, seat, card)
        read_play(plays[at], card, belief.move)
        if not make_play(compiled, game, belief.move, scratch):
            return False
    return True


@kernel
def note_position(belief: np.record, seat: int, card: int) -> None:
    """Keep the position of `belief.ahead`, in which a seat now plays a card."""
    count = belief.count
    belief.games[count] = belief.ahead  # a copy
    belief.cards[count] = card
    for kind in range(NUM_KINDS):
        belief.since[count, kind] = 0
    belief.count = count + 1
    for earlier in range(count + 1):
        if belief.games[earlier].seat == seat:
            belief.since[earlier, card] += 1


@kernel
def read_play(play: np.ndarray, card: int, move: np.record) -> None:
    """Write a row of the history as a move."""
    move.card, move.build, move.taken, move.ranks = card, 0, 0, 0
    for kind in range(NUM_KINDS):
        move.ranks += np.int64(play[_TAKES + kind]) << NIBBLE * (kind % NUM_RANKS)
    move.once, move.twice = bits_of_counts(play[_TAKES : _TAKES + NUM_KINDS])


@kernel
def make_play(compiled: np.record, game: np.record, move: np.record, scratch: np.record) -> bool:
    """Make a move action by action; return False, with the move half made, if it is not legal or ends the deal."""
    deal = game.deal_number
    while True:
        action = next_action(game, move)
        if game.over or game.deal_number != deal or not is_legal(game, action):
            return False
        act(compiled, game, action, scratch)
        if game.pending == NO_CARD:
            return not game.over and game.deal_number == deal


@kernel
def keep_sums(compiled: np.record, start: np.record, end: np.record) -> None:
    """Take from the sums at the start of a deal what they grew by in a replay, so that the next one ends with them."""
    for seat in range(compiled.players):
        start.points[seat] += start.points[seat] - end.points[seat]
        start.sweeps[seat] += start.sweeps[seat] - end.sweeps[seat]
        start.void_sweeps[seat] += start.void_sweeps[seat] - end.void_sweeps[seat]
        start.cards_won[seat] += start.cards_won[seat] - end.cards_won[seat]
        start.spades_won[seat] += start.spades_won[seat] - end.spades_won[seat]
        start.mulles[seat] += start.mulles[seat] - end.mulles[seat]
        start.mulle_scores[seat] += start.mulle_scores[seat] - end.mulle_scores[seat]


@kernel
def log_likelihood(
    compiled: np.record,
    weights: Weights,
    seat: int,
    world: np.record,
    belief: np.record,
    network_scratch: np.record,
    scratch: np.record,
) -> float:
    """Return the log likelihood of another seat's plays, if the network had made them with its hand in a world.

    All of them are sampled from the softmax of logits / `SHARP`, or all from that of logits / `DULL`, with equal
    probability; and each is uniform instead with probability `MIX`.
    """
    sharp, dull = 0.0, 0.0
    for step in range(belief.count):
        game = belief.games[step]
        if game.seat != seat:
            continue
        card = belief.cards[step]
        game.hand_kinds[seat] = 0
        game.hand_size[seat] = 0
        for kind in range(NUM_KINDS):
            copies = world.hands[seat, kind] + belief.since[step, kind]
            game.hands[seat, kind] = copies
            game.hand_size[seat] += copies
            if copies > 0:
                game.hand_kinds[seat] |= np.int64(1) << kind
        allow_plays(compiled, game, np.int64(game.sweep_values))
        if game.legal_plays >> card & 1 == 0:
            return -np.inf
        count = list_bits(np.int64(game.legal_plays), 0, 0, network_scratch.legal)
        if count > 1:
            write_observation(compiled, game, seat, network_scratch.seen)
            score_legal(compiled, weights, network_scratch.seen, count, network_scratch, scratch)
            sharp += log_probability(network_scratch, count, card, SHARP)
            dull += log_probability(network_scratch, count, card, DULL)
    return np.logaddexp(sharp, dull) - np.log(2.0)


@kernel
def log_probability(network_scratch: np.record, count: int, card: int, temperature: float) -> float:
    """Return the log probability of a card among the first `count` legal actions."""
    best, total, own = -np.inf, 0.0, 0.0
    for at in range(count):
        best = max(best, np.float64(network_scratch.logits[at]))
    for at in range(count):
        weight = np.exp((network_scratch.logits[at] - best) / temperature)
        total += weight
        if network_scratch.legal[at] == card:
            own = weight
    return np.log((1 - MIX) * own / total + MIX / count)


@kernel
def resample_systematically(logs: np.ndarray, proposals: int, worlds: int, shares: np.ndarray) -> None:
    """Write how often each proposal is drawn into `shares`, (proposals,) int64 that sum to `worlds`.

    Systematic resampling by the weights exp(`logs`). If no proposal is possible, each of the first `worlds` is drawn
    once.
    """
    best = logs[0]
    for at in range(proposals):
        best = max(best, logs[at])
    total = 0.0
    for at in range(proposals):
        shares[at] = at < worlds
        total += np.exp(logs[at] - best) if best > -np.inf else 0.0
    if total == 0.0:
        return
    step, passed, drawn, last = total / worlds, 0.0, 0, 0
    for at in range(proposals):
        weight = np.exp(logs[at] - best)
        passed += weight
        shares[at] = 0
        if weight > 0:
            last = at
        while drawn < worlds and (drawn + 0.5) * step < passed:
            shares[at] += 1
            drawn += 1
    shares[last] += worlds - drawn
