"""Agents that play with a network, without torch.

action_features   what the network sees of each action
move_features     those of all games but Krypkasino and its like
network           its sizes and layers
inference         its forward pass, as kernels
weights           its arrays by name
model_file        models on disk
learned           plays the network's choices
guided            Monte Carlo with the network at every seat
belief            how likely hands are after what the others have played in the deal
playouts          the network at every seat to the end of a deal, and what the worlds of a decision share
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.agents.neural.guided import Guided
    from krypenv.agents.neural.learned import LearnedAgent, load_agent
    from krypenv.agents.neural.model_file import ModelError, load_model, save_model
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "guided": ("Guided",),
            "learned": (
                "LearnedAgent",
                "load_agent",
            ),
            "model_file": (
                "ModelError",
                "load_model",
                "save_model",
            ),
        },
    )

__all__ = ["Guided", "LearnedAgent", "ModelError", "load_agent", "load_model", "save_model"]
