"""The end of a large game, solved: the rest of a deal as a tree, the last deal by minimax; and an agent that does so.

Between two players who count cards nothing is hidden in the last deal, so its value is that of minimax with open hands.
In the deal before it, all hands that the seats may hold are equally likely: earlier plays of that deal are public, but
are not evidence about the hands. Where there are too many hands, ranges bound them (`pairs`).
"""

from __future__ import annotations

import math
import zlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import IntArray, Policy, check_seed, draw_actions, format_spec, is_main
from krypenv.agents.champion import make_champion
from krypenv.agents.neural.belief import BELIEF, reconstruct_plays
from krypenv.agents.search.solver import solve_open_deal
from krypenv.agents.search.worlds import set_root
from krypenv.agents.workspace import make_workspaces
from krypenv.features import history_in
from krypenv.game.game import Game
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.play import refresh
from krypenv.kernels.scoring import margin_of
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, handle, kernel, records
from krypenv.runtime.threads import count_threads, share
from krypenv.state import GAME, State, mix
from krypenv.training.solving.growing import MOST_HISTORIES, FloatArray, Trees, grow_forest, without_hands
from krypenv.training.solving.infosets import infosets_of
from krypenv.training.solving.pairs import (
    UNBOUNDED,
    Bounds,
    Pairs,
    Ranges,
    choose_hands,
    draw_pair,
    draw_ranges,
    hash_unseen,
    hold_pair,
    list_hands,
    list_pairs,
    make_pairs,
    unseen_kinds,
)
from krypenv.training.solving.solving import Solved, solve_trees

GAP = 0.02  # points of exploitability at which the agent stops
KEPT = 4  # solved deals that it keeps
_HAND_SIZE = LAYOUT["hand_size"].start
MOST_CARDS, MOST_BOUNDED = 6, 8  # in both hands, in the deal before the last one: without and with bounded ranges


def grow_late(game: Game, bounds: Bounds = UNBOUNDED, threads: int = 0) -> Trees:
    """Grow the tree of the rest of a game's deal, with observations and the values of the last deal.

    All hands that the seats may hold, or those in their ranges (`pairs`), are equally likely.

    Raises ValueError for a game that can't be solved from there.
    """
    check_late(game, bounds)
    ranges = draw_ranges(game.rules, game.state, bounds)
    return grow_rest(game.rules, game.state, ranges, bounds.samples, threads)


def grow_rest(rules: Rules, state: np.ndarray, ranges: Ranges, samples: int = 0, threads: int = 0) -> Trees:
    """Grow the tree of the rest of a deal from a record of `GAME`, for ranges of hands; see `grow_late`."""
    roots = records(GAME, 1)
    roots[0] = state
    forest, followers = grow_forest(rules, without_hands(roots), sees=True, ranges=ranges)
    number, ending = int(state["deal_number"]), last_deals(rules, followers, threads, samples)
    begins_deal = tuple(state["hand_size"][:2]) == rules.deal_sizes()[number - 1][0]
    return Trees(rules, np.ones(1), [roots], [forest], number, begins_deal, ending)


def solve_late(
    game: Game, gap: float = 1e-4, most: int = 20_000, threads: int = 0, bounds: Bounds = UNBOUNDED
) -> Solved:
    """Compute an equilibrium of the rest of a game in its last two deals; see `grow_late` and `solving.solve`."""
    return solve_trees(grow_late(game, bounds, threads), gap, most, threads)


def check_rules(rules: Rules) -> None:
    """Raise ValueError for rules whose late deals can't be solved."""
    if rules.players != 2 or not is_main(rules):
        raise ValueError(f"late deals are solved in games like Krypkasino for two, not in '{rules}'")


def check_late(game: Game, bounds: Bounds = UNBOUNDED) -> None:
    """Raise ValueError for a game that can't be solved from where it stands, with bounds or without."""
    check_rules(game.rules)
    if game.is_over or game.pending is not None:
        raise ValueError("give a position in which a card is to be played; captures are no positions of their own")
    deals, sizes = len(game.rules.deal_sizes()), [len(game.hand(seat)) for seat in range(2)]
    if game.deal_number < deals - 1:
        raise ValueError(
            f"deal {game.deal_number} of {deals} is too early to be solved; give a position in the last two deals"
        )
    most = MOST_BOUNDED if bounds.is_bounded else MOST_CARDS
    if game.deal_number < deals and sum(sizes) > most:
        raise ValueError(
            f"the deal before the last one is solved with at most {most} cards in both hands, and this position has "
            f"{sum(sizes)}; give a later one{'' if bounds.is_bounded else ', or how many hands each seat may hold'}"
        )
    unseen = game.rules.deck_size - int(game.state["seen"].sum())
    histories = count_pairs(unseen, sizes, bounds) * math.factorial(sizes[0]) * math.factorial(sizes[1])
    if histories > MOST_HISTORIES:
        raise ValueError(
            f"with {sizes[0]} and {sizes[1]} cards in hand and {unseen} unseen there are about {histories:.1e} "
            f"histories, captures apart; at most {MOST_HISTORIES:,} are held in memory; give a later position"
            f"{' or fewer hands' if bounds.is_bounded else ''}"
        )


