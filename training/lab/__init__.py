"""A study: a question about good play, asked of agents over many deals, by a script that anyone can write.

study    what every study is, how it is run, and its command line
matches  chunks of deals, duplicate matches, one agent watched in every seat
effects  samples as figures, tested together, on two seeds
habits   an agent with one habit changed
"""

from krypenv.training.evaluation.matches.margins import interval, share_interval
from krypenv.training.lab.effects import effects_of, figures_of, replicated
from krypenv.training.lab.habits import Habit, capturing, column, creeping, plays_first, plays_only, with_habit
from krypenv.training.lab.matches import (
    Change,
    by_deal,
    chunk_tasks,
    compare,
    instead,
    match_tasks,
    play_chunk,
    play_match,
    stream,
    watch,
)
from krypenv.training.lab.study import Answer, Setup, Study, main, run_study, strong_agent
from krypenv.training.runs import Task

__all__ = [
    "Answer", "Change", "Habit", "Setup", "Study", "Task", "by_deal", "capturing", "chunk_tasks", "column", "compare",
    "creeping", "effects_of", "figures_of", "instead", "interval", "main", "match_tasks", "play_chunk", "play_match",
    "plays_first", "plays_only", "replicated", "run_study", "share_interval", "stream", "strong_agent", "watch",
    "with_habit",
]  # fmt: skip
