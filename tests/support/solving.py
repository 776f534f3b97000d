"""What the tests of the search agents share: the kernels over a `Game`, and play that tries everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from krypenv import Game, Move, Rules
from krypenv.agents.base import MAX_PLIES
from krypenv.agents.moves.listing import list_moves
from krypenv.agents.moves.making import make_move, next_action
from krypenv.agents.moves.prices import set_prices
from krypenv.agents.search.horizon import make_model
from krypenv.agents.search.search import SearchPlan, solve_moves
from krypenv.agents.search.solver import MAX_N, PARANOID, alpha_beta, max_n
from krypenv.agents.workspace import make_workspaces
from krypenv.cards import card_name
from krypenv.game.moves import bits
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.deals import deal
from krypenv.kernels.play import DEAL_OVER, GAME_OVER, PLAYING, refresh
from krypenv.runtime.jit import handle, kernel
from krypenv.state import allocate
from support.beside import choose
from support.games import full_deck, small_first
from support.reference import Reference
from support.reference_relatives import Relative

Kinds = tuple[int, tuple[int, ...]]  # of a move: its card, and what it takes


@kernel
def _list(compiled: np.ndarray, states: np.ndarray, at: int, workspaces: np.ndarray) -> int:
    set_prices(compiled[0], states[at], workspaces[0].listing)
    return list_moves(compiled[0], states[at], 0, workspaces[0].listing)


@kernel
def _make(compiled: np.ndarray, states: np.ndarray, at: int, move: int, workspaces: np.ndarray, out: np.ndarray) -> int:
    out[0] = states[at]
    return make_move(compiled[0], out[0], workspaces[0].listing.moves[move], workspaces[0].listing)


@kernel
def _next_action(state: np.ndarray, move: int, workspaces: np.ndarray) -> int:
    return next_action(state[0], workspaces[0].listing.moves[move])


@kernel
def _deal(compiled: np.ndarray, state: np.ndarray, workspaces: np.ndarray) -> None:
    deal(compiled[0], state[0])
    refresh(compiled[0], state[0], workspaces[0].listing.scratch)


@kernel
def _solve(
    compiled: np.ndarray,
    states: np.ndarray,
    at: int,
    side: int,
    method: int,
    plies: int,
    salt: np.uint64,
    workspaces: np.ndarray,
) -> float:
    workspaces[0].lines.stack[1] = states[at]
    set_prices(compiled[0], states[at], workspaces[0].listing)
    if method == MAX_N:
        return max_n(compiled[0], workspaces[0], side, PLAYING, 0, plies)
    return alpha_beta(compiled[0], workspaces[0], side, PLAYING, 0, salt, plies)


@kernel
def _solve_moves(
    compiled: np.ndarray,
    states: np.ndarray,
    at: int,
    plan: SearchPlan,
    salt: np.uint64,
    workspaces: np.ndarray,
) -> int:
    workspace = workspaces[0]
    listing, decision, tally = workspace.listing, workspace.decision, workspace.tally
    decision.world = states[at]
    set_prices(compiled[0], decision.world, listing)
    end = list_moves(compiled[0], decision.world, 0, listing)
    for move in range(end):
        tally.totals[move] = 0.0
    solve_moves(compiled[0], plan, workspace, end, salt)
    return end


def as_kinds(moves: np.ndarray) -> list[Kinds]:
    """The card of each move, and the kinds that it takes."""
    return [(int(move["card"]), tuple(sorted([*bits(int(move["once"])), *bits(int(move["twice"]))]))) for move in moves]


def plain(move: Move) -> Move:
    """A move without its sweeps, which search does not list."""
    return move._replace(sweep=0)


class Solver:
    """The kernels over one scratch memory; positions are those of a `Game`."""

    def __init__(self, rules: Rules, value: str = "margin") -> None:
        self.compiled, self.workspaces = compile_rules(rules), make_workspaces(1, make_model(value))
        self.after = handle(allocate(1))
        self._salts = np.random.default_rng(1)  # not those of the keys

    def moves(self, game: Game) -> list[Move]:
        """The moves that search lists, without their sweeps."""
        count = _list(self.compiled, game.states, game.at, self.workspaces)
        rows, own = self.workspaces["listing"]["moves"][0, :count], {value for value, *_ in game.builds}
        moves = []
        for row, (card, takes) in zip(rows, as_kinds(rows), strict=True):
            build, taken = int(row["build"]), int(row["taken"])
            builds = tuple(sorted(({taken} | {build} & own) - {0}))
            moves.append(Move.of_kinds(card, list(takes), 0, build, builds))
        return moves

    def action(self, game: Game, move: int) -> int:
        """The action that leads to a listed move, from the position where it was listed or from one on the way."""
        self.after[0] = game.state
        return _next_action(self.after, move, self.workspaces)

    def make(self, game: Game, move: int) -> int:
        """Make a listed move; the state after it is in `after`."""
        return _make(self.compiled, game.states, game.at, move, self.workspaces, self.after)

    def check_made(self, game: Game, place: int, move: Move) -> None:
        """Assert that a listed move, then the next deal if its own is over, leads where the game goes with it."""
        outcome, was_deal = self.make(game, place), game.deal_number
        if outcome == DEAL_OVER:
            assert not self.after["hand_size"].any()
            assert self.after["next_card"] == game.state["next_card"]
            assert self.after["deal_number"] == was_deal
            _deal(self.compiled, self.after, self.workspaces)
        game.push(move)
        assert outcome == (GAME_OVER if game.is_over else DEAL_OVER if game.deal_number > was_deal else PLAYING)
        for field in set(game.state.dtype.names) - {"taken_ranks"}:  # of a play that is over
            assert np.array_equal(self.after[field][0], game.state[field]), field
        game.pop()

    def value(self, game: Game, side: int, method: int = PARANOID, plies: int = 31) -> float:
        """The margin of a side."""
        place = game.states, game.at
        return _solve(self.compiled, *place, side, method, plies, self._salt(), self.workspaces)

    def values(self, game: Game, method: int) -> list[float]:
        """The margin of each move for the side to move."""
        place = game.states, game.at
        plan = SearchPlan(method, MAX_PLIES, 0)
        count = _solve_moves(self.compiled, *place, plan, self._salt(), self.workspaces)
        return self.workspaces["tally"]["values"][0, :count].tolist()

    def _salt(self) -> np.uint64:
        return self._salts.integers(0, 2**64, dtype=np.uint64)


def twins(rules: Rules, seed: int, style: str = "") -> Iterator[tuple[Game, Reference]]:
    """A game and the reference of it at each decision of random play, or of a style of play of the relatives.

    Of Krypkasino, small cards come first, or last, or anywhere.
    """
    rng = np.random.default_rng(seed)
    if style:
        deck = rng.permutation(full_deck(rules)).tolist()
    else:
        deck = small_first(rules, rng)[:: -1 if seed % 3 == 1 else 1]
        if seed % 3 == 2:
            rng.shuffle(deck)
    game, reference = Game(rules, deck=map(card_name, deck)), (Relative if style else Reference)(rules, deck)
    while not reference.over:
        yield game, reference
        action = choose(reference, rng, style) if style else int(rng.choice(reference.legal_actions()))
        game.act(action)
        reference.act(action)


def margin(reference: Reference, side: int) -> float:
    """By how much a side's score is better than the mean of the others (R14, R16, K1)."""
    sides = reference.rules.num_teams
    scores = [sum(reference.scores()[each::sides]) for each in range(sides)]
    own = scores.pop(side)
    lead = sum(scores) / len(scores) - own
    return lead if reference.rules.goal == "low" else -lead


