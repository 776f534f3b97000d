"""Cheaters: searches that see some hidden cards, all of them, or the deck too. They bound what can be gained."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.base import BaseAgent, IntArray, check_seed
from krypenv.agents.judgement.decision import has_choice
from krypenv.agents.moves.making import next_action
from krypenv.agents.moves.record import add_move
from krypenv.agents.search.horizon import make_model
from krypenv.agents.search.sampler import Examined, Sampler, name_of
from krypenv.agents.search.sampling import (
    Job,
    best_of,
    complete,
    list_choices,
    make_decide_row,
    make_decide_rows,
    world_seed,
)
from krypenv.agents.search.search import SearchPlan, plan_of, take_one_world, value_moves
from krypenv.agents.workspace import Workspace, make_workspace, with_room
from krypenv.cards import NUM_KINDS
from krypenv.game.moves import Move
from krypenv.kernels.compiled import TABLE, compile_rules
from krypenv.kernels.deals import leader_of
from krypenv.kernels.observing import write_observation
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel
from krypenv.runtime.threads import Lock, in_turn
from krypenv.state import State, mix
from krypenv.worlds.hidden import give
from krypenv.worlds.invariants import check_state, check_states

_SEEN, _HAND_SIZE = LAYOUT["seen"].start, LAYOUT["hand_size"].start


@kernel
def list_knowing(compiled: np.ndarray, state: np.ndarray, row: int, workspace: Workspace) -> int:
    """Set up a game with all hands open as the only world, and list its moves; return their number."""
    workspace.worlds[0].game, workspace.worlds[0].is_open = state[row], True
    return list_choices(compiled[0], workspace.worlds[0].game, True, workspace.listing[0])


@kernel
def value_knowing(
    compiled: np.ndarray, model: np.ndarray, end: int, seed: np.uint64, plan: SearchPlan, workspace: Workspace
) -> None:
    """Write the margins of the first `end` moves of the world that `list_knowing` set up into `.values`."""
    workspace.tally[0].totals[:end] = 0.0
    value_moves(compiled[0], model[0], plan, workspace, end, mix(seed))


@kernel
def choose_knowing(
    compiled: np.ndarray,
    model: np.ndarray,
    state: np.ndarray,
    action_masks: np.ndarray,
    seeds: np.ndarray,
    plan: SearchPlan,
    workspace: Workspace,
    out: np.ndarray,
) -> None:
    """Write the action of each row's best move with all hands open into `out`, (B,) int64."""
    for row in range(len(out)):
        if not has_choice(action_masks[row]):
            out[row] = np.argmax(action_masks[row])
            continue
        out[row] = best_knowing(compiled, model, state, row, seeds[row], plan, workspace)


@kernel
def best_knowing(
    compiled: np.ndarray,
    model: np.ndarray,
    state: np.ndarray,
    row: int,
    seed: np.uint64,
    plan: SearchPlan,
    workspace: Workspace,
) -> int:
    """Return the action of the best move of a row with all hands open."""
    end = list_knowing(compiled, state, row, workspace)
    value_knowing(compiled, model, end, seed, plan, workspace)
    best = workspace.listing[0].moves[best_of(workspace.tally[0].values, end)]
    return int(next_action(workspace.worlds[0].game, best))


