"""Playouts with the network at every seat, as kernels, and the two caches of a decision.

By hidden hand: with few hidden cards many worlds differ only in the order of the stock, so each hand is weighed once,
and played out once where the values repeat (`HAND`). By sequence of actions since the decision, a path: it determines
the own seat's observation, whatever the others hold, so the network is evaluated once for each path (`CHOICE`).
"""

from __future__ import annotations

import numpy as np

from krypenv.agents.moves.record import reset_listing
from krypenv.agents.neural.belief import BELIEF
from krypenv.agents.neural.inference import NETWORK_SCRATCH, Weights, allocate_in_lines, score_legal
from krypenv.agents.scripted import list_actions
from krypenv.cards import NUM_KINDS
from krypenv.kernels.compiled import bit_index
from krypenv.kernels.observing import write_observation
from krypenv.kernels.play import act
from krypenv.runtime.jit import handle, kernel
from krypenv.state import mix

SLOTS = 1 << 10  # of each cache; a new entry overwrites an old one
MOST_VALUES = 16  # moves whose values are cached
NO_PATH = np.uint64(0)  # turns the cache of choices off
_SLOT_MASK = np.uint64(SLOTS - 1)

HAND = np.dtype(
    [
        ("key", np.uint64),  # hash of the hand, its seat and the number of the decision
        ("is_weighed", np.bool_),  # whether `log` is known
        ("is_valued", np.bool_),  # whether `values` are known
        ("log", np.float64),  # log likelihood of its seat's plays with it
        ("values", np.float64, (MOST_VALUES,)),  # the margins of the root's moves against it
    ],
    align=True,
)
CHOICE = np.dtype(
    [
        ("path", np.uint64),  # hash of the number of the decision and the actions since
        ("action", np.int64),  # the network's choice there
    ],
    align=True,
)
CACHES = np.dtype(
    [
        ("number", np.int64),  # of the decision: a part of every key, so that older entries never match
        ("seat", np.int64),  # the seat to act there
        ("has_values", np.bool_),  # whether the values of its moves depend on the hidden hand alone
        ("hands", HAND, (SLOTS,)),
        ("choices", CHOICE, (SLOTS,)),
    ],
    align=True,
)
PLAYOUT_SCRATCH = np.dtype([("network", NETWORK_SCRATCH), ("caches", CACHES), ("belief", BELIEF)], align=True)


def make_playout_scratch(threads: int = 1) -> np.ndarray:
    """Allocate fresh scratch and caches, (threads,) of `PLAYOUT_SCRATCH`."""
    playouts = allocate_in_lines((threads,), PLAYOUT_SCRATCH).view(np.recarray)
    reset_listing(playouts["network"]["workspace"]["listing"])
    return handle(playouts)


@kernel
def slot_of_hand(game: np.record, seat: int, caches: np.record) -> int:
    """Find the slot of a seat's hand in `caches.hands`, which is emptied if the hand is new in this decision."""
    once, twice = np.int64(game.hand_kinds[seat]), np.int64(0)
    left = once
    while left != 0:
        bit = left & -left
        left ^= bit
        if game.hands[seat, bit_index(bit)] > 1:
            twice |= bit
    key = mix(mix(np.uint64(once) + mix(np.uint64(caches.number))) + np.uint64(twice | np.int64(seat) << NUM_KINDS))
    slot = np.int64(key & _SLOT_MASK)
    hand = caches.hands[slot]
    if hand.key != key:
        hand.key, hand.is_weighed, hand.is_valued = key, False, False
    return int(slot)


@kernel
def path_of(move: int, caches: np.record) -> np.uint64:
    """Hash a move of the decision, by its number, to the start of a path."""
    return mix(np.uint64(np.int64(caches.number) << 20 | move))


@kernel
def play_out_network(
    compiled: np.record, weights: Weights, game: np.record, last_deal: int, path: np.uint64, playouts: np.record
) -> None:
    """Play on with the network's best action at every seat, to the end of deal `last_deal` or of the game.

    `path` hashes the actions since a decision. Until the next deal they determine the observation of the deciding seat,
    so its choices are cached by path; those of other seats are not.
    """
    network_scratch, caches, deal = playouts.network, playouts.caches, game.deal_number
    scratch = network_scratch.workspace.listing.scratch
    while not game.over and game.deal_number <= last_deal:
        count = list_actions(game, network_scratch.legal)
        if game.deal_number != deal:
            path = NO_PATH
        action = network_scratch.legal[0]
        if count > 1:
            is_cached = path != NO_PATH and game.seat == caches.seat
            choice = caches.choices[np.int64(path & _SLOT_MASK)]
            if is_cached and choice.path == path:
                action = choice.action
            else:
                write_observation(compiled, game, game.seat, network_scratch.seen)
                best = score_legal(compiled, weights, network_scratch.seen, count, network_scratch)
                action = network_scratch.legal[best]
                if is_cached:
                    choice.path, choice.action = path, action
        if path != NO_PATH:
            path = mix(path + np.uint64(action))
        act(compiled, game, action, scratch)
