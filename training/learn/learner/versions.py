"""The versions of Stable-Baselines3 and sb3-contrib that the learner subclasses."""

from __future__ import annotations

import sb3_contrib
import stable_baselines3
from packaging.version import Version

FIRST, TOO_NEW = Version("2.9.2"), Version("3")


def check_versions(versions: dict[str, str]) -> None:
    """Raise ValueError with one sentence unless the packages have versions that the learner is written for."""
    for package, version in versions.items():
        if not FIRST <= Version(version) < TOO_NEW:
            raise ValueError(
                f"training is written for {package} from {FIRST} on and below {TOO_NEW}, not {version}; "
                "install the version that constraints.txt pins"
            )


check_versions({"stable-baselines3": stable_baselines3.__version__, "sb3-contrib": sb3_contrib.__version__})