class _Oracle(BaseAgent):
    """A search of one world, the true one."""

    name: str
    cheats = True
    is_quick = True

    def __init__(self, rules: Rules, seed: int, plies: int, method: str, value: str, deals: int) -> None:
        self.rules, self.lock = rules, Lock()
        self._plan = plan_of(rules, method, plies)
        self._compiled, self._model = compile_rules(rules), make_model(value)
        self._model["deals"] = deals
        self._workspace = make_workspace()
        self._rng = np.random.default_rng(check_seed(seed))

    @in_turn
    def act_on(self, state: State, action_masks: np.ndarray) -> IntArray:
        """Return the action of the best move of each row, (B,) int64; see `krypenv.agents.base.Cheater`."""
        games, masks = check_states(self.rules, state, action_masks)
        seeds = self._rng.integers(0, 1 << 63, len(state)).astype(np.uint64)
        out = np.empty(len(state), np.int64)

        def choose() -> None:
            choose_knowing(self._compiled, self._model, games, masks, seeds, self._plan, self._workspace, out)

        with_room(self, choose)
        return out

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Raise TypeError: an observation does not show what this agent needs."""
        raise blind(self.name)


def blind(name: str) -> TypeError:
    """Return the error of an agent that needs more than an observation."""
    return TypeError(f"{name} cheats: it needs whole games, given to `act_on`, and can't act on observations")


class OracleHand(_Oracle):
    """Sees all hands, and solves the deal as `search` solves a world."""

    sees_deck = False

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        plies: int = 0,
        method: str = "max_n",
        value: str = "sweep",
    ) -> None:
        self.name = name_of("oracle-hand", type(self), locals())
        super().__init__(rules, seed, plies, method, value, 0)

    @in_turn
    def examine_on(self, state: State, also: Move | None = None) -> Examined:
        """Return the moves of one game and their margins in this one world; see `Search.examine`.

        `state` is (1,) of `GAME`, with a seat to act.
        """
        games = check_state(self.rules, state, 1)
        seed = np.uint64(self._rng.integers(0, 1 << 63))

        def value() -> Examined:
            count = int(list_knowing(self._compiled, games, 0, self._workspace))
            was_cut, moves = bool(self._workspace.listing["is_cut"][0]), self._workspace.listing["moves"][0]
            if also is not None:
                count = add_move(moves, count, also)
            value_knowing(self._compiled, self._model, count, seed, self._plan, self._workspace)
            margins = self._workspace.tally["values"][:, :count].copy()
            return Examined(moves[:count].copy(), margins, was_cut=was_cut)

        return with_room(self, value)


class OracleDeck(_Oracle):
    """Sees all hands and the order of the deck: where its search reaches the end of a deal, it plays out the next ones.

    It plays out `deals` deals, or as many as are left. Every seat makes the move that costs least at once: points and
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
        super().__init__(rules, seed, plies, method, value, deals)


# ---------------------------------------------------------------------- some of the cards


class Sight(NamedTuple):
    """How worlds are searched, and what is seen of the hidden hands in each of B rows."""

    search: SearchPlan
    race: float  # for pruning
    state: np.ndarray  # (B,) of `GAME`
    cards: np.ndarray  # (B, P, 52) int8: the cards seen in each other hand, by place
    narrowed: np.ndarray  # (B, N) int8: the observations, with these cards as seen and the hands without them
    is_open: np.ndarray  # (B,) bool: whether all cards of the other hands are seen


@kernel
def look_at_hands(
    compiled: np.ndarray, state: np.ndarray, number: int, seen: np.ndarray, cards: np.ndarray, narrowed: np.ndarray,
    is_open: np.ndarray,
) -> None:  # fmt: skip
    """Write what the seats to act see, and which cards of the other hands are seen beside; see `Sight`.

    `seen`, (B, N) int8, takes the observations, and `cards` are zeros.
    """
    rules = compiled[0]
    for row in range(len(state)):
        game = state[row]
        write_observation(rules, game, game.seat, seen[row])
        for at in range(rules.entries):
            narrowed[row, at] = seen[row, at]
        is_open[row] = True
        for place in range(1, rules.players):
            seat = (game.seat + place) % rules.players
            look_at_hand(rules, game, seat, number, cards[row, place])
            for kind in range(NUM_KINDS):
                narrowed[row, _SEEN + kind] += cards[row, place, kind]
                narrowed[row, _HAND_SIZE + place] -= cards[row, place, kind]
            is_open[row] &= narrowed[row, _HAND_SIZE + place] == 0


