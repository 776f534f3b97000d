"""The belief about hidden hands, as kernels: the likelihood of the other seats' plays in this deal, by Bayes' rule.

1. The history block has all plays of the deal. They are taken back to the start of the deal (`rewind`) and replayed
   (`replay`), which gives the position of each play of another seat. All of it is public but the hand.
2. A hypothetical hand completes each of these positions. The policy of the network gives the probability of the play
   (`log_likelihood`; Rebstock, Solinas, Buro and Sturtevant 2019). The product over the plays is the hand's likelihood.
3. Worlds are proposed uniformly, so the likelihood of their hands is their importance weight. Systematic resampling
   (Kitagawa 1996) turns the weights into the multiplicities of worlds (`resample_systematically`).
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

# The others need not play like the network, so a likelihood is the mean of a sharpened and a flattened policy's, each
# mixed with random play. Fitted to the plays of tactician, search, network and champion between two players.
SHARP, DULL = 0.3, 3.0  # divide the logits
MIX = 0.05  # probability of a uniformly random legal card
MOST_PLAYS = 40  # of the other seats in a deal that are weighed at most: their last ones

BELIEF = np.dtype(
    [
        ("count", np.int64),  # plays of the other seats that are known
        ("first", np.int64),  # number of the first world that is weighted by them
        ("start", GAME),  # the start of the deal, with the cards that are known
        ("ahead", GAME),  # the replayed deal; its sums count these plays twice, as `start` has them too
        ("games", GAME, (MOST_PLAYS,)),  # the position before each play; each hypothesis writes its hand into it
        ("cards", np.int64, (MOST_PLAYS,)),  # the card played there
        ("held", np.int64, (NUM_KINDS,)),  # a seat's hand at a play, as copies of each kind
        ("move", MOVE),  # a play
    ],
    align=True,
)

_WHO, _CARD, _TAKES = (HISTORY_COLUMNS[name].start for name in ("who", "card", "takes"))
_HAND_SIZE = LAYOUT["hand_size"].start


@kernel
def reconstruct_plays(
    compiled: np.record, seen: np.ndarray, plays: np.ndarray, belief: np.record, workspace: np.record
) -> None:
    """Reconstruct the positions in which the other seats played, from the history of an observation, (M, W) int8.

    There are none if the history does not fit the observation. Call `set_root` first.
    """
    belief.count = 0
    count = 0
    while count < len(plays) and first_of(plays[count], _CARD, NUM_KINDS) >= 0:
        count += 1
    if count == 0 or not rewind(compiled, seen, plays, count, belief, workspace):
        return
    viewer = workspace.decision.root.seat
    if not replay(compiled, plays, count, viewer, belief, workspace.listing.scratch) or belief.ahead.seat != viewer:
        belief.count = 0
    for at in range(belief.count):
        correct_sums(compiled, belief.games[at], belief.start, belief.ahead)
    correct_sums(compiled, belief.start, belief.start, belief.ahead)


@kernel
def first_of(play: np.ndarray, start: int, size: int) -> int:
    """Find the first entry that is not 0 of a block of a play in the history: its place, or -1 if there is none."""
    for place in range(size):
        if play[start + place]:
            return place
    return -1


@kernel
def seat_of(compiled: np.record, play: np.ndarray, viewer: int) -> int:
    """Read the seat of a play in the history, NO_SEAT if there is none."""
    place = first_of(play, _WHO, compiled.players)
    return NO_SEAT if place < 0 else (viewer + place) % compiled.players


@kernel
def rewind(
    compiled: np.record, seen: np.ndarray, plays: np.ndarray, count: int, belief: np.record, workspace: np.record
) -> bool:
    """Take back the first `count` plays, all of the deal, into `belief.start`; return whether they fit the table.

    Sums, such as points, are left as they are now, and hands hold only the cards that are known.
    """
    game: Any = belief.start
    belief.start = workspace.decision.blank
    copy_public(compiled, game, seen)
    viewer = np.int64(game.seat)
    for place in range(1, compiled.players):
        game.hand_size[(viewer + place) % compiled.players] = seen[_HAND_SIZE + place]
    if game.pending != NO_CARD:
        return_card(game, viewer, np.int64(game.pending))
        game.pending = NO_CARD
    for kind in range(NUM_KINDS):
        game.taken[kind] = 0
    game.taken_ranks = 0
    for at in range(count - 1, -1, -1):
        play, captures = plays[at], False
        card, seat = first_of(play, _CARD, NUM_KINDS), seat_of(compiled, play, viewer)
        if seat == NO_SEAT:
            return False
        return_card(game, seat, card)
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
    refresh(compiled, game, workspace.listing.scratch)
    return True


@kernel
def return_card(game: np.record, seat: int, card: int) -> None:
    """Put a card that was played back into the hand that it came from."""
    give(game, seat, card, 1)
    game.seen[card] -= 1


@kernel
def replay(
    compiled: np.record, plays: np.ndarray, count: int, viewer: int, belief: np.record, scratch: np.record
) -> bool:
    """Make the first `count` plays from `belief.start`, in `belief.ahead`; return whether all of them are legal.

    The positions before the plays of seats other than the viewer are kept.
    """
    game: Any = belief.ahead
    belief.ahead = belief.start
    belief.count = 0
    others = 0
    for at in range(count):
        others += plays[at, _WHO] == 0
    for at in range(count):
        card, seat = first_of(plays[at], _CARD, NUM_KINDS), np.int64(game.seat)
        if seat_of(compiled, plays[at], viewer) != seat:
            return False
        if seat != viewer:
            others -= 1
            if others < MOST_PLAYS:
                belief.games[belief.count] = game  # a copy
                belief.cards[belief.count] = card
                belief.count += 1
        read_play(plays[at], card, belief.move)
        if not make_play(compiled, game, belief.move, scratch):
            return False
    return True


@kernel
def read_play(play: np.ndarray, card: int, move: np.record) -> None:
    """Convert a row of the history to a move."""
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
def correct_sums(compiled: np.record, game: np.record, start: np.record, end: np.record) -> None:
    """Subtract from the sums of a position what the replay has added in all, as it began with the sums of now."""
    for seat in range(compiled.players):
        game.points[seat] -= end.points[seat] - start.points[seat]
        game.sweeps[seat] -= end.sweeps[seat] - start.sweeps[seat]
        game.void_sweeps[seat] -= end.void_sweeps[seat] - start.void_sweeps[seat]
        game.cards_won[seat] -= end.cards_won[seat] - start.cards_won[seat]
        game.spades_won[seat] -= end.spades_won[seat] - start.spades_won[seat]
        game.mulles[seat] -= end.mulles[seat] - start.mulles[seat]
        game.mulle_scores[seat] -= end.mulle_scores[seat] - start.mulle_scores[seat]


@kernel
def log_likelihood(
    compiled: np.record, weights: Weights, seat: int, world: np.record, belief: np.record, network_scratch: np.record
) -> float:
    """Compute the log likelihood of another seat's plays under the network's policy with its hand in a world.

    All plays are sampled from the softmax of logits / `SHARP`, or all from that of logits / `DULL`, with equal
    probability; and each is uniform instead with probability `MIX`.
    """
    sharp, dull, held = 0.0, 0.0, belief.held
    for kind in range(NUM_KINDS):
        held[kind] = world.hands[seat, kind]
    for step in range(belief.count):
        held[belief.cards[step]] += belief.games[step].seat == seat
    for step in range(belief.count):
        game, card = belief.games[step], belief.cards[step]
        if game.seat != seat:
            continue
        game.hand_kinds[seat], game.hand_size[seat] = 0, 0
        for kind in range(NUM_KINDS):
            game.hands[seat, kind] = held[kind]
            game.hand_size[seat] += held[kind]
            game.hand_kinds[seat] |= np.int64(held[kind] > 0) << kind
        held[card] -= 1
        allow_plays(compiled, game, np.int64(game.sweep_values))
        if game.legal_plays >> card & 1 == 0:
            return -np.inf
        count = list_bits(np.int64(game.legal_plays), 0, 0, network_scratch.legal)
        if count > 1:
            write_observation(compiled, game, seat, network_scratch.seen)
            score_legal(compiled, weights, network_scratch.seen, count, network_scratch)
            sharp += log_probability(network_scratch, count, card, SHARP)
            dull += log_probability(network_scratch, count, card, DULL)
    return np.logaddexp(sharp, dull) - np.log(2.0)


@kernel
def log_probability(network_scratch: np.record, count: int, card: int, temperature: float) -> float:
    """Compute the log probability of a card among the first `count` legal actions."""
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
    """Write the multiplicity of each proposal to `shares`, (proposals,) int64 that sum to `worlds`.

    This is systematic resampling (Kitagawa 1996) by the importance weights exp(`logs`). If no proposal is possible,
    each of the first `worlds` is drawn once.
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
