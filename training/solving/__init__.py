"""Small games solved exactly, deal by deal: equilibria, and the exploitability of any agent.

solving      equilibria, best responses, the spread of margins, an agent's exploitability and its loss to an equilibrium
growing      the trees of a game's deals, and its size
deal_tree    one deal as a tree of nodes, leaves and information sets, and the walk that grows it
pairs        the pairs of hands that seats may hold, all or those of bounded ranges
equilibrium  predictive CFR+, minimax and best responses over a tree
policies     an agent as a behaviour strategy
late         the end of a large game, solved from a position
late_agent   an agent that solves the deal before the last one
looking      what a strategy does in one decision, and why
saving       strategies as files
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.solving.growing import SOLVED, Size, Trees, grow, is_solvable, size_of
    from krypenv.training.solving.late import grow_late, measure_late, solve_late
    from krypenv.training.solving.late_agent import Equilibrium
    from krypenv.training.solving.looking import Look, look
    from krypenv.training.solving.pairs import Bounds
    from krypenv.training.solving.saving import load, save, solve_into
    from krypenv.training.solving.solving import (
        Solved,
        evaluate,
        grow_for_agents,
        lost_to_equilibrium,
        measure,
        respond,
        solve,
        solve_trees,
        spread_of,
    )
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "growing": ("SOLVED", "Size", "Trees", "grow", "is_solvable", "size_of"),
            "late": ("grow_late", "measure_late", "solve_late"),
            "late_agent": ("Equilibrium",),
            "looking": ("Look", "look"),
            "pairs": ("Bounds",),
            "saving": ("load", "save", "solve_into"),
            "solving": (
                "Solved", "evaluate", "grow_for_agents", "lost_to_equilibrium", "measure", "respond", "solve",
                "solve_trees", "spread_of",
            ),
        },
    )  # fmt: skip

__all__ = [
    "SOLVED", "Bounds", "Equilibrium", "Look", "Size", "Solved", "Trees", "evaluate", "grow", "grow_for_agents",
    "grow_late", "is_solvable", "load", "look", "lost_to_equilibrium", "measure", "measure_late", "respond", "save",
    "size_of", "solve", "solve_into", "solve_late", "solve_trees", "spread_of",
]  # fmt: skip