def sweeping(reference: Reference, cards: tuple[int, ...] | list[int]) -> bool:
    """Whether one of some cards takes the whole table."""
    return any(reference.can_sweep(card % 13 + 1) for card in cards)


def futures(reference: Reference) -> Iterator[tuple[Reference, bool]]:
    """Each position after one play, and whether the deal is over there."""
    for move in reference.legal_moves():
        twin = reference.copy()
        twin.push(move)
        yield twin, twin.over or twin.deal_number > reference.deal_number


def played_on(reference: Reference, side: int, deals: int = 1) -> set[float]:
    """The margins of a side at the end of this deal, or of more, if each seat makes the move that costs least at once.

    One for each way to break ties. A move costs its points and twice those of a sweep, an own one or one that the next
    hand must make, which is taken off.
    """
    if deals == 0 or reference.over:
        return {margin(reference, side)}
    sweep, after = 2 * reference.rules.sweep_points, (reference.turn + 1) % reference.rules.players
    costs = []
    for move, (twin, is_end) in zip(reference.legal_moves(), futures(reference), strict=True):
        points = sum(map(twin.card_points, [move[0], *move[1]])) if move[1] else 0
        is_next = not is_end and not move[2] and sweeping(twin, reference.hands[after])
        costs.append((points + sweep * (move[2] > 0) - sweep * is_next, twin, deals - is_end))
    least = min(cost for cost, _, _ in costs)
    return set().union(*(played_on(twin, side, left) for cost, twin, left in costs if cost == least))


def minimax(reference: Reference, side: int, plies: int = 0, leaf: Callable[[Reference], float] | None = None) -> float:
    """The margin of a side, which it raises and all others lower, by trying everything.

    A line is cut after so many plies, where it is worth what `leaf` tells; with 0 it goes on to the end of the deal.
    """
    values = [
        margin(twin, side) if is_end else leaf(twin) if leaf and plies == 1 else minimax(twin, side, plies - 1, leaf)
        for twin, is_end in futures(reference)
    ]
    return max(values) if reference.turn % reference.rules.num_teams == side else min(values)


def value_of(reference: Reference, side: int) -> float:
    """The margin of a side by trying everything to the end of the deal, also where the game is over."""
    return margin(reference, side) if reference.over else minimax(reference, side)


def values_of(reference: Reference) -> dict[Kinds, float]:
    """What each move is worth to the side to move, by trying everything to the end of the deal."""
    side = reference.turn % reference.rules.num_teams
    return {
        move[:2]: margin(twin, side) if is_end else minimax(twin, side)
        for move, (twin, is_end) in zip(reference.legal_moves(), futures(reference), strict=True)
    }


class Alternating:
    """Plays the first legal action and the last one in turn, as it remembers, or by what is left of a hand of three."""

    name = "alternating"

    def __init__(self, rules: Rules, seed: int = 0, *, remembers: bool = True) -> None:
        self.rules, self.remembers, self.calls = rules, remembers, 0

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """The actions; the rows of a call are decisions of the same number."""
        self.calls += 1
        held = observations[:, self.rules.layout["hand"]].sum(axis=1)
        is_first = self.calls % 2 == 1 if self.remembers else held % 2 == 1
        last = action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)
        return np.where(is_first, action_masks.argmax(axis=1), last)
