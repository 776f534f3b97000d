"""An agent that solves the deal before the last one as a game of its own, for bounded ranges of hands."""

from __future__ import annotations

import zlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import IntArray, Policy, check_seed, draw_actions, format_spec
from krypenv.agents.champion import make_champion
from krypenv.agents.neural.belief import BELIEF, reconstruct_plays
from krypenv.agents.search.worlds import set_root
from krypenv.agents.workspace import make_workspaces
from krypenv.features import history_in
from krypenv.kernels.compiled import compile_rules
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, handle, kernel, records
from krypenv.state import GAME
from krypenv.training.solving.growing import without_hands
from krypenv.training.solving.infosets import infosets_of
from krypenv.training.solving.late import MOST_BOUNDED, check_rules, grow_rest
from krypenv.training.solving.pairs import Ranges, choose_hands, list_hands, unseen_kinds
from krypenv.training.solving.solving import Solved, solve_trees

GAP = 0.02  # points of exploitability at which a solution is good enough
KEPT = 4  # solved deals in the cache
_HAND_SIZE = LAYOUT["hand_size"].start


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
