"""Cheaters, which bound what can be gained: searches that see some hidden cards, all hands, or the deck too.

1. What is seen of the other hands is a constraint on determinizations: every world agrees with the observation and with
   the cards that are seen (`draw_around`). The rest is the search of `krypenv.agents.search.search`.
2. Where all hands are seen, there is one world, the true one (`best_knowing`).
3. `oracle-deck` values a line at the end of the deal by playing on from the known deck (`solver.play_cheapest`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.base import IntArray
from krypenv.agents.moves.making import next_action
from krypenv.agents.moves.record import add_move
from krypenv.agents.search.sampler import Examined, Sampler, name_of
from krypenv.agents.search.sampling import best_of, list_choices, make_decide_row, make_decide_rows
from krypenv.agents.search.search import SearchPlan, plan_of, solve_world, take_one_world, value_moves
from krypenv.agents.search.worlds import Job, complete, world_seed
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
from krypenv.state import MAX_DECK, State, mix
from krypenv.worlds.hidden import give
from krypenv.worlds.invariants import check_state

_SEEN, _HAND_SIZE = LAYOUT["seen"].start, LAYOUT["hand_size"].start


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
def list_knowing(compiled: np.ndarray, state: np.ndarray, row: int, workspaces: np.ndarray) -> int:
    """Set up a game with all hands open as the only world, and list its moves; return their number."""
    worlds = workspaces[0].worlds
    worlds.game, worlds.is_open = state[row], True
    return list_choices(compiled[0], worlds.game, True, workspaces[0].listing)


@kernel
def value_knowing(compiled: np.ndarray, end: int, seed: np.uint64, plan: SearchPlan, workspaces: np.ndarray) -> None:
    """Write the margins of the first `end` moves of the world that `list_knowing` set up to `.values`."""
    workspaces[0].tally.totals[:end] = 0.0
    value_moves(compiled[0], plan, workspaces[0], end, mix(seed))


@kernel
def reveal_hands(
    compiled: np.ndarray, state: np.ndarray, number: int, seen: np.ndarray, cards: np.ndarray, narrowed: np.ndarray,
    is_open: np.ndarray,
) -> None:  # fmt: skip
    """Write what the seats to act see, and the cards of the other hands that they also see; see `Sight`.

    `seen`, (B, N) int8, takes the observations, and `cards` are zeros.
    """
    players = compiled[0].players
    for row in range(len(state)):
        game = state[row]
        write_observation(compiled[0], game, game.seat, seen[row])
        for at in range(compiled[0].entries):
            narrowed[row, at] = seen[row, at]
        is_open[row] = True
        for place in range(1, players):
            seat = (game.seat + place) % players
            _reveal_hand(compiled[0], game, seat, number, cards[row, place])
            for kind in range(NUM_KINDS):
                narrowed[row, _SEEN + kind] += cards[row, place, kind]
                narrowed[row, _HAND_SIZE + place] -= cards[row, place, kind]
            is_open[row] &= narrowed[row, _HAND_SIZE + place] == 0


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
def draw_around(job: Job, plan: Sight, workspace: np.record) -> int:
    """Draw the next world in which the other hands hold the cards that are seen; return 0 after the last one."""
    compiled, worlds = job.compiled[0], workspace.worlds
    if worlds.world >= worlds.end or not worlds.agrees:
        return 0
    worlds.seed = world_seed(job.seeds[worlds.row], worlds.world)
    worlds.world += 1
    worlds.game = worlds.root
    for place in range(1, compiled.players):
        seat = (worlds.root.seat + place) % compiled.players
        for kind in range(NUM_KINDS):
            give(worlds.game, seat, kind, np.int64(plan.cards[worlds.row, place, kind]))
    worlds.agrees = complete(compiled, plan.narrowed[worlds.row], worlds.seed, False, workspace)
    return int(worlds.agrees)


@kernel
def solve_around(job: Job, plan: Sight, end: int, workspace: np.record) -> None:
    """Write the margins of the open moves in a world by the solver."""
    solve_world(job, plan.search, end, workspace)


_sampled_row = make_decide_row(solve_around, draw_around, take_one_world)


@kernel
def see_row(job: Job, plan: Sight, workspaces: np.ndarray) -> None:
    """Write the action of the best move of a decision: in the true world if it is seen, else in sampled ones."""
    worlds, row = workspaces[0].worlds, workspaces[0].worlds.row
    if not plan.is_open[row]:
        _sampled_row(job, plan, workspaces)
        return
    end = list_knowing(job.compiled, plan.state, row, workspaces)
    value_knowing(job.compiled, end, job.seeds[row], plan.search, workspaces)
    best = workspaces[0].listing.moves[best_of(workspaces[0].tally.values, end)]
    job.out[row] = next_action(worlds.game, best)


see_rows = make_decide_rows(see_row)


# ---------------------------------------------------------------------- agents


class _Oracle(Sampler):
    """A search that sees the first `cards` cards dealt to each other seat."""

    cheats = True
    gives_values = False
    _decide = staticmethod(see_rows)

    def __init__(
        self, rules: Rules, seed: int, plies: int, method: str, value: str, cards: int = MAX_DECK, worlds: int = 1
    ) -> None:
        self._cards, self._plan = cards, plan_of(rules, method, plies)
        super().__init__(rules, seed, worlds, value, 0.0, 1)

    @in_turn
    def act_on(self, state: State, action_masks: np.ndarray) -> IntArray:
        """Choose the action of the best move of each row, (B,) int64; see `krypenv.agents.base.Cheater`."""
        seen, sight = self._look(check_state(self.rules, state))
        seen, masks = check_decisions(self.rules, seen, action_masks)
        return self._answer(self._job(seen, masks), sight)

    def _look(self, games: np.ndarray) -> tuple[np.ndarray, Sight]:
        """Compute the observations of the seats to act, (B, N) int8, and what they see beside them."""
        rows = len(games)
        seen = np.zeros((rows, self.rules.observation_size), np.int8)
        cards = np.zeros((rows, self.rules.players, NUM_KINDS), np.int8)
        sight = Sight(self._plan, self._plan.race, games, cards, np.zeros_like(seen), np.zeros(rows, np.bool_))
        reveal_hands(self._compiled, games, self._cards, seen, cards, sight.narrowed, sight.is_open)
        return seen, sight

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Raise TypeError: an observation does not show what this agent needs."""
        raise TypeError(f"{self.name} cheats: it needs whole games, given to `act_on`, and can't act on observations")