@kernel
def look_at_hand(compiled: np.record, game: np.record, seat: int, number: int, cards: np.ndarray) -> None:
    """Count those of the first `number` cards dealt to a seat that it still holds in `cards`, (52,) int8 zeros.

    Of two copies, the one that is not seen is played first.
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
def draw_around(job: Job, plan: Sight, row: int, part: int, workspace: Workspace) -> int:
    """Draw the next world in which the other hands hold the cards that are seen; return 0 after the last one."""
    rules, worlds = job.compiled[0], workspace.worlds[0]
    if worlds.world == worlds.end or not worlds.agrees:
        return 0
    worlds.seed = world_seed(job.seeds[row], worlds.world)
    worlds.world += 1
    worlds.game = worlds.root
    for place in range(1, rules.players):
        seat = (worlds.root.seat + place) % rules.players
        for kind in range(NUM_KINDS):
            give(worlds.game, seat, kind, np.int64(plan.cards[row, place, kind]))
    scratch = workspace.listing[0].scratch
    worlds.agrees = complete(rules, plan.narrowed[row], worlds.seed, False, worlds.game, worlds, scratch)
    return int(worlds.agrees)


@kernel
def solve_around(job: Job, plan: Sight, end: int, part: int, workspace: Workspace) -> None:
    """Write the margins of the open moves in a world by the solver."""
    value_moves(job.compiled[0], job.model[0], plan.search, workspace, end, mix(~workspace.worlds[0].seed))


_sampled_row = make_decide_row(solve_around, draw_around, take_one_world)


@kernel
def see_row(job: Job, plan: Sight, row: int, part: int, workspace: Workspace) -> None:
    """Write the action of the best move of a decision that was begun."""
    if plan.is_open[row]:
        job.out[row] = best_knowing(job.compiled, job.model, plan.state, row, job.seeds[row], plan.search, workspace)
    else:
        _sampled_row(job, plan, row, part, workspace)


see_rows = make_decide_rows(see_row)


class OracleCards(Sampler):
    """Sees some cards of every other hand, partners' included, and searches as `Search` does.

    It sees the first `cards` cards that are dealt to each seat, as long as they are held: a random choice, as decks are
    shuffled, that stays the same for the deal. Worlds are sampled uniformly among those that agree with these cards and
    its observation. With none it plays as `Search`, and where it sees all hands as `OracleHand`. A game that
    `determinize` has made up doesn't tell which cards were dealt to whom, so fewer may be seen there.

    Args:
        cards: cards seen of each other hand.
        worlds: worlds sampled for a decision.
        plies, method, value: as in `Search`.
    """

    cheats = True
    sees_deck = False
    gives_values = False
    _decide = staticmethod(see_rows)

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
        self._cards, self._search = cards, plan_of(rules, method, plies)
        super().__init__(rules, seed, worlds, value, 0.0, 1)

    @in_turn
    def act_on(self, state: State, action_masks: np.ndarray) -> IntArray:
        """Return the action of the best move of each row, (B,) int64; see `krypenv.agents.base.Cheater`."""
        games, masks = check_states(self.rules, state, action_masks)
        seen, sight = self._look(games)
        return self._answer(self._ask(seen, masks), sight)

    def _look(self, games: np.ndarray) -> tuple[np.ndarray, Sight]:
        """Return the observations of the seats to act, (B, N) int8, and what is seen beside."""
        rows = len(games)
        seen = np.zeros((rows, self.rules.observation_size), np.int8)
        cards = np.zeros((rows, self.rules.players, NUM_KINDS), np.int8)
        sight = Sight(self._search, self._search.race, games, cards, np.zeros_like(seen), np.zeros(rows, np.bool_))
        look_at_hands(self._compiled, games, self._cards, seen, cards, sight.narrowed, sight.is_open)
        return seen, sight

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Raise TypeError: an observation does not show what this agent needs."""
        raise blind(self.name)
