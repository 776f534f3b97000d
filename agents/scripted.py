"""The scripted agents: random, greedy and tactician, which search nothing.

In games like Krypkasino greedy and tactician play the action of least cost (`cheapest_action`):

1. greedy's cost is what the action takes at once, with the points of an own sweep (`krypenv.kernels.weighing`).
2. tactician subtracts the points of a sweep that the next seat may have to make, times its probability: that the next
   hand, drawn from the unseen cards, holds a card that sweeps (`krypenv.kernels.outlook`).
3. With `shed`, a high card that trails costs less.

Under other rules they play the move that the judgement prefers (`krypenv.agents.judgement`); greedy counts its
immediate gain alone. Ties are broken at random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.base import BaseAgent, FloatArray, IntArray, Policy, check_seed, name_of
from krypenv.agents.judgement import judge_decision
from krypenv.agents.moves.making import next_action
from krypenv.agents.moves.record import JUDGED_CAPTURES, trails
from krypenv.agents.search.worlds import set_root
from krypenv.agents.workspace import make_workspaces
from krypenv.cards import BUILD, NUM_BUILDING_ACTIONS, TAKE
from krypenv.kernels.compiled import bit_index, compile_rules, hand_value_of
from krypenv.kernels.decision_checks import check_decisions
from krypenv.kernels.outlook import read_outlook
from krypenv.kernels.weighing import cost_now, weigh_action
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, other_kernel
from krypenv.runtime.threads import Lock, in_turn
from krypenv.worlds.determinize import check_genuine

# With `shed`, the points credited to a trailing card for each unit of its hand value (2 to 14) above the middle.
SHED_WEIGHT = 0.05
MIDDLE_VALUE = 8


class Style(NamedTuple):
    """How a scripted player chooses."""

    looks_ahead: bool  # to the reply of the next seat
    shed_weight: float


def tactical_style(rules: Rules) -> Style:
    """Choose the style of the tactician that is strongest at some rules: it sheds where captures are forced."""
    return Style(True, 0.0 if rules.capture == "optional" else SHED_WEIGHT)


@kernel
def list_legal(action_mask: np.ndarray, out: np.ndarray) -> int:
    """Write the legal actions of one row to `out`, (139,) int64; return their number."""
    count = 0
    for action in range(len(action_mask)):
        if action_mask[action]:
            out[count] = action
            count += 1
    return count


@kernel
def list_actions(game: np.record, out: np.ndarray) -> int:
    """Write the legal actions of a game to `out`, (139,) int64; return their number."""
    count = list_bits(np.int64(game.legal_plays), 0, 0, out)
    count = list_bits(np.int64(game.legal_takes), TAKE, count, out)
    return list_bits(np.int64(game.legal_builds), BUILD, count, out)


@kernel
def list_bits(bits: int, first: int, count: int, out: np.ndarray) -> int:
    """Append `first` plus the place of each bit to the first `count` entries of `out`; return their number."""
    while bits != 0:
        out[count] = first + bit_index(bits & -bits)
        bits &= bits - 1
        count += 1
    return count


@kernel
def draw(luck: int, count: int) -> int:
    """Scale 32 random bits to a number below `count`."""
    return luck * count >> 32


@kernel
def choose_any(action_masks: np.ndarray, luck: np.ndarray, legal: np.ndarray, out: np.ndarray) -> None:
    """Write a uniformly random legal action of each row to `out`, (B,) int64; `luck` is (B,) of 32 random bits."""
    for row in range(len(out)):
        count = list_legal(action_masks[row], legal)
        out[row] = legal[draw(luck[row], count)]


@kernel
def choose_best(
    compiled: np.ndarray,
    observations: np.ndarray,
    action_masks: np.ndarray,
    luck: np.ndarray,
    style: Style,
    workspaces: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write each row's action of least cost, or that of its best move, to `out`, (B,) int64; ties at random."""
    workspace = workspaces[0]
    decision, judging, listing = workspace.decision, workspace.judging, workspace.listing
    for row in range(len(out)):
        count = list_legal(action_masks[row], judging.legal)
        if count == 1:
            out[row] = judging.legal[0]
        elif compiled[0].is_main:
            out[row] = cheapest_action(
                compiled[0], observations[row], count, style, luck[row], judging, listing.scratch
            )
        else:
            set_root(compiled[0], observations[row], workspace)
            listing.keep = JUDGED_CAPTURES
            best = best_move(compiled[0], observations[row], decision.root, style, luck[row], 0, workspace)
            out[row] = next_action(decision.root, listing.moves[best])


