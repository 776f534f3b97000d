"""Cheaters: searches that see the hidden hands, or the deck too. They bound what can be gained."""

from __future__ import annotations

import numpy as np

from krypenv.agents.base import IntArray, check_seed
from krypenv.agents.judgement.decision import has_choice
from krypenv.agents.moves.making import next_action
from krypenv.agents.moves.people import add_move
from krypenv.agents.search.horizon import make_model
from krypenv.agents.search.sampler import Examined, name_of
from krypenv.agents.search.sampling import best_of, list_choices
from krypenv.agents.search.search import SearchPlan, plan_of, value_moves
from krypenv.agents.workspace import Workspace, make_workspace, with_room
from krypenv.game.moves import Move
from krypenv.kernels.compiled import compile_rules
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel
from krypenv.runtime.threads import Lock, in_turn
from krypenv.state import State, mix
from krypenv.worlds.invariants import check_state, check_states


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
        end = list_knowing(compiled, state, row, workspace)
        value_knowing(compiled, model, end, seeds[row], plan, workspace)
        out[row] = next_action(
            workspace.worlds[0].game, workspace.listing[0].moves[best_of(workspace.tally[0].values, end)]
        )


class _Oracle:
    """A search of one world, the true one."""

    name: str
    cheats = True

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
        raise TypeError(f"{self.name} cheats: it needs whole games, given to `act_on`, and can't act on observations")


class OracleHand(_Oracle):
    """Sees all hands, and solves the deal as `search` solves a world."""

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        plies: int = 0,
        method: str = "max_n",
        value: str = "sweep",
    ) -> None:
        self.name = name_of("oracle-hand", self, locals())
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
        self.name = name_of("oracle-deck", self, locals())
        super().__init__(rules, seed, plies, method, value, deals)
