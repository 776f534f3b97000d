"""What studies share: a player with one thing changed, positions from strong play, and the runner.

studying  what every study is, and the runner
chunks  chunks of deals, duplicate matches, one agent in every seat
habits  an agent with one habit changed
strong_positions  positions from strong play, with every card played out
comparison  studies of changed players against themselves
rulesets  rule sets compared on the same footing
self_play  a network that learns by self-play
replication  effects that two answers measure, tested together
intervals  samples as tables, figures and words
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.lab.studying import Answer, Setup, Study, Task, run_study
else:
    __getattr__, __dir__ = importer(__name__, {"studying": ("Answer", "Setup", "Study", "Task", "run_study")})

__all__ = ["Answer", "Setup", "Study", "Task", "run_study"]
