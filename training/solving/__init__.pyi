from .growing import (
    Size as Size,
    Trees as Trees,
    grow as grow,
    is_solvable as is_solvable,
    size_of as size_of,
)
from .infosets import Look as Look, look as look
from .late import Equilibrium as Equilibrium, grow_late as grow_late, solve_late as solve_late
from .pairs import Bounds as Bounds
from .solving import (
    Solved as Solved,
    evaluate as evaluate,
    grow_for_agents as grow_for_agents,
    load as load,
    lost_to_equilibrium as lost_to_equilibrium,
    measure as measure,
    respond as respond,
    save as save,
    solve as solve,
    solve_into as solve_into,
    solve_trees as solve_trees,
    spread_of as spread_of,
)