class OracleHand(_Oracle):
    """Sees all hands, and solves the deal as `search` solves a world."""

    sees_deck = False

    def __init__(
        self, rules: Rules, seed: int = 0, *, plies: int = 0, method: str = "max_n", value: str = "sweep"
    ) -> None:
        self.name = name_of("oracle-hand", type(self), locals())
        super().__init__(rules, seed, plies, method, value)

    @in_turn
    def examine_on(self, state: State, also: Move | None = None) -> Examined:
        """Value the moves of one game in this one world; see `Search.examine`.

        `state` is (1,) of `GAME`, with a seat to act.
        """
        games, listing = check_state(self.rules, state, 1), self._workspaces["listing"]
        seed = np.uint64(self._rng.integers(0, 1 << 63))
        count = int(list_knowing(self._compiled, games, 0, self._workspaces))
        was_cut, moves = bool(listing["is_cut"][0]), listing["moves"][0]
        if also is not None:
            count = add_move(moves, count, also)
        value_knowing(self._compiled, count, seed, self._plan, self._workspaces)
        margins = self._workspaces["tally"]["values"][:, :count].copy()
        return Examined(moves[:count].copy(), margins, was_cut=was_cut)


class OracleDeck(_Oracle):
    """Sees all hands and the order of the deck: where its search reaches the end of a deal, it plays out the next ones.

    It plays out `deals` deals, or as many as are left. Every seat makes the move of least immediate cost: points and
    own sweeps, less a sweep that the next hand must make.
    """

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        plies: int = 0,
        method: str = "max_n",
        value: str = "sweep",
        deals: int = 2,
    ) -> None:
        self.name = name_of("oracle-deck", type(self), locals())
        super().__init__(rules, seed, plies, method, value)
        self._workspaces["leaf_model"]["deals"] = deals


class OracleCards(_Oracle):
    """Sees some cards of every other hand, partners' included, and searches as `Search` does.

    It sees the first `cards` cards that are dealt to each seat, as long as they are held: a random choice, as decks are
    shuffled, that stays the same for the deal. Worlds are sampled uniformly among those that agree with these cards and
    its observation. With none it plays as `Search`, and where it sees all hands as `OracleHand`. In a game that
    `determinize` has sampled it may see fewer cards, because the deck does not say who was dealt which.

    Args:
        cards: cards seen of each other hand.
        worlds: worlds sampled for a decision.
        plies, method, value: as in `Search`.
    """

    sees_deck = False

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        cards: int = 1,
        worlds: int = 30,
        plies: int = 0,
        method: str = "max_n",
        value: str = "sweep",
    ) -> None:
        self.name = name_of("oracle-cards", type(self), locals())
        super().__init__(rules, seed, plies, method, value, cards, worlds)
