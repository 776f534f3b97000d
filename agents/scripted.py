"""The scripted agents: random, greedy and tactician. They ignore the observation's features block."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import IntArray, check_options, check_seed, format_spec
from krypenv.agents.replies import REPLIES, look_at_replies, weigh_replies
from krypenv.cards import BUILD, NUM_BUILDING_ACTIONS, TAKE
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import bit_index, compile_rules, hand_value_of
from krypenv.kernels.decision_checks import check_decisions
from krypenv.kernels.outlook import FEATURE_SCRATCH, look
from krypenv.kernels.weighing import cost_now, weigh_any, weigh_main
from krypenv.observation import LARGEST_SIZE
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel, records
from krypenv.runtime.threads import Lock, in_turn

# With `shed`, the points credited to a creeping card for each unit of its hand value (2 to 14) above the middle.
SHED_WEIGHT = 0.05
MIDDLE_VALUE = 8

PLAYER = np.dtype(
    [
        ("looks_ahead", np.bool_),  # to the sweep that the next seat may have to make
        ("shed_weight", np.float64),
        ("legal", np.int64, (NUM_BUILDING_ACTIONS,)),  # scratch: legal actions
        ("feature_scratch", FEATURE_SCRATCH),
        ("seen", np.int8, (LARGEST_SIZE,)),  # an observation
        ("replies", REPLIES),
    ],
    align=True,
)


def make_tactician(rules: Rules, threads: int = 1) -> np.ndarray:
    """Return the tactician that is strongest at some rules, as `make_player` does: it sheds if it must capture."""
    return make_player(True, 0.0 if rules.capture == "optional" else SHED_WEIGHT, threads)


def make_player(looks_ahead: bool, shed_weight: float, threads: int = 1) -> np.ndarray:
    """Return the parameters and the scratch of a scripted player, one record a thread: (threads,) of `PLAYER`."""
    player = records(PLAYER, threads)
    player.looks_ahead, player.shed_weight = looks_ahead, shed_weight
    return handle(player)


@kernel
def list_legal(action_mask: np.ndarray, out: np.ndarray) -> int:
    """Write the legal actions of one row into `out`, (139,) int64, and return their number."""
    count = 0
    for action in range(len(action_mask)):
        if action_mask[action]:
            out[count] = action
            count += 1
    return count


@kernel
def list_actions(game: np.record, out: np.ndarray) -> int:
    """Write the legal actions of a game into `out`, (139,) int64, and return their number."""
    count = list_bits(np.int64(game.legal_plays), 0, 0, out)
    count = list_bits(np.int64(game.legal_takes), TAKE, count, out)
    return list_bits(np.int64(game.legal_builds), BUILD, count, out)


@kernel
def list_bits(bits: int, first: int, count: int, out: np.ndarray) -> int:
    """Add `first` plus the number of each bit to the first `count` entries of `out`; return how many there are then."""
    while bits != 0:
        bit = bits & -bits
        bits ^= bit
        out[count] = first + bit_index(bit)
        count += 1
    return count


@kernel
def draw(luck: int, count: int) -> int:
    """Return a number below `count` from 32 random bits."""
    return luck * count >> 32


@kernel
def choose_any(action_masks: np.ndarray, luck: np.ndarray, player: np.ndarray, out: np.ndarray) -> None:
    """Write a uniformly random legal action of each row into `out`, (B,) int64; `luck` is (B,) of 32 random bits."""
    legal = player[0].legal
    for row in range(len(out)):
        count = list_legal(action_masks[row], legal)
        out[row] = legal[draw(luck[row], count)]


@kernel
def choose_best(
    compiled: np.ndarray,
    observations: np.ndarray,
    action_masks: np.ndarray,
    luck: np.ndarray,
    player: np.ndarray,
    scratch: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write each row's legal action of least cost into `out`, (B,) int64; ties at random.

    The cost is the points taken now, own sweeps included. A player who looks ahead subtracts the points of a sweep that
    the next seat may have to make, times its probability. For a card that creeps, that player also subtracts
    `shed_weight` for each unit of its hand value above the middle.
    """
    rules, chooser, capture_scratch = compiled[0], player[0], scratch[0]
    looks_ahead, shed_weight = chooser.looks_ahead, chooser.shed_weight
    for row in range(len(out)):
        count = list_legal(action_masks[row], chooser.legal)
        out[row] = best_action(
            rules, observations[row], count, looks_ahead, shed_weight, luck[row], chooser, capture_scratch
        )


