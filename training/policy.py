"""The policy that learns: `krypenv.training.learner.policy`."""

from krypenv.training.learner.policy import (
    CardPolicy as CardPolicy,
)