@kernel
def cheapest_action(
    compiled: np.record, seen: np.ndarray, count: int, style: Style, luck: int, judging: np.record, scratch: np.record
) -> int:
    """Choose the action of least cost among the first `count` of `judging.legal`, by rules like the main game's.

    The cost is the points taken now, own sweeps included. A style that looks ahead subtracts the points of a sweep that
    the next seat may have to make, times its probability, and for a card that trails `shed_weight` for each unit of its
    hand value above the middle. Overwrites `judging.legal`.
    """
    legal, outlook = judging.legal, judging.outlook
    read_outlook(compiled, seen, outlook)
    tied, lowest = 1, np.inf
    for at in range(count):
        action = legal[at]
        cost = weigh_action(compiled, seen, action, outlook, scratch)
        if not style.looks_ahead:
            cost = cost_now(compiled, outlook)
        elif outlook.creeps:
            cost -= style.shed_weight * (hand_value_of(compiled, action) - MIDDLE_VALUE)
        if cost < lowest:
            lowest = cost
            tied = 0
        if cost == lowest:
            legal[tied] = action  # never ahead of `at`
            tied += 1
    return legal[draw(luck, tied)]


@other_kernel
def best_move(
    compiled: np.record, seen: np.ndarray, game: np.record, style: Style, luck: int, start: int, workspace: np.record
) -> int:
    """List and judge the moves of a game as `judge_decision` does; return the place of the best one."""
    moves, judged = workspace.listing.moves, workspace.judging.judged
    end = judge_decision(compiled, seen, game, start, style.looks_ahead, workspace)
    most, tied = -np.inf, 0
    for at in range(start, end):
        if trails(moves[at]):
            judged[at].worth += style.shed_weight * (hand_value_of(compiled, moves[at].card) - MIDDLE_VALUE)
        if judged[at].worth > most:
            most, tied = judged[at].worth, 0
        tied += judged[at].worth == most
    skip, best = draw(luck, tied), start
    while judged[best].worth < most or skip > 0:
        skip -= judged[best].worth == most
        best += 1
    return best


class _Scripted(BaseAgent):
    """A workspace, and a stream of random numbers for ties; threads take turns with both."""

    remembers = False  # whether what it does depends on earlier calls
    is_quick = True

    def __init__(self, name: str, rules: Rules, seed: int, style: Style) -> None:
        self.name = name
        self.rules = rules
        self.lock = Lock()
        self._compiled, self._style = compile_rules(rules), style
        self._workspaces = make_workspaces()
        self._rng = np.random.default_rng(check_seed(seed))

    @in_turn
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Choose the action of least cost, or the next one of the best move, (B,) int64; see `krypenv.agents.Agent`."""
        observations, masks = check_decisions(self.rules, observations, action_masks)
        if not self._compiled["is_main"][0]:
            check_genuine(self.rules, observations, masks)
        out = np.empty(len(masks), np.int64)
        luck = self._rng.integers(0, 1 << 32, len(masks))
        choose_best(self._compiled, observations, masks, luck, self._style, self._workspaces, out)
        return out


class Random(Policy):
    """Plays a uniformly random legal action."""

    remembers = False
    is_quick = True

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        self.name, self.rules, self.lock = "random", rules, Lock()
        self._legal = np.empty(NUM_BUILDING_ACTIONS, np.int64)
        self._rng = np.random.default_rng(check_seed(seed))

    def _probabilities(self, observations: np.ndarray, action_masks: np.ndarray) -> FloatArray:
        return np.asarray(action_masks / action_masks.sum(axis=1, keepdims=True))

    @in_turn
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Choose a random legal action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        _, masks = check_decisions(self.rules, observations, action_masks)
        out = np.empty(len(masks), np.int64)
        choose_any(masks, self._rng.integers(0, 1 << 32, len(masks)), self._legal, out)
        return out


class Greedy(_Scripted):
    """Takes the fewest points now, own sweeps (R9) included, or the most where the goal is high; ties at random.

    Where the rules count them, mulles are included, and cards and spades by their price on the way to majorities (K5).
    """

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        super().__init__("greedy", rules, seed, Style(False, 0.0))


class Tactician(_Scripted):
    """Takes the fewest points now, less those of a sweep that it sets up times its probability; ties at random.

    With `shed` it also prefers to trail high cards: kept in hand, they match more sums of table cards. Under
    rules beyond the main game's, it plays the move with the best sum of gain, expected reply and keep
    (`krypenv.agents.judgement`). Raises ValueError for `shed` where cards are built, for there no card must capture.
    """

    def __init__(self, rules: Rules, seed: int = 0, *, shed: bool = False) -> None:
        name = name_of("tactician", Tactician, {"shed": shed})
        if shed and rules.building:
            raise ValueError(
                "tactician(shed=True) sheds cards that must capture; where cards are built, leave shed out"
            )
        super().__init__(name, rules, seed, Style(True, SHED_WEIGHT if shed else 0.0))