def count_pairs(unseen: int, sizes: list[int], bounds: Bounds) -> float:
    """Estimate the number of pairs of hands, as if all unseen cards were of different kinds."""
    if bounds.responder is not None:
        beside = math.comb(unseen - sizes[bounds.responder], sizes[1 - bounds.responder])
        return min(bounds.hands or beside, beside)
    own, other = (math.comb(unseen, size) for size in sizes)
    share = math.comb(unseen - sizes[0], sizes[1]) / other
    return share * min(bounds.hands or own, own) * min(bounds.hands or other, other)


def last_deals(rules: Rules, positions: State, threads: int = 0, samples: int = 0) -> FloatArray:
    """Compute the margin of seat 0 that the last deal adds, (S,), for positions (S,) of `GAME` in which it begins.

    It is the mean minimax value over all pairs of hands, or an unbiased estimate from `samples` pairs. These are drawn
    by a hash of the unseen cards, so all leaves of a deal are compared by the same pairs. On average the error of the
    estimate can only raise what a best response gains.
    """
    values, threads = np.zeros(len(positions)), count_threads(threads)
    compiled, games = compile_rules(rules), handle(positions)
    rooms = [(make_workspaces(), make_pairs(rules, positions)) for _ in range(threads)]
    share(
        lambda part, parts: value_last_deals(
            compiled, games, np.arange(part, len(values), parts), *rooms[part], samples, values
        ),
        threads,
    )
    return values


@kernel
def value_last_deals(
    compiled: np.ndarray, positions: np.ndarray, places: np.ndarray, workspaces: np.ndarray,
    pairs: Pairs, samples: int, values: np.ndarray,
) -> None:  # fmt: skip
    """Compute the values of the positions at some places."""
    workspace = workspaces[0]
    listing, lines = workspace.listing, workspace.lines
    game = lines.ahead
    for at in places:
        lines.ahead = positions[at]
        before = margin_of(compiled[0], game, 0)
        total, weights, pair = 0.0, 0.0, 0
        combinations = list_pairs(compiled[0], game, pairs)
        draw = hash_unseen(pairs)
        for combination in range(samples if samples > 0 else combinations):
            if samples > 0:
                weight, draw = 1.0, draw_pair(game, pairs, draw)
            else:
                weight = hold_pair(game, pairs, combination)
            if weight == 0.0:
                continue
            refresh(compiled[0], game, listing.scratch)
            key = mix(np.uint64(at + 1) << np.uint64(20) | np.uint64(pair))
            total += weight * (solve_open_deal(compiled[0], game, 0, 0, key, workspace) - before)
            weights += weight
            pair += 1
        values[at] = total / weights


# ---------------------------------------------------------------------- an agent


