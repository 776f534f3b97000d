"""The ismcts agent: Monte-Carlo tree search over information sets, single-observer."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from krypenv.agents.scripted import list_bits
from krypenv.agents.search.rollout import final_margin, make_playout_work, play_out
from krypenv.agents.search.sampler import Sampler, check_memory, name_of
from krypenv.agents.search.sampling import NO_ACTION, look_around, sample_world, world_seed
from krypenv.agents.search.search import has_choice
from krypenv.kernels.play import act, random_below
from krypenv.kernels.state import ACTIONS, MAX_DECK
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel, parallel_kernel, records

NO_NODE = 0  # the root is nobody's child
LONGEST_PATH = 2 * MAX_DECK  # every action of a deal plays a card or takes one

NODE = np.dtype(
    [
        ("action", np.int64),  # that led here
        ("mover", np.int64),  # side that took it
        ("visits", np.float64),
        ("offered", np.float64),  # visits of the node above in whose world the action was legal
        ("total", np.float64),  # margins of the mover over the visits
        ("child", np.int64),  # the first one
        ("sibling", np.int64),  # the next child of the node above
    ],
    align=True,
)


@kernel
def descend(
    tables: np.record,
    game: np.record,
    last_deal: int,
    explore: float,
    nodes: np.ndarray,
    size: int,
    path: np.ndarray,
    legal: np.ndarray,
    scratch: np.record,
) -> tuple[int, int]:
    """Follow the tree through a world up to an action that has no node there yet, which gets one.

    Returns the length of the `path`, of nodes below the root, and the number of nodes. Among the legal actions of the
    world that have a node the one with the highest upper confidence bound is taken; one that has none goes first.
    """
    node, length = 0, 0
    while not game.over and game.deal_number <= last_deal:
        count = list_bits(game.legal_plays, game.legal_takes, legal)
        fresh = 0
        best, best_bound = NO_NODE, -np.inf
        for at in range(count):
            child = nodes[node].child
            while child != NO_NODE and nodes[child].action != legal[at]:
                child = nodes[child].sibling
            if child == NO_NODE:
                legal[fresh] = legal[at]  # never ahead of `at`
                fresh += 1
                continue
            entry = nodes[child]
            entry.offered += 1.0
            bound = entry.total / entry.visits + explore * np.sqrt(np.log(entry.offered) / entry.visits)
            if bound > best_bound:
                best, best_bound = child, bound
        if fresh > 0:
            best = size
            entry = nodes[best]
            entry.action = legal[random_below(game, ACTIONS, fresh)]
            entry.mover = game.seat % tables.teams
            entry.visits, entry.offered, entry.total = 0.0, 1.0, 0.0
            entry.child, entry.sibling = NO_NODE, nodes[node].child
            nodes[node].child = best
            size += 1
        path[length] = best
        length += 1
        act(tables, game, nodes[best].action, scratch)
        node = best
        if fresh > 0:
            break
    return length, size


@kernel
def grow_trees(
    tables: np.ndarray,
    model: np.ndarray,
    observations: np.ndarray,
    action_masks: np.ndarray,
    seeds: np.ndarray,
    first: int,
    worlds: int,
    explore: float,
    guided: bool,
    nodes: np.ndarray,
    path: np.ndarray,
    seen: np.ndarray,
    legal: np.ndarray,
    view: np.ndarray,
    space: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
    part: int,
    parts: int,
) -> None:
    """Write the most visited action of every `parts`-th row into `out`, (B,) int64; `values` is left alone."""
    rules, work, tree = tables[0], space[part], nodes[part]
    for row in range(part, len(out), parts):
        if not has_choice(action_masks[row]):
            out[row] = np.argmax(action_masks[row])
            continue
        look_around(rules, observations[row], work)
        last_deal = work.root.deal_number
        if first == 0:
            tree[0].child = NO_NODE
        size = first + 1  # every world adds one node, or ends in one that is there
        for world in range(first, first + worlds):
            if not sample_world(rules, observations[row], world_seed(seeds[row], world), False, work):
                out[row] = NO_ACTION
                break
            game = work.stack[0]
            length, size = descend(rules, game, last_deal, explore, tree, size, path[part], legal[part], work.scratch)
            play_out(rules, game, last_deal, guided, seen[part], legal[part], view[part], work.scratch)
            for side in range(rules.teams):
                work.margins[side] = final_margin(rules, model[0], game, side)
            for at in range(length):
                entry = tree[path[part, at]]
                entry.visits += 1.0
                entry.total += work.margins[entry.mover]
        else:
            out[row] = _most_visited(tree)


@kernel
def _most_visited(tree: np.ndarray) -> int:
    best = child = tree[0].child
    while child != NO_NODE:
        if tree[child].visits > tree[best].visits:
            best = child
        child = tree[child].sibling
    return tree[best].action


@kernel
def grow_part(given: tuple[Any, ...], part: int, parts: int) -> None:
    """Do what `grow_trees` does, given all its arguments but the last two."""
    grow_trees(*given, part, parts)


@kernel
def try_grow_part(given: tuple[Any, ...], part: int, parts: int) -> bool:
    """Do what `grow_part` does; return whether it came to its end."""
    try:
        grow_part(given, part, parts)
    except Exception:
        return False
    return True


@parallel_kernel
def grow_parts(given: tuple[Any, ...], done: np.ndarray) -> None:
    """Do what `grow_trees` does a thread a part; write which came to their ends into `done`, (parts,) bool."""
    for part in numba.prange(len(done)):
        done[part] = try_grow_part(given, part, len(done))


class Ismcts(Sampler):
    """Single-observer information-set Monte-Carlo tree search (Cowling, Powley and Whitehouse 2012), deal by deal.

    Every world goes down one tree by upper confidence bounds over the actions that are legal in it, adds a node, and is
    played out to the end of the deal, where it gets the same expected value as in `search`. The most visited action is
    played. With more than two sides every side raises its own margin.

    Args:
        worlds, ms, threads: as in `Sampler`.
        explore: weight of the bound's second term, in points.
        guided: play out with the tactician, else at random.
        value: what is expected after a deal: the next deal's first sweep (sweep), or nothing (margin).
    """

    _serial, _parallel = staticmethod(grow_trees), staticmethod(grow_parts)
    gives_values = False

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        worlds: int = 200,
        explore: float = 8.0,
        guided: bool = True,
        value: str = "sweep",
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.name = name_of("ismcts", self, locals())
        self._plan = (explore, guided)
        super().__init__(rules, seed, worlds, value, ms, threads)
        check_memory(worlds, self._threads)
        nodes = handle(records(NODE, (self._threads, worlds + 1)))
        path = np.zeros((self._threads, LONGEST_PATH), np.int64)
        self._work = (nodes, path, *make_playout_work(self._threads))
