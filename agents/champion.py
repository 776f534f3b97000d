"""The champion: `guided` with the package's network for the rules, or `search` where no network was trained for them.

This module only chooses: the model by the rules (`SHIPPED`), the numbers of worlds and proposals, and the weight of the
prior. A decision passes six files. Its state is in `workspace.decision`, `workspace.tally` and the plan of `guided`:

1. `search/sampler.py`: `act` checks the observations and shares the rows among threads. The loop over worlds
   (`make_loop`) lists the moves, adds their values to totals, prunes moves, and writes the action of the best one.
2. `neural/guided.py`: the algorithm, as three kernels in the order in which the loop calls them: `begin_guided` (policy
   of the root, proposals), `draw_proposal` (worlds) and `play_out_moves` (values of moves).
3. `search/worlds.py`: the information set of the observation (`set_root`), and worlds sampled from it (`draw_world`).
4. `neural/belief.py`: the importance weight of a world's hidden hands, from the others' plays in this deal.
5. `neural/playouts.py`: playouts with the network at every seat. Both caches live here: by hidden hand, and by sequence
   of actions; they last for one decision.
6. `neural/inference.py`: the network itself, for one decision at a time.

Beside them, `moves/listing.py` lists and orders moves, and caches captures and sweeps of tables for all decisions.
`search/solver.py` solves deals in which nothing is hidden. There is no time limit: for one, name `guided(ms=...)`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from krypenv.agents.base import BaseAgent, is_main, name_of
from krypenv.agents.neural.guided import Guided
from krypenv.agents.neural.learned import load_agent
from krypenv.agents.search.rollout import Rollout
from krypenv.agents.search.search import Search
from krypenv.rules import Rules

MODELS = Path(__file__).parent / "models"
SHIPPED = {  # folder in `MODELS` -> the rules that its network plays
    "two": ("krypkasino players=2",),
    "four": ("krypkasino players=4",),
    "pairs": ("krypkasino players=4 teams=2",),
    "tables": (
        "krypkasino players=3", "krypkasino players=5", "krypkasino players=6", "krypkasino players=6 teams=2",
        "krypkasino players=6 teams=3",
    ),
    "howto": ("howto players=2",),
    "sweden": ("kasino-sweden players=2",),
    "overspader": ("overspader players=2",),
    "finland": ("kasino-finland players=2",),
    "finland-pairs": ("kasino-finland players=4 teams=2",),
    "laistokasino": ("laistokasino players=2",),
    "mulle": ("mulle players=2",),
    "glimne": ("mulle-glimne players=2",),
    "glimne-pairs": ("mulle-glimne players=4 teams=2",),
}  # fmt: skip
WORLDS = 100  # played out for a decision
# Worlds sampled for each one played out, weighted by the likelihood of the others' plays: between two, and among more.
PROPOSALS, MORE_PROPOSALS = 4, 8
# Points for each unit of a network's logit, where the default of `Guided` is too much.
PRIORS = {"howto": 0.2}


def shipped_model(rules: Rules) -> Path | None:
    """Find the folder of the package's model for some rules; None if there is none.

    The length of a session doesn't matter.
    """
    game = str(dataclasses.replace(rules, games=1, threshold=None))
    return next((MODELS / name for name, played in SHIPPED.items() if game in played), None)


def label_of(name: str, rules: Rules, cheats: bool = False) -> str:
    """Make the label of an agent for tables: its name, and whether it cheats or has no model.

    >>> label_of("champion", Rules.preset("mini-low"))
    'champion (search: no model for these rules)'
    """
    if name.partition("(")[0] == "champion" and not shipped_model(rules):
        return f"{name} ({_search_for(rules).__name__.lower()}: no model for these rules)"
    return f"{name} (cheats)" if cheats else name


def make_champion(rules: Rules, seed: int = 0, *, worlds: int = WORLDS, threads: int = 1) -> BaseAgent:
    """Make the strongest agent that the package has for some rules.

    If the package has a model for the rules, it is `Guided` with this model. In games like Krypkasino it weights worlds
    by the likelihood of the others' plays, if observations have the history block (`needs_history`). For other rules it
    is `Search` between two sides, and `Rollout` among more.

    Args:
        worlds: worlds played out for a decision; 0 for the network alone. Of proposals there are 4 or 8 times as many.
        threads: threads that share the games of a call, 0 for all processors.

    Raises ValueError if `worlds` is 0 and there is no network for these rules.
    """
    name = name_of("champion", make_champion, locals())
    model = shipped_model(rules)
    player: BaseAgent
    if model and not worlds:
        player = load_agent(rules, seed, model=str(model), threads=threads)
    elif model:
        proposals = PROPOSALS if rules.players == 2 else MORE_PROPOSALS
        if not is_main(rules):
            proposals = 1  # the network takes too long for more
        options = dict[str, Any](worlds=worlds, threads=threads, proposals=proposals, prior=PRIORS.get(model.name))
        player = Guided(rules, seed, model=str(model), **options)
    elif worlds:
        player = _search_for(rules)(rules, seed, worlds=worlds, threads=threads)
    else:
        raise ValueError(f"no network for '{rules}' comes with the package; give the champion some worlds")
    player.name = name
    return player


def _search_for(rules: Rules) -> type[Search] | type[Rollout]:
    return Search if rules.num_teams == 2 else Rollout
