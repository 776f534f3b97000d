"""All use of private names of Stable-Baselines3 and sb3-contrib.

Written for version 2.9.2 of both. `MaskablePPO.train` passes the observations and masks of the buffer's samples to
`evaluate_actions` unchanged, and subtracts from the loss `ent_coef` times the entropy that this returns. `CardPolicy`
and `SeatRolloutBuffer` rely on that. `learn` and its setup are not used.
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
    """Raise ValueError with one sentence unless the packages have versions that this module supports."""
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
    """A policy that makes its own networks, with an optimizer for their trainable weights."""

    def make_networks(self) -> None:
        """Make all networks."""
        raise NotImplementedError

    def own_settings(self) -> dict[str, Any]:
        """Return the constructor's arguments besides those of all policies."""
        raise NotImplementedError

    def _build(self, lr_schedule: Schedule) -> None:
        self.make_networks()
        trained = [weights for weights in self.parameters() if weights.requires_grad]
        self.optimizer = self.optimizer_class(trained, **{"lr": lr_schedule(1), **self.optimizer_kwargs})

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), **self.own_settings()}


class OwnLoop(MaskablePPO):
    """MaskablePPO with a custom training loop, which fills the buffer and calls `train`.

    `rows` is the number of rows in the buffer, whatever the environment has.
    """

    def __init__(self, policy: type[OwnPolicy], env: Any, rows: int, **settings: Any) -> None:
        super().__init__(policy, env, _init_setup_model=False, **settings)
        self.n_envs = rows
        self._setup_model()

    def set_done(self, done: float) -> None:
        """Set the part of the training that is over, 0 to 1, for the schedules."""
        self._current_progress_remaining = 1 - done

    @property
    def passes(self) -> int:
        """How many times `train` has passed over the buffer."""
        return self._n_updates

    @passes.setter
    def passes(self, passes: int) -> None:
        self._n_updates = passes

    def collect_rollouts(self, *arguments: Any, **settings: Any) -> bool:
        """Raise NotImplementedError: `learn` would bypass the custom loop."""
        raise NotImplementedError("this learner has its own training loop; don't call learn()")
