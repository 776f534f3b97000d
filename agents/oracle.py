"""Cheaters, which bound what can be gained: searches that see some hidden cards, all hands, or the deck too.

1. What is seen of the other hands is a constraint on determinizations: every world agrees with the observation and with
   the cards that are seen (`draw_around`). The rest is the search of `krypenv.agents.search.search`.
2. Where all hands are seen, there is one world, the true one (`open_root`).
3. `oracle-deck` values a line at the end of the deal by playing on from the known deck (`solver.play_cheapest`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.base import IntArray, name_of
from krypenv.agents.search.sampler import Examined, Sampler, make_loop
from krypenv.agents.search.search import SearchPlan, plan_of, solve_world, take_one_world
from krypenv.agents.search.worlds import Job, begin_world, complete
from krypenv.cards import NUM_KINDS
from krypenv.game.moves import Move
from krypenv.kernels.compiled import TABLE
from krypenv.kernels.deals import leader_of
from krypenv.kernels.decision_checks import check_decisions
from krypenv.kernels.observing import write_observation
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel
from krypenv.runtime.threads import in_turn
from krypenv.state import MAX_DECK, State
from krypenv.worlds.hidden import give
from krypenv.worlds.invariants import check_state


class Sight(NamedTuple):
    """How worlds are searched, and what is seen of the hidden hands in each of B rows."""

    search: SearchPlan
    race: float  # for pruning
    state: np.ndarray  # (B,) of `GAME`
    cards: np.ndarray  # (B, P, 52) int8: the cards seen in each other hand, by place
    narrowed: np.ndarray  # (B, N) int8: the observations, with these cards as seen and the hands without them
    is_open: np.ndarray  # (B,) bool: whether all cards of the other hands are seen


# ---------------------------------------------------------------------- kernels


@kernel
def reveal_hands(compiled: np.ndarray, state: np.ndarray, number: int, seen: np.ndarray, cards: np.ndarray) -> None:
    """Write the observations of the seats to act, (B, N) int8, and the cards of the other hands that they also see.

    `cards` are zeros; see `Sight`.
    """
    for row in range(len(state)):
        game = state[row]
        write_observation(compiled[0], game, game.seat, seen[row])
        for place in range(1, compiled[0].players):
            seat = (game.seat + place) % compiled[0].players
            _reveal_hand(compiled[0], game, seat, number, cards[row, place])


@kernel
def _reveal_hand(compiled: np.record, game: np.record, seat: int, number: int, cards: np.ndarray) -> None:
    """Count those of the first `number` cards dealt to a seat that it still holds in `cards`, (52,) int8 zeros.

    Of two copies, the unseen one is played first.
    """
    dealt = 0
    for place in range(compiled.deal_start[game.deal_number - 1], compiled.deal_start[game.deal_number]):
        to = compiled.destination[place]
        if to == TABLE or (leader_of(compiled, game) + to) % compiled.players != seat:
            continue
        dealt += 1
        card = np.int64(game.deck[place])
        if dealt <= number and cards[card] < game.hands[seat, card]:
            cards[card] += 1
    if dealt <= number:
        for kind in range(NUM_KINDS):
            cards[kind] = game.hands[seat, kind]


@kernel
def open_root(job: Job, plan: Sight, workspace: np.record) -> None:
    """Where all hands are seen, take the true game for the information set."""
    decision = workspace.decision
    if plan.is_open[decision.row]:
        decision.root, decision.is_open = plan.state[decision.row], True


@kernel
def draw_around(job: Job, plan: Sight, workspace: np.record) -> int:
    """Draw the next world in which the other hands hold the cards that are seen; return 0 after the last one."""
    compiled, decision = job.compiled[0], workspace.decision
    if not begin_world(job, workspace):
        return 0
    if plan.is_open[decision.row]:
        return 1
    for place in range(1, compiled.players):
        seat = (decision.root.seat + place) % compiled.players
        for kind in range(NUM_KINDS):
            give(decision.world, seat, kind, np.int64(plan.cards[decision.row, place, kind]))
    return int(complete(job, plan.narrowed[decision.row], workspace))


@kernel
def solve_around(job: Job, plan: Sight, end: int, workspace: np.record) -> None:
    """Write the margins of the open moves in a world by the solver."""
    solve_world(job, plan.search, end, workspace)


# ---------------------------------------------------------------------- agents


class _Oracle(Sampler):
    """A search that sees the first `cards` cards dealt to each other seat."""

    cheats = True
    _loop = make_loop(take_one_world, draw_around, solve_around, open_root)

    def __init__(self, rules: Rules, seed: int, plies: int, cards: int = MAX_DECK, worlds: int = 1) -> None:
        self._cards, self._plan = cards, plan_of(rules, "max_n", plies)
        super().__init__(rules, seed, worlds)

    @in_turn
    def act_on(self, state: State, action_masks: np.ndarray) -> IntArray:
        """Choose the action of the best move of each row, (B,) int64; see `krypenv.agents.Agent`."""
        seen, sight = self._look(check_state(self.rules, state))
        seen, masks = check_decisions(self.rules, seen, action_masks)
        return self._answer(self._job(seen, masks), sight)

    def _look(self, games: np.ndarray) -> tuple[np.ndarray, Sight]:
        """Compute the observations of the seats to act, (B, N) int8, and what they see beside them."""
        rows = len(games)
        seen = np.zeros((rows, self.rules.observation_size), np.int8)
        cards = np.zeros((rows, self.rules.players, NUM_KINDS), np.int8)
        reveal_hands(self._compiled, games, self._cards, seen, cards)
        narrowed = seen.copy()
        narrowed[:, LAYOUT["seen"]] += cards.sum(axis=1, dtype=np.int8)
        hidden = narrowed[:, LAYOUT["hand_size"]][:, 1 : self.rules.players]
        hidden -= cards[:, 1:].sum(axis=2, dtype=np.int8)
        return seen, Sight(self._plan, self._plan.race, games, cards, narrowed, hidden.sum(axis=1) == 0)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Raise TypeError: an observation does not show what this agent needs."""
        raise TypeError(f"{self.name} cheats: it needs whole games, given to `act_on`, and can't act on observations")


