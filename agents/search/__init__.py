"""Agents that look ahead, in worlds sampled from what they see.

sampling   a decision by sampled worlds: its candidates, worlds (determinizations) that agree, the loop
sampler    the base of agents that sample worlds
solver     the open-hand solver: deals in which every hand is known
horizon    leaf values at the end of a deal
search     PIMC: perfect-information Monte Carlo
rollout    flat Monte Carlo
ismcts     information-set Monte Carlo tree search
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.agents.search.ismcts import Ismcts
    from krypenv.agents.search.rollout import Rollout
    from krypenv.agents.search.search import Search
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "ismcts": ("Ismcts",),
            "rollout": ("Rollout",),
            "search": ("Search",),
        },
    )

__all__ = ["Ismcts", "Rollout", "Search"]
