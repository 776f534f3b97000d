"""What the learner needs of the insides of Stable-Baselines3 and sb3-contrib: their private names stand here alone.

Read from version 2.9.2 of both. `MaskablePPO.train` hands the observations and masks of the buffer's samples to
`evaluate_actions` as they are, and adds `ent_coef` times what that gives as entropy to the loss: `CardPolicy` and
`SeatRolloutBuffer` build on it. Of `learn` and its preparations nothing is used.
"""

from __future__ import annotations

import re
from typing import Any

import sb3_contrib
import stable_baselines3
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule

READ, TOO_NEW = "2.9.2", "3"
_PRIVATE = {MaskablePPO: ["_setup_model"], MaskableActorCriticPolicy: ["_build", "_get_constructor_parameters"]}


def check_versions(versions: dict[str, str]) -> None:
    """Raise ValueError with one sentence unless packages are of versions that this file fits."""
    for package, version in versions.items():
        if not _numbers(READ) <= _numbers(version) < _numbers(TOO_NEW):
            raise ValueError(
                f"training is written for {package} from {READ} on and below {TOO_NEW}, not {version}; "
                "install the version that constraints.txt pins"
            )
    for kind, names in _PRIVATE.items():
        for name in names:
            if not hasattr(kind, name):
                raise ValueError(
                    f"training is written for {kind.__name__} of sb3-contrib {READ}, and the one installed has no "
                    f"{name}; install the version that constraints.txt pins"
                )


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


check_versions({"stable-baselines3": stable_baselines3.__version__, "sb3-contrib": sb3_contrib.__version__})


class OwnPolicy(MaskableActorCriticPolicy):
    """A policy that makes its networks itself, with an optimizer for those of their weights that are trained."""

    def make_networks(self) -> None:
        """Make all networks."""
        raise NotImplementedError

    def own_settings(self) -> dict[str, Any]:
        """Return what the constructor was given besides what all policies are."""
        raise NotImplementedError

    def _build(self, lr_schedule: Schedule) -> None:
        self.make_networks()
        trained = [weights for weights in self.parameters() if weights.requires_grad]
        self.optimizer = self.optimizer_class(trained, **{"lr": lr_schedule(1), **self.optimizer_kwargs})

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), **self.own_settings()}


class OwnLoop(MaskablePPO):
    """MaskablePPO whose buffer is filled, and whose `train` is called, by a loop of one's own.

    `rows` is what the buffer has of them, whatever the environment has.
    """

    def __init__(self, policy: type[OwnPolicy], env: Any, rows: int, **settings: Any) -> None:
        super().__init__(policy, env, _init_setup_model=False, **settings)
        self.n_envs = rows
        self._setup_model()

    def set_done(self, done: float) -> None:
        """Say which part of the training is over, 0 to 1, for what falls with it."""
        self._current_progress_remaining = 1 - done

    @property
    def passes(self) -> int:
        """How many times `train` has passed over the buffer."""
        return self._n_updates

    @passes.setter
    def passes(self, passes: int) -> None:
        self._n_updates = passes

    def collect_rollouts(self, *arguments: Any, **settings: Any) -> bool:
        """Do nothing but refuse: `learn` would play without the loop."""
        raise NotImplementedError("this learner is trained by a loop of its own; call no learn()")
