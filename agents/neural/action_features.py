"""Action features, the inputs of networks for each legal action: what it does, and what all seats can do after it.

They hold more than the observation's features block (`krypenv.features`), and only for legal actions. Games
that count or allow more than Krypkasino have others (`krypenv.agents.neural.move_features`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import is_main
from krypenv.agents.moves.listing import known_sweeps
from krypenv.agents.neural.move_features import MOVE_FEATURES, FeatureSet, judge_actions, write_move_features
from krypenv.agents.workspace import make_workspaces
from krypenv.cards import NO_CARD, NUM_RANKS, NUM_SUITS, TAKE
from krypenv.features import COLUMNS, DESCRIPTIONS, WIDTH, write_entries
from krypenv.kernels.compiled import (
    FIRST_LONER,
    NIBBLE,
    NUM_VALUES,
    bit_index,
    classes_of_values,
    compile_rules,
    hand_value_of,
    table_value_of,
)
from krypenv.kernels.observing import clip_int8
from krypenv.kernels.outlook import chance_of_hit, read_outlook
from krypenv.kernels.weighing import weigh_action
from krypenv.observation import LAYOUT, slices_of
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, kernel
from krypenv.runtime.threads import Lock

_ENTRIES = (
    ("left", NUM_RANKS, "by rank: cards on the table after it"),
    (
        "takers",
        NUM_RANKS,
        "by rank: unseen cards that the next seat may hold and that capture something of what it leaves",
    ),
    ("own_takers", NUM_RANKS, "by rank: other cards of the own hand that capture something of what it leaves"),
    (
        "price",
        NUM_RANKS,
        "by rank: points of the cheapest group that it takes; cards of a rank that have points count as its dearest",
    ),
    ("risk", NUM_RANKS, "by rank: other cards of the own hand that sweep if the next seat creeps with that rank"),
    ("taker_chance", 1, "chance in percent that the next seat can capture"),
    ("risk_chance", 1, "chance in percent that the next seat can creep so that the own hand must sweep"),
    ("held", 1, "copies of the card in the own hand"),
    ("seen", 1, "copies of the card that the seat has seen"),
)
_DIVISORS = {
    "least_points": 3.0, "points": 3.0, "chance": 50.0, "sweepers": 4.0, "left": 2.0, "takers": 4.0, "price": 3.0,
    "taker_chance": 50.0, "risk_chance": 50.0,
}  # fmt: skip
MAIN_FEATURES = FeatureSet(
    1,
    COLUMNS | slices_of(_ENTRIES, WIDTH),
    {name: DESCRIPTIONS[name] for name in COLUMNS} | {name: text for name, _, text in _ENTRIES},
    _DIVISORS,
)
_LEFT, _TAKERS, _OWN, _PRICE, _RISK, _TAKER_CHANCE, _RISK_CHANCE, _HELD, _SEEN_COPIES = (
    part.start for part in slices_of(_ENTRIES, WIDTH).values()
)
_HAND, _TABLE, _SEEN = (LAYOUT[name].start for name in ("hand", "table", "seen"))
_NEVER = 99  # the price of a sum that can't be reached
_LOCK = Lock()  # of all workspaces


class ActionFeatures(NamedTuple):
    """The legal actions of B decisions, L in all, row after row, each row's in the order of their numbers."""

    counts: npt.NDArray[np.int64]  # (B,) legal actions in each row
    actions: npt.NDArray[np.int64]  # (L,)
    features: npt.NDArray[np.int8]  # (L, W)


def features_of(rules: Rules) -> FeatureSet:
    """Look up the action features of some rules."""
    return MAIN_FEATURES if is_main(rules) else MOVE_FEATURES


@lru_cache(8)
def _workspace_for(rules: Rules) -> np.ndarray:
    """Allocate a workspace, (1,) of `WORKSPACE`, whose caches of captures are valid for these rules."""
    return make_workspaces()


def gather_action_features(
    rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
) -> ActionFeatures:
    """Compute the features of the legal actions from observations, (B, N >= 433) int8, and masks, (B, A) int8."""
    observations, masks = for_kernels(observations), for_kernels(masks)
    counts = masks.sum(axis=1, dtype=np.int64)
    actions = np.empty(counts.sum(), np.int64)
    features = np.zeros((len(actions), features_of(rules).width), np.int8)
    with _LOCK:
        write_all_action_features(compile_rules(rules), observations, masks, _workspace_for(rules), actions, features)
    return ActionFeatures(counts, actions, features)


@kernel
def write_all_action_features(
    compiled: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    workspaces: np.ndarray,
    actions: np.ndarray,
    features: np.ndarray,
) -> None:
    """Write the legal actions of all rows and their features, (L,) and (L, W), one after the other."""
    at = 0
    for row in range(len(observations)):
        prepare_actions(compiled[0], observations[row], workspaces[0])
        for action in range(masks.shape[1]):
            if masks[row, action]:
                actions[at] = action
                write_action_features(compiled[0], observations[row], action, workspaces[0], features[at])
                at += 1


