"""The ismcts agent: single-observer information set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012).

1. One tree over staged actions holds what the seat to act can tell apart. Each iteration draws a determinization.
2. Selection descends by the actions that are legal in this world. An action's bound is its mean margin plus an
   exploration term, with the visits in which it was legal in place of all visits of its parent (`descend`).
3. Expansion adds one action that was never tried; a playout by the tactician to the end of the deal follows, and a
   leaf value.
4. The margin is added to each node of the path, from the point of view of the side that moved there.
5. Play the most visited action of the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from krypenv.agents.base import name_of
from krypenv.agents.scripted import Style, list_actions, tactical_style
from krypenv.agents.search.rollout import final_margin, play_out
from krypenv.agents.search.sampler import NO_ACTION, Loop, Sampler, check_memory
from krypenv.agents.search.worlds import Job, begin, draw_world
from krypenv.kernels.play import act
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel, records
from krypenv.state import ACTIONS, MAX_DECK, random_below

NO_NODE = 0  # the root is nobody's child
LONGEST_PATH = 3 * MAX_DECK  # every action of a deal plays a card, takes one, or stops after a play

NODE = np.dtype(
    [
        ("action", np.int64),  # that led here
        ("mover", np.int64),  # side that took it
        ("visits", np.float64),
        ("offered", np.float64),  # visits of the parent in worlds where the action was legal
        ("total", np.float64),  # sum of the mover's margins over the visits
        ("child", np.int64),  # the first child
        ("sibling", np.int64),  # the next child of the parent
    ],
    align=True,
)


class TreePlan(NamedTuple):
    """How trees are grown."""

    explore: float  # weight of the exploration term
    trees: np.ndarray  # (threads, worlds + 1) of `NODE`
    paths: np.ndarray  # (threads, LONGEST_PATH) int64
    style: Style  # of the tactician


@kernel
def grow_rows(job: Job, plan: TreePlan, workspaces: np.ndarray, part: int, parts: int) -> None:
    """Decide every `parts`-th row of a job by the most visited action; `job.values` is left alone."""
    compiled, tree, path, workspace = job.compiled[0], plan.trees[part], plan.paths[part], workspaces[0]
    listing, decision, judging = workspace.listing, workspace.decision, workspace.judging
    for row in range(job.start + part, job.stop, parts):
        if not begin(job, row, workspace):
            continue
        last_deal = decision.root.deal_number
        if job.first == 0:
            tree[0].child = NO_NODE
        size = job.first + 1  # every world adds one node at most
        while draw_world(job, plan, workspace):
            game = decision.world
            length, size = descend(compiled, game, plan, part, size, judging.legal, listing.scratch)
            play_out(compiled, game, last_deal, plan.style, 0, workspace)
            for side in range(compiled.teams):
                decision.margins[side] = final_margin(compiled, game, side)
            for at in range(length):
                entry = tree[path[at]]
                entry.visits += 1.0
                entry.total += decision.margins[entry.mover]
        job.out[row] = _most_visited(tree) if decision.agrees else NO_ACTION


@kernel
def descend(
    compiled: np.record, game: np.record, plan: TreePlan, part: int, size: int, legal: np.ndarray, scratch: np.record
) -> tuple[int, int]:
    """Follow the tree through a world up to an action that has no node yet, and add its node.

    At each node a legal action without a node comes first, picked at random. Without one, the action with the highest
    upper confidence bound is taken. Returns the length of the path, the root excluded, and the number of nodes, which
    was `size` before.
    """
    nodes, path = plan.trees[part], plan.paths[part]
    last_deal = game.deal_number
    node, length = 0, 0
    while not game.over and game.deal_number <= last_deal:
        count = list_actions(game, legal)
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
            bound = entry.total / entry.visits + plan.explore * np.sqrt(np.log(entry.offered) / entry.visits)
            if bound > best_bound:
                best, best_bound = child, bound
        if fresh > 0:
            best = size
            entry = nodes[best]
            entry.action = legal[random_below(game, ACTIONS, fresh)]
            entry.mover = game.seat % compiled.teams
            entry.visits, entry.offered, entry.total = 0.0, 1.0, 0.0
            entry.child, entry.sibling = NO_NODE, nodes[node].child
            nodes[node].child = best
            size += 1
        path[length] = best
        length += 1
        act(compiled, game, nodes[best].action, scratch)
        node = best
        if fresh > 0:
            break
    return length, size


@kernel
def _most_visited(tree: np.ndarray) -> int:
    best = child = tree[0].child
    while child != NO_NODE:
        if tree[child].visits > tree[best].visits:
            best = child
        child = tree[child].sibling
    return tree[best].action


class Ismcts(Sampler):
    """Single-observer information set Monte Carlo tree search, deal by deal; every side maximizes its own margin.

    Args:
        worlds, ms, threads: as in `Sampler`.
        explore: weight of the exploration term, in points.
    """

    _loop = Loop(grow_rows, None, None)

    def __init__(
        self, rules: Rules, seed: int = 0, *, worlds: int = 200, explore: float = 8.0, ms: float = 0.0, threads: int = 1
    ) -> None:
        self.name = name_of("ismcts", type(self), locals())
        check_memory(worlds, threads)  # before there is any scratch
        super().__init__(rules, seed, worlds, ms, threads)
        trees = handle(records(NODE, (self._threads, worlds + 1)))
        paths = np.zeros((self._threads, LONGEST_PATH), np.int64)
        self._plan = TreePlan(float(explore), trees, paths, tactical_style(rules))
