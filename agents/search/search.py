"""The search agent: solves the rest of the deal in many worlds that agree with what the seat has seen."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from krypenv.agents.base import check_limit
from krypenv.agents.search.sampler import Sampler, name_of
from krypenv.agents.search.sampling import NO_ACTION, look_around, sample_world, world_seed
from krypenv.agents.search.solve import MAX_N, PARANOID, alpha_beta, key_after, max_n
from krypenv.agents.search.space import MAX_PLIES, with_room
from krypenv.agents.search.tree import list_moves, make_move
from krypenv.cards import NO_CARD, NUM_ACTIONS, TAKE
from krypenv.inputs.words import shown
from krypenv.kernels.play import mix
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, parallel_kernel

MANY_PLIES, FEW_PLIES = 4, 2  # after which a line is cut: with two sides, and with more
METHODS = {"paranoid": PARANOID, "max_n": MAX_N}
# A deal that can go on in no more ways than this, captures apart, is searched to its end: with two players 4 cards
# against 4, which have 576, with more of them two cards each at most.
FEW_LINES = {2: 576, 3: 8, 4: 16, 5: 32, 6: 64}
# A move is dropped if after n worlds, not fewer than these, its mean margin is RACE / sqrt(n) points behind the best.
# The difference of two good moves has a standard deviation of about 6 over the worlds.
FEWEST_WORLDS, RACE = 8, 25.0


def plan_of(rules: Rules, method: str, plies: int) -> tuple[int, int, int]:
    """Return how to search and how far; raises ValueError for an unknown method or an impossible depth."""
    if method not in METHODS:
        raise ValueError(f"method is {' or '.join(METHODS)}, not {shown(method)}")
    check_limit("plies", plies)
    two_sides = rules.num_teams == 2
    depth = plies or (MANY_PLIES if two_sides else FEW_PLIES)
    return PARANOID if two_sides else METHODS[method], depth, FEW_LINES[rules.players]


@kernel
def has_choice(mask: np.ndarray) -> bool:
    """Return whether a mask, (105,) int8, allows more than one action."""
    count = 0
    for action in range(NUM_ACTIONS):
        count += mask[action] != 0
    return count > 1


@kernel
def depth_of(tables: np.record, game: np.record, plies: int, few_lines: int) -> int:
    """Return how many plays to search: `plies`, or all that are left where hands are small enough."""
    lines, cards = 1.0, 0
    for seat in range(tables.players):
        for held in range(1, game.hand_size[seat] + 1):
            lines *= held
        cards += game.hand_size[seat]
    return min(cards, MAX_PLIES) if lines <= few_lines else plies


@kernel
def value_moves(
    tables: np.record,
    model: np.record,
    space: np.record,
    end: int,
    method: int,
    plies: int,
    few_lines: int,
    salt: np.uint64,
) -> None:
    """Write the margin of each of the first `end` moves, from the game in `space.stack[0]`, into `space.values`.

    Lines are cut after `plies` plays where hands are too large to go on to the end of the deal. Moves whose total is
    minus infinity are left out.
    `salt` is a word that no other world of this work space was searched with.
    """
    game = space.stack[0]
    side = game.seat % tables.teams
    plies = depth_of(tables, game, plies, few_lines)
    for at in range(end):
        if space.totals[at] == -np.inf:
            continue
        key = key_after(space, game, space.moves[at], salt)
        space.stack[1] = game
        outcome = make_move(tables, space.stack[1], space.moves[at], space)
        if method == MAX_N:
            space.values[at] = max_n(tables, model, space, side, outcome, end, plies - 1)
        else:
            space.values[at] = alpha_beta(tables, model, space, side, outcome, end, key, plies - 1)


@kernel
def search_rows(
    tables: np.ndarray,
    model: np.ndarray,
    observations: np.ndarray,
    action_masks: np.ndarray,
    seeds: np.ndarray,
    first: int,
    worlds: int,
    method: int,
    plies: int,
    few_lines: int,
    space: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
    part: int,
    parts: int,
) -> None:
    """Write the action of the best move of every `parts`-th row into `out`, (B,) int64.

    `values`, (B, 105) float64 or empty, gets the mean margin of each action: of the best move that it begins or goes on
    with; minus infinity for those that were dropped or are illegal.
    """
    rules, work = tables[0], space[part]
    for row in range(part, len(out), parts):
        if not has_choice(action_masks[row]):
            out[row] = np.argmax(action_masks[row])
            continue
        is_known = look_around(rules, observations[row], work)
        end = list_moves(rules, work.root, 0, work)
        if first == 0:
            for at in range(end):
                work.totals[at] = 0.0
        for world in range(first, first + (1 if is_known else worlds)):
            seed = world_seed(seeds[row], world)
            if not sample_world(rules, observations[row], seed, False, work):
                out[row] = NO_ACTION
                break
            value_moves(rules, model[0], work, end, method, plies, few_lines, mix(~seed))
            for at in range(end):
                work.totals[at] += work.values[at]
            drop_moves(work.totals, end, world + 1)
        else:
            out[row] = first_action(work.root, work.moves[best_of(work.totals, end)], action_masks[row])
            if len(values) > 0:
                value_actions(work, end, first + (1 if is_known else worlds), action_masks[row], values[row])


@kernel
def value_actions(space: np.record, end: int, worlds: int, mask: np.ndarray, out: np.ndarray) -> None:
    """Write the mean margin of the best move behind each action into `out`, (105,) float64, else minus infinity."""
    game = space.root
    for action in range(NUM_ACTIONS):
        out[action] = -np.inf
        for at in range(end):
            move = space.moves[at]
            if game.pending == NO_CARD:
                leads = move.card == action
            else:
                kind = action - TAKE
                leads = action >= TAKE and (move.once >> kind & 1) + (move.twice >> kind & 1) > game.taken[kind]
            if mask[action] and leads:
                out[action] = max(out[action], space.totals[at] / worlds)


@kernel
def drop_moves(totals: np.ndarray, end: int, worlds: int) -> None:
    """Set the totals of moves to minus infinity that are so far behind the best one that more worlds hardly matter."""
    if worlds >= FEWEST_WORLDS:
        least = totals[best_of(totals, end)] - RACE * np.sqrt(worlds)
        for at in range(end):
            if totals[at] < least:
                totals[at] = -np.inf


@kernel
def search_part(given: tuple[Any, ...], part: int, parts: int) -> None:
    """Do what `search_rows` does, given all its arguments but the last two."""
    search_rows(*given, part, parts)


@kernel
def try_search_part(given: tuple[Any, ...], part: int, parts: int) -> bool:
    """Do what `search_part` does; return whether it came to its end."""
    try:
        search_part(given, part, parts)
    except Exception:
        return False
    return True


@parallel_kernel
def search_parts(given: tuple[Any, ...], done: np.ndarray) -> None:
    """Do what `search_rows` does a thread a part; write which came to their ends into `done`, (parts,) bool."""
    for part in numba.prange(len(done)):
        done[part] = try_search_part(given, part, len(done))


@kernel
def best_of(values: np.ndarray, count: int) -> int:
    """Return the place of the highest of the first `count` values."""
    best = 0
    for at in range(1, count):
        if values[at] > values[best]:
            best = at
    return best


@kernel
def first_action(game: np.record, move: np.record, mask: np.ndarray) -> int:
    """Return the action that a move begins or goes on with: the card, or a card that it takes."""
    if game.pending == NO_CARD:
        return move.card
    for action in range(TAKE, NUM_ACTIONS):
        kind = action - TAKE
        if mask[action] and (move.once >> kind & 1) + (move.twice >> kind & 1) > game.taken[kind]:
            return action
    raise ValueError("a mask allows no card that a capture takes")


@kernel
def list_root(tables: np.ndarray, observation: np.ndarray, space: np.ndarray) -> tuple[int, bool]:
    """List the moves of an observation; return their number, and whether it hides nothing."""
    is_known = look_around(tables[0], observation, space[0])
    return list_moves(tables[0], space[0].root, 0, space[0]), is_known


@kernel
def value_world(
    tables: np.ndarray,
    model: np.ndarray,
    observation: np.ndarray,
    seed: np.uint64,
    world: int,
    end: int,
    method: int,
    plies: int,
    few_lines: int,
    space: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the margins of the moves listed by `list_root` in one world into `out`, (K,) float64."""
    work = space[0]
    seed = world_seed(seed, world)
    if not sample_world(tables[0], observation, seed, False, work):
        raise ValueError("no deal of the unseen cards agrees with the observation")
    value_moves(tables[0], model[0], work, end, method, plies, few_lines, mix(~seed))
    for at in range(end):
        out[at] = work.values[at]