@kernel
def best_action(
    compiled: np.record,
    observation: np.ndarray,
    count: int,
    looks_ahead: bool,
    shed_weight: float,
    luck: int,
    player: np.record,
    scratch: np.record,
) -> int:
    """Return the action of least cost (see `choose_best`) among the first `count` of `player.legal`.

    Overwrites `player.legal`. `looks_ahead` and `shed_weight` are arguments so that they are read from `player` once,
    and not for each row.
    """
    legal, feature_scratch = player.legal, player.feature_scratch
    tied = 1
    if count > 1:
        look(compiled, observation, feature_scratch)
        with_replies = looks_ahead and not compiled.is_main
        if with_replies:
            look_at_replies(compiled, observation, feature_scratch, player.replies)
        lowest = np.inf
        for at in range(count):
            action = legal[at]
            if compiled.is_main:
                result = weigh_main(compiled, observation, action, feature_scratch, scratch)
            elif with_replies:
                result = weigh_replies(compiled, observation, action, feature_scratch, player.replies, scratch)
            else:
                result = weigh_any(compiled, observation, action, feature_scratch, scratch)
            if not looks_ahead:
                result = cost_now(compiled, feature_scratch)
            elif feature_scratch.creeps:
                result -= shed_weight * (hand_value_of(compiled, action) - MIDDLE_VALUE)
            if result < lowest:
                lowest = result
                tied = 0
            if result == lowest:
                legal[tied] = action  # never ahead of `at`
                tied += 1
    return legal[draw(luck, tied)]


class _Scripted:
    """Scratch, and a stream of random numbers for ties; threads take turns with both."""

    remembers = False  # whether what it does depends on earlier calls

    def __init__(self, name: str, rules: Rules, seed: int, looks_ahead: bool = False, shed_weight: float = 0.0) -> None:
        self.name = name
        self.rules = rules
        self.lock = Lock()
        self._compiled = compile_rules(rules)
        self._player = make_player(looks_ahead, shed_weight)
        self._rng = np.random.default_rng(check_seed(seed))

    @in_turn
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return each row's action of least cost, (B,) int64; see `krypenv.agents.Agent`."""
        observations, masks = check_decisions(self.rules, observations, action_masks)
        out = np.empty(len(masks), np.int64)
        luck = self._luck(len(masks))
        choose_best(self._compiled, observations, masks, luck, self._player, borrow_scratch(), out)
        return out

    def _luck(self, count: int) -> IntArray:
        return self._rng.integers(0, 1 << 32, count)


class Random(_Scripted):
    """Plays a uniformly random legal action."""

    @staticmethod
    def probabilities(observations: np.ndarray, action_masks: np.ndarray) -> npt.NDArray[np.float64]:
        """Return the probability of each action, (B, A) to (B, A) float64."""
        masks = np.asarray(action_masks, np.float64)
        return np.asarray(masks / masks.sum(axis=1, keepdims=True))

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        super().__init__("random", rules, seed)

    @in_turn
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return a random legal action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        _, masks = check_decisions(self.rules, observations, action_masks)
        out = np.empty(len(masks), np.int64)
        choose_any(masks, self._luck(len(masks)), self._player, out)
        return out


class Greedy(_Scripted):
    """Takes the fewest points now, own sweeps (R9) included, or the most where the goal is high; ties at random.

    Where more counts, mulles do too, and cards and spades by a fair price on the way to the majorities (K5).
    """

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        super().__init__("greedy", rules, seed)


class Tactician(_Scripted):
    """Takes the fewest points now, less those of a sweep that it sets up times its probability; ties at random.

    With `shed` it also prefers to creep with high cards: kept in hand, they match more sums of table cards. Where
    captures are optional or more counts, it weighs what the next seat can win (`krypenv.agents.replies`).
    """

    def __init__(self, rules: Rules, seed: int = 0, *, shed: bool = False) -> None:
        check_options("tactician", Tactician, {"shed": shed})
        name = format_spec("tactician", {"shed": True} if shed else {})
        super().__init__(name, rules, seed, True, SHED_WEIGHT if shed else 0.0)
