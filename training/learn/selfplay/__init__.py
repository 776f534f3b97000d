"""Self-play: from settings to a trained model.

settings           the settings of a run
selfplay           a run
rehearsal          compiling before its clock starts
checkpoint         its state on disk
league             who plays against the learner
metagame           its snapshots against each other
curve              its learning curve, as a picture
model_card         how its model was made and how strong it is
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.learn.selfplay.selfplay import TrainingRun, open_training, train
    from krypenv.training.learn.selfplay.settings import Settings
else:
    __getattr__, __dir__ = importer(
        __name__,
        {
            "selfplay": ("TrainingRun", "open_training", "train"),
            "settings": ("Settings",),
        },
    )

__all__ = ["Settings", "TrainingRun", "open_training", "train"]