class Search(Sampler):
    """Plays the move with the best mean margin over worlds, each of them solved to the end of the deal.

    A world is a deal of the unseen cards that agrees with all that the seat has seen (`krypenv.determinize`). With two
    sides it is solved by alpha-beta on the margin; with more every side either raises its own margin ("max_n") or
    lowers that of the searching side ("paranoid"). Small hands (two players: at most four cards against four) are
    searched to the end of the deal, and where larger ones are cut short, the deal is played on by the moves that cost
    least at once. What comes after a deal gets an expected value (`krypenv.agents.search.horizon`).

    A move that is clearly behind after some worlds is looked at in no more. In the last deal of a game of two nothing
    is hidden from a seat that has counted, and one world is solved instead of many.

    Args:
        worlds, ms, threads: as in `Sampler`.
        plies: plays after which a line is cut in deals with more cards; 0 for what suits the number of players.
        method: paranoid or max_n; the same with two sides.
        value: what is expected after a deal: the next deal's first sweep (sweep), or nothing (margin).
    """

    _serial, _parallel = staticmethod(search_rows), staticmethod(search_parts)

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        worlds: int = 30,
        plies: int = 0,
        method: str = "max_n",
        value: str = "sweep",
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.name = name_of("search", self, locals())
        self._plan = plan_of(rules, method, plies)
        super().__init__(rules, seed, worlds, value, ms, threads)

    def examine(self, observation: np.ndarray, action_mask: np.ndarray) -> tuple[np.ndarray, npt.NDArray[np.float64]]:
        """Return the moves of one decision and their margins in each world: (n,) of `MOVE` and (worlds, n) float64.

        Where nothing is hidden there is one world. `observation` is (433 or more,) int8, `action_mask` (105,) int8.
        """
        observations, _, seeds = self._begin(np.asarray(observation)[None], np.asarray(action_mask)[None])
        return with_room(self, lambda: self._examine(observations[0], seeds[0]))

    def _examine(self, observation: np.ndarray, seed: np.uint64) -> tuple[np.ndarray, npt.NDArray[np.float64]]:
        count, is_known = list_root(self._tables, observation, self._space)
        margins = np.empty((1 if is_known else self._worlds, count))
        self._space["totals"] = 0.0
        for world, values in enumerate(margins):
            value_world(self._tables, self._model, observation, seed, world, count, *self._plan, self._space, values)
        list_root(self._tables, observation, self._space)
        return self._space["moves"][0, :count].copy(), margins