class OracleHand(_Oracle):
    """Sees all hands, and solves the deal as `Search` solves a world, with its `plies`."""

    sees_deck = False

    def __init__(self, rules: Rules, seed: int = 0, *, plies: int = 0) -> None:
        self.name = name_of("oracle-hand", type(self), locals())
        super().__init__(rules, seed, plies)

    @in_turn
    def examine_on(self, state: State, also: Move | None = None) -> Examined:
        """Value the moves of one game in this one world; see `Search.examine`.

        `state` is (1,) of `GAME`, with a seat to act.
        """
        games = check_state(self.rules, state, 1)
        seen, sight = self._look(games)
        return self._examine(self._job(seen, np.ones((1, self.rules.num_actions), np.int8)), sight, also)


class OracleDeck(_Oracle):
    """Sees all hands and the order of the deck: where its search reaches the end of a deal, it plays out the next ones.

    Its `plies` are those of `Search`. It plays out `deals` deals, or as many as are left. Every seat makes the move of
    least immediate cost: points and own sweeps, less a sweep that the next hand must make.
    """

    def __init__(self, rules: Rules, seed: int = 0, *, plies: int = 0, deals: int = 2) -> None:
        self.name = name_of("oracle-deck", type(self), locals())
        super().__init__(rules, seed, plies)
        self._workspaces["lines"]["known_deals"] = deals


class OracleCards(_Oracle):
    """Sees some cards of every other hand, partners' included, and searches as `Search` does.

    It sees the first `cards` cards that are dealt to each seat, as long as they are held: a random choice, as decks are
    shuffled, that stays the same for the deal. Worlds are sampled uniformly among those that agree with these cards and
    its observation. With none it plays as `Search`, and where it sees all hands as `OracleHand`. In a game that
    `determinize` has sampled it may see fewer cards, because the deck does not say who was dealt which.

    Args:
        cards: cards seen of each other hand.
        worlds: worlds sampled for a decision.
        plies: as in `Search`.
    """

    sees_deck = False

    def __init__(self, rules: Rules, seed: int = 0, *, cards: int = 1, worlds: int = 30, plies: int = 0) -> None:
        self.name = name_of("oracle-cards", type(self), locals())
        super().__init__(rules, seed, plies, cards, worlds)