class Equilibrium(Policy):
    """Solves the deal before the last one as a game of its own, and plays as the champion elsewhere.

    That game begins with the deal, if the history block holds all plays of it. Each seat holds a hand of a range drawn
    at random, which both seats know. The own range contains the own hand; half of the other range agrees with the own
    hand and with the plays. CFR+ solves this game, with the last deal by minimax. The agent draws its card from the
    average strategy; the champion chooses the rest of a capture.

    Args:
        hands: hands in each range; with all possible hands and all last deals the choice of a card is exact.
        samples: last deals, drawn at random, that value a position after the deal; 0 for all.
        iterations: most iterations of CFR+.

    Raises ValueError if `hands` or `iterations` is below 1 or `samples` below 0, and for rules whose deal before the
    last one can't be solved.

    >>> from krypenv import agents
    >>> agent = agents.make(agents.typed("krypenv.training.solving:Equilibrium(hands=8)"), Rules())
    """

    needs_history = True
    remembers = False

    def __init__(
        self, rules: Rules, seed: int = 0, *, hands: int = 16, samples: int = 4, iterations: int = 200
    ) -> None:
        if min(hands, samples + 1, iterations) < 1:
            raise ValueError(
                f"hands and iterations are 1 or more, and samples 0 or more, not {hands}, {iterations} and {samples}"
            )
        check_rules(rules)
        if sum(rules.deal_sizes()[-2:][0][0]) > MOST_BOUNDED:
            raise ValueError(f"late deals are solved with at most {MOST_BOUNDED} cards in both hands, not in '{rules}'")
        options = {"hands": hands, "samples": samples, "iterations": iterations}
        self.name, self.rules = format_spec("krypenv.training.solving:Equilibrium", options), rules
        self._hands, self._samples, self._iterations = hands, samples, iterations
        self._seed, self._rng = check_seed(seed), np.random.default_rng(check_seed(seed))
        self._elsewhere = make_champion(rules, seed)
        self._compiled, self._workspaces = compile_rules(rules), make_workspaces()
        self._beliefs = records(BELIEF, 1)
        self._solved = lru_cache(KEPT)(self._solve)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Choose an action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        return draw_actions(self.probabilities(observations, action_masks), self._rng)

    def _probabilities(self, observations: np.ndarray, action_masks: np.ndarray) -> npt.NDArray[np.float64]:
        probabilities = np.eye(self.rules.num_actions)[self._elsewhere.act(observations, action_masks)]
        is_late = observations[:, LAYOUT["deals_left"]].ravel() == 1
        is_whole = observations[:, LAYOUT["pending"]].max(axis=1) == 0
        for row in np.flatnonzero(is_late & is_whole & (np.asarray(action_masks).sum(axis=1) > 1)):
            probabilities[row] = self._policy(observations[row])
        return probabilities

    def _policy(self, observation: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
        """Compute the probability of each action of the seat to act, (A,)."""
        seen = for_kernels(observation[None])
        plays = for_kernels(history_in(self.rules, seen)[0])
        knows_plays = go_back(self._compiled, seen[0], plays, handle(self._beliefs), self._workspaces)
        starts = self._beliefs["start"].copy().view(np.recarray)
        ranges = self._ranges(starts[0], self._beliefs["ahead"][0]["cannot_hold"])
        solved = self._solved(without_hands(starts).tobytes(), *(hands.tobytes() for hands in ranges))
        forest, policy = solved.trees.forests[0], solved.solutions[0].policy
        row = observation[: self.rules.observation_size]
        if knows_plays:
            row = np.concatenate([row, plays.ravel()])
        infoset = infosets_of(self.rules, forest, row, knows_plays)[0]
        choices = slice(forest.choice[infoset], forest.choice[infoset + 1])
        probabilities = np.zeros(self.rules.num_actions)
        probabilities[forest.actions[choices]] = policy[choices]
        return probabilities / probabilities.sum()

    def _ranges(self, root: np.ndarray, cannot_hold: IntArray) -> Ranges:
        """Choose the ranges of both seats; those of a deal stay the same while they agree with its plays.

        Half of a range agrees. Such a hand holds the known cards of its seat, others that nobody is known to hold, and
        no card with which the seat would have had to sweep (R10).
        """
        kinds, copies, codes = unseen_kinds(self.rules, root)
        known = root["hands"][:2, kinds].astype(np.int64)
        classes = self._compiled[0]["class_of"][kinds]
        deal, ranges = zlib.crc32(root["table"].tobytes() + root["seen"].tobytes()), []
        for seat, held in enumerate(list_hands(self.rules, root)):
            random = np.random.default_rng([self._seed, seat, deal])
            hands = random.permutation(held)
            surplus = (hands[:, None] // codes & 3) - known[seat]
            limit = np.where(cannot_hold[seat] >> classes & 1, 0, copies - known.sum(axis=0))
            agree = ((surplus >= 0) & (surplus <= limit)).all(axis=1)
            ranges.append(choose_hands(hands, hands[agree][: -(-self._hands // 2)], self._hands, random))
        return ranges[0], ranges[1]

    def _solve(self, root: bytes, own: bytes, other: bytes) -> Solved:
        """Compute an equilibrium of the deal that begins in a position, for two ranges of hands."""
        state = np.frombuffer(root, GAME)[0]
        ranges = np.frombuffer(own, np.int64), np.frombuffer(other, np.int64)
        return solve_trees(grow_rest(self.rules, state, ranges, self._samples, 1), GAP, self._iterations, 1)


@kernel
def go_back(
    compiled: np.ndarray, seen: np.ndarray, plays: np.ndarray, beliefs: np.ndarray, workspaces: np.ndarray
) -> bool:
    """Write the start of the deal into `beliefs[0].start`, with the cards that are known; return whether it is known.

    If not, it is the present position, which is in `beliefs[0].ahead`.
    """
    decision, belief = workspaces[0].decision, beliefs[0]
    set_root(compiled[0], seen, workspaces[0])
    reconstruct_plays(compiled[0], seen, plays, belief, workspaces[0])
    if belief.count == 0:
        belief.start = decision.root
        belief.start.hand_size[1 - decision.root.seat] = seen[_HAND_SIZE + 1]
        belief.ahead = belief.start
    return bool(belief.count > 0)