@kernel
def prepare_actions(compiled: np.record, seen: np.ndarray, workspace: np.record) -> None:
    """Compute what all actions of a decision share."""
    if compiled.is_main:
        judging = workspace.judging
        read_outlook(compiled, seen, judging.outlook)
        for rank in range(NUM_RANKS):
            judging.own[rank] = 0
            for suit in range(NUM_SUITS):
                judging.own[rank] += seen[_HAND + suit * NUM_RANKS + rank]
    else:
        judge_actions(compiled, seen, workspace)


@kernel
def write_action_features(
    compiled: np.record, seen: np.ndarray, action: int, workspace: np.record, out: np.ndarray
) -> None:
    """Write the features of a legal action to `out`, (W,) int8 zeros; call `prepare_actions` first."""
    if not compiled.is_main:
        write_move_features(compiled, seen, action, workspace, out)
        return
    judging, outlook, scratch = workspace.judging, workspace.judging.outlook, workspace.listing.scratch
    prices = judging.group_points
    weigh_action(compiled, seen, action, outlook, scratch)
    write_entries(compiled, outlook, out)
    kind = action % TAKE
    out[_HELD], out[_SEEN_COPIES] = seen[_HAND + kind], seen[_SEEN + kind]
    left = np.int64(outlook.left)
    for rank in range(NUM_RANKS):
        count = left >> NIBBLE * rank & 15
        out[_LEFT + rank] = count
    _find_prices(compiled, seen, action if outlook.creeps else NO_CARD, left, prices)
    takers, risky = np.int64(0), np.int64(0)
    for rank in range(NUM_RANKS):
        own = _own_cards(judging, rank, action)
        price = prices[hand_value_of(compiled, rank)]
        if price < _NEVER:
            out[_TAKERS + rank] = outlook.unseen[rank]
            out[_OWN + rank] = own
            out[_PRICE + rank] = clip_int8(price)
            takers += outlook.unseen[rank]
        elif outlook.unseen[rank] > 0 and not outlook.deal_ends:
            after = left + (np.int64(1) << NIBBLE * rank)
            sweeping = np.int64(0)
            values = np.int64(known_sweeps(compiled, after, workspace.listing))
            ranks = classes_of_values(compiled, values)
            while ranks != 0:
                bit = ranks & -ranks
                ranks ^= bit
                sweeping += _own_cards(judging, bit_index(bit), action)
            if sweeping > 0:
                out[_RISK + rank] = sweeping
                risky += outlook.unseen[rank]
    out[_TAKER_CHANCE] = np.int64(100.0 * chance_of_hit(takers, outlook.pool, outlook.drawn) + 0.5)
    out[_RISK_CHANCE] = np.int64(100.0 * chance_of_hit(risky, outlook.pool, outlook.drawn) + 0.5)


@kernel
def _own_cards(judging: np.record, rank: int, action: int) -> int:
    """Count the cards of a rank in the own hand, without the one that an action plays."""
    return judging.own[rank] - np.int64(action < TAKE and action % NUM_RANKS == rank)


@kernel
def _find_prices(compiled: np.record, seen: np.ndarray, crept: int, left: int, prices: np.ndarray) -> None:
    """Write the points of the cheapest group of each value on the table to `prices`, (NUM_VALUES,) int64, or _NEVER.

    `crept` is the card that was added, or NO_CARD. If only some cards of a rank were taken, those without points are
    assumed to be gone first. All cards of a rank that have points count as the dearest of them.
    """
    prices[0] = 0
    for total in range(1, NUM_VALUES):
        prices[total] = _NEVER
    reach: Any = np.int64(0)  # the largest sum so far, as far as groups can have it
    while left != 0:
        rank = bit_index(left & -left) // NIBBLE
        count = left >> NIBBLE * rank & 15
        left ^= count << NIBBLE * rank
        value = table_value_of(compiled, rank)
        dear, dearest = np.int64(0), np.int64(0)  # cards of this rank that have points, and the most that one has
        for suit in range(NUM_SUITS):
            kind = suit * NUM_RANKS + rank
            copies = np.int64(seen[_TABLE + kind]) + (kind == crept)
            if copies > 0 and compiled.card_points[kind] > 0:
                dear += copies
                dearest = max(dearest, np.int64(compiled.card_points[kind]))
        for copy in range(count):
            points = dearest if copy >= count - dear else np.int64(0)
            if value >= FIRST_LONER:  # a picture that is in no sum (H2)
                prices[value] = min(prices[value], points)
            else:
                reach = min(reach + value, FIRST_LONER - 1)
                for total in range(reach, value - 1, -1):
                    prices[total] = min(prices[total], prices[total - value] + points)
