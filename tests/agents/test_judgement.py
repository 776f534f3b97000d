"""The main game's fast path of the judgement, beside the general one: both say what a move gains."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import RULES

from krypenv import Engine, Rules
from krypenv.agents.judgement import judge_moves
from krypenv.agents.moves.listing import list_moves
from krypenv.agents.moves.making import leads_to
from krypenv.agents.moves.prices import set_prices
from krypenv.agents.search.worlds import set_root
from krypenv.agents.workspace import make_workspaces
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import COMPILED, compile_rules
from krypenv.kernels.outlook import borrow_outlook, read_outlook
from krypenv.kernels.weighing import weigh_action
from krypenv.runtime.jit import handle, kernel, records


@kernel
def judge(general: np.ndarray, observations: np.ndarray, row: int, workspaces: np.ndarray) -> int:
    """List and judge the moves of a row as those of any rules; return their number."""
    workspace = workspaces[0]
    listing, decision = workspace.listing, workspace.decision
    set_root(general[0], observations[row], workspace)
    set_prices(general[0], decision.root, listing)
    end = list_moves(general[0], decision.root, 0, listing)
    judge_moves(general[0], observations[row], decision.root, 0, end, False, workspace)
    return end


@kernel
def begins(general: np.ndarray, action: int, at: int, workspaces: np.ndarray) -> bool:
    """Return whether an action begins or continues a move."""
    return leads_to(general[0], workspaces[0].decision.root, action, workspaces[0].listing.moves[at])


@kernel
def weigh(
    compiled: np.ndarray,
    observations: np.ndarray,
    row: int,
    action: int,
    outlook: np.ndarray,
    scratch: np.ndarray,
) -> None:
    """Weigh an action of a row by the fast path."""
    read_outlook(compiled[0], observations[row], outlook[0])
    weigh_action(compiled[0], observations[row], action, outlook[0], scratch[0])


def as_any_rules(rules: Rules) -> np.ndarray:
    """Return compiled rules of the main game as kernels know all other rules."""
    general, compiled = records(COMPILED, 1), compile_rules(rules)
    for name in COMPILED.names or ():
        general[name] = compiled[name]
    general.is_main = False
    return handle(general)


@pytest.mark.parametrize("rules", [*RULES.values(), Rules.parse("krypkasino players=2 goal=high")], ids=str)
def test_the_fast_path_gains_what_a_move_of_the_general_judgement_gains(rules: Rules) -> None:
    """A sweep costs its side its points and pays the side before: n / (n - 1) of them in margin, over n sides."""
    general, compiled, workspaces = as_any_rules(rules), compile_rules(rules), make_workspaces()
    outlook, scratch, engine = borrow_outlook(), borrow_scratch(), Engine(rules, 16, seed=4)
    sides, better = rules.num_teams, -1 if rules.goal == "low" else 1
    points, swept, chosen = 0, 0, 0
    for _ in range(90):
        for row in range(16):
            end = judge(general, engine.observation, row, workspaces)
            gains = workspaces["judging"]["judged"]["gain"][0, :end]
            for action in np.flatnonzero(engine.action_mask[row]):
                own = [gains[at] for at in range(end) if begins(general, action, at, workspaces)]
                weigh(compiled, engine.observation, row, action, outlook, scratch)
                taken, sweeps = int(outlook["points"][0]), int(outlook["sweeps"][0])
                sweep = rules.sweep_points * sweeps * sides / (sides - 1)
                if outlook["game_ends"][0]:  # the margin then also has what falls to the other side (R13)
                    continue
                assert np.isclose(own, better * (taken + sweep)).any(), (action, own, taken, sweep)
                points += taken > 0
                swept += sweeps > 0
                chosen += len({round(each, 6) for each in own}) > 1
        engine.step(engine.sample_actions())
    assert points > 20
    assert swept > 0 or rules.deck_size < 30
    assert chosen > 0 or rules.deck_size < 60
