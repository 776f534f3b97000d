"""Agents that look ahead, in worlds drawn from what they see.

sampling  worlds that agree with an observation
sampler   what agents that draw worlds have in common
space     the memory of a search, allocated once
tree      open hands, looked through
solve     the last deal, solved
horizon   what the end of a deal is worth
search    open-hand search in each world
rollout   each move played out in each world
ismcts    one tree for all worlds
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.agents.search.ismcts import Ismcts
    from krypenv.agents.search.rollout import Rollout
    from krypenv.agents.search.search import Search
else:
    __getattr__ = importer(
        __name__,
        {
            "ismcts": ("Ismcts",),
            "rollout": ("Rollout",),
            "search": ("Search",),
        },
    )

__all__ = ["Ismcts", "Rollout", "Search"]
