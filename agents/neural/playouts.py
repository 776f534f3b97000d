"""Playouts with the network at every seat, as kernels, and what the worlds of a decision share.

Two caches. With few hidden cards many worlds differ only in the order of the stock, so each hidden hand is weighted and
played out once. The own seat's observation follows from the actions since the decision, whatever the others hold, so
the network is evaluated once for each sequence of actions.
"""

from __future__ import annotations

import numpy as np

from krypenv.agents.neural.inference import Weights, score_legal, state_value
from krypenv.agents.scripted import list_actions
from krypenv.agents.search.rollout import final_margin
from krypenv.cards import NUM_KINDS
from krypenv.kernels.compiled import bit_index
from krypenv.kernels.observing import write_observation
from krypenv.kernels.play import act
from krypenv.kernels.scoring import margin_of
from krypenv.runtime.jit import handle, kernel, records

SLOTS = 1 << 10  # hands remembered; a new one takes the place of an old one, which costs time and nothing else
MOST_VALUES = 16  # moves whose values are remembered
NO_PATH = -1
MOST_PATH = 1 << 54  # a path from here on has no room for one action more
_GOLDEN, _TWICE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(64 - (SLOTS.bit_length() - 1))

HAND = np.dtype(
    [
        ("once", np.int64),  # bits of the kinds in the hand
        ("twice", np.int64),  # bits of those of which there are two, and the seat that holds it above them
        ("decision", np.int64),  # in which it was met
        ("is_weighed", np.bool_),  # whether `log` is known
        ("is_valued", np.bool_),  # whether `values` are known
        ("log", np.float64),  # log likelihood of its seat's plays with it
        ("values", np.float64, (MOST_VALUES,)),  # the margins of the root's moves against it
    ],
    align=True,
)
CHOICE = np.dtype(
    [
        ("path", np.int64),  # the actions since the decision, packed
        ("decision", np.int64),  # in which it was met
        ("action", np.int64),  # that the network chose there
    ],
    align=True,
)
REPEATS = np.dtype(
    [
        ("decision", np.int64),  # its number
        ("seat", np.int64),  # the seat to act there
        ("has_values", np.bool_),  # whether the values of its moves depend on the hidden hand alone
        ("hands", HAND, (SLOTS,)),
        ("choices", CHOICE, (SLOTS,)),
    ],
    align=True,
)


def make_repeats(threads: int = 1) -> np.ndarray:
    """Return fresh scratch for some threads, (threads,) of `REPEATS`."""
    return handle(records(REPEATS, threads))


@kernel
def slot_of_hand(game: np.record, seat: int, repeats: np.record) -> int:
    """Return the slot of a seat's hand in `repeats.hands`; if the hand is new in this decision, nothing is known."""
    once, twice = np.int64(game.hand_kinds[seat]), np.int64(0)
    left = once
    while left != 0:
        bit = left & -left
        left ^= bit
        if game.hands[seat, bit_index(bit)] > 1:
            twice |= bit
    twice |= np.int64(seat) << NUM_KINDS
    slot = np.int64((np.uint64(once) * _GOLDEN + np.uint64(twice) * _TWICE) >> _SHIFT)
    hand = repeats.hands[slot]
    if hand.once != once or hand.twice != twice or hand.decision != repeats.decision:
        hand.once, hand.twice, hand.decision = once, twice, repeats.decision
        hand.is_weighed, hand.is_valued = False, False
    return int(slot)


@kernel
def first_path(move: int) -> int:
    """Return the path of a move of the decision, by its number."""
    return move + 1 if move < 255 else NO_PATH


@kernel
def path_after(path: int, action: int) -> int:
    """Return a path with one action more, a byte each; NO_PATH if there is no room for it."""
    return path << 8 | action if 0 < path < MOST_PATH else NO_PATH


@kernel
def slot_of_path(path: int, seat: int, repeats: np.record) -> int:
    """Return the slot of a path in `repeats.choices`, emptied if it is of another decision; -1 for another seat."""
    if path == NO_PATH or seat != repeats.seat:
        return -1
    slot = np.int64(np.uint64(path) * _GOLDEN >> _SHIFT)
    choice = repeats.choices[slot]
    if choice.decision != repeats.decision:
        choice.decision, choice.path = repeats.decision, NO_PATH
    return int(slot)


@kernel
def play_on(
    compiled: np.record,
    weights: Weights,
    game: np.record,
    last_deal: int,
    path: int,
    repeats: np.record,
    network_scratch: np.record,
    scratch: np.record,
) -> None:
    """Play on with the network's best action at every seat, to the end of deal `last_deal` or of the game.

    `path` is the sequence of actions since a decision. Until the next deal it determines the observation of the
    deciding seat, so the network is evaluated once for each path. NO_PATH turns this cache off.
    """
    deal = game.deal_number
    while not game.over and game.deal_number <= last_deal:
        count = list_actions(game, network_scratch.legal)
        if game.deal_number != deal:
            path = NO_PATH
        action = network_scratch.legal[0]
        if count > 1:
            slot = slot_of_path(path, game.seat, repeats)
            if slot >= 0 and repeats.choices[slot].path == path:
                action = repeats.choices[slot].action
            else:
                write_observation(compiled, game, game.seat, network_scratch.seen)
                best = score_legal(compiled, weights, network_scratch.seen, count, network_scratch, scratch)
                action = network_scratch.legal[best]
                if slot >= 0:
                    repeats.choices[slot].path, repeats.choices[slot].action = path, action
        path = path_after(path, action)
        act(compiled, game, action, scratch)


@kernel
def leaf_value(
    compiled: np.record,
    model: np.record,
    weights: Weights,
    value_unit: float,
    game: np.record,
    side: int,
    network_scratch: np.record,
    scratch: np.record,
) -> float:
    """Return a side's leaf value: the margin it can expect where a deal has just ended and the next hands are dealt.

    What is to come is the network's state value times `value_unit`, or what `model` expects if the unit is 0.
    """
    if game.over or value_unit == 0.0:
        return final_margin(compiled, model, game, side)
    write_observation(compiled, game, game.seat, network_scratch.seen)
    count = list_actions(game, network_scratch.legal)
    to_come = value_unit * state_value(compiled, weights, network_scratch.seen, count, network_scratch, scratch)
    return margin_of(compiled, game, side) + (to_come if game.seat % compiled.teams == side else -to_come)
