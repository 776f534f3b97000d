"""The agents greedy and tactician where cards are built (B): they weigh whole moves."""

from __future__ import annotations

import numpy as np

from krypenv.agents.base import IntArray, check_seed
from krypenv.agents.moves.listing import list_moves, order_moves
from krypenv.agents.moves.staging import next_action
from krypenv.agents.scripted import draw
from krypenv.agents.search.judging import judge_building
from krypenv.agents.search.sampling import has_choice, look_around
from krypenv.agents.search.workspace import Workspace, make_workspace, with_room
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.decision_checks import check_decisions
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel
from krypenv.runtime.threads import Lock, in_turn
from krypenv.worlds.determinize import check_genuine

MOST_LISTED = 8  # captures of a card, and builds with it, that are weighed


@kernel
def choose_built(
    compiled: np.ndarray,
    observations: np.ndarray,
    action_masks: np.ndarray,
    luck: np.ndarray,
    looks_ahead: bool,
    workspace: Workspace,
    out: np.ndarray,
) -> None:
    """Write the next action of each row's best move into `out`, (B,) int64; ties at random."""
    listing = workspace.listing[0]
    worlds = workspace.worlds[0]
    judging = workspace.judging[0]
    tally = workspace.tally[0]
    for row in range(len(out)):
        if not has_choice(action_masks[row]):
            out[row] = np.argmax(action_masks[row])
            continue
        look_around(compiled[0], observations[row], worlds, listing.scratch)
        listing.keep = MOST_LISTED
        end = list_moves(compiled[0], worlds.root, 0, listing)
        order_moves(compiled[0], worlds.root, 0, end, listing)
        judge_building(compiled[0], observations[row], end, looks_ahead, listing, worlds, judging, tally)
        out[row] = next_action(worlds.root, listing.moves[pick_best(tally.totals, end, luck[row])])


@kernel
def pick_best(values: np.ndarray, count: int, luck: int) -> int:
    """Return the place of the highest of the first `count` values; of several, one by 32 random bits."""
    most, tied = -np.inf, 0
    for at in range(count):
        if values[at] > most:
            most, tied = values[at], 0
        tied += values[at] == most
    skip = draw(luck, tied)
    for at in range(count):
        if values[at] == most:
            if skip == 0:
                return at
            skip -= 1
    return 0


class Builder:
    """Plays the move that wins most now, or with what follows it. Threads take turns."""

    remembers = False

    def __init__(self, name: str, rules: Rules, seed: int, looks_ahead: bool) -> None:
        self.name = name
        self.rules = rules
        self.lock = Lock()
        self._compiled = compile_rules(rules)
        self._looks_ahead = looks_ahead
        self._workspace = make_workspace()
        self._rng = np.random.default_rng(check_seed(seed))

    @in_turn
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return the next action of each row's best move, (B,) int64; see `krypenv.agents.Agent`."""
        observations, masks = check_decisions(self.rules, observations, action_masks)
        check_genuine(self.rules, observations, masks)
        out = np.empty(len(masks), np.int64)
        luck = self._rng.integers(0, 1 << 32, len(masks))

        def choose() -> None:
            choose_built(self._compiled, observations, masks, luck, self._looks_ahead, self._workspace, out)

        with_room(self, choose)
        return out


def greedy_builder(rules: Rules, seed: int = 0) -> Builder:
    """Return greedy: it plays the move that wins most now; ties at random."""
    return Builder("greedy", rules, seed, False)


def tactical_builder(rules: Rules, seed: int = 0, *, shed: bool = False) -> Builder:
    """Return tactician, who looks ahead; raises ValueError for `shed`, for here no card must capture."""
    if shed:
        raise ValueError("tactician(shed=True) sheds cards that must capture; where cards are built, leave shed out")
    return Builder("tactician", rules, seed, True)
