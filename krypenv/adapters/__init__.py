"""The games of one learner in the forms that other libraries expect, and policies as agents; the engine has the rules.

gym      one seat's game as a Gymnasium environment: `KrypkasinoEnv`, `KasinoEnv` and `MulleEnv`
vector   many games as one Gymnasium environment
policy   a function from observations and masks as an agent: `PolicyFunction`
sb3      for Stable-Baselines3 and sb3-contrib: `KrypkasinoVecEnv` and `PolicyAgent`
rllib    for RLlib: `KrypenvMultiAgentEnv`, `MaskedModule`, `Evaluation` and `League`
torchrl  for TorchRL: `KrypenvEnv`
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.adapters.policy import PolicyFunction
else:
    __getattr__, __dir__ = importer(__name__, {"policy": ("PolicyFunction",)})

__all__ = ["PolicyFunction"]
