"""A study: a question about good play, asked of agents over many deals, by a script that anyone can write.

study  what every study is, and how it is run
script  the command line of a study
matches  chunks of deals, duplicate matches, one agent watched in every seat
effects  samples as figures, tested together, on two seeds
habits  an agent with one habit changed
known_habits  habits by name
"""

from krypenv.training.evaluation.matches.margins import interval, share_interval
from krypenv.training.lab.effects import effects_in, effects_of, figures_of, replicated
from krypenv.training.lab.habits import (
    Cards,
    Habit,
    WithHabit,
    capturing,
    column,
    creeping,
    network_of,
    playable,
    plays_first,
    plays_only,
    tables_left,
    values_of,
    with_habit,
)
from krypenv.training.lab.known_habits import HABITS
from krypenv.training.lab.matches import (
    Change,
    Round,
    by_deal,
    chunk_tasks,
    compare,
    instead,
    match_tasks,
    play_chunk,
    play_match,
    stream,
    strong_agent,
    watch,
)
from krypenv.training.lab.script import main
from krypenv.training.lab.study import Answer, Setup, Study, run_study
from krypenv.training.runs import Executor, Task

__all__ = [
    "HABITS", "Answer", "Cards", "Change", "Executor", "Habit", "Round", "Setup", "Study", "Task", "WithHabit",
    "by_deal", "capturing", "chunk_tasks", "column", "compare", "creeping", "effects_in", "effects_of", "figures_of",
    "instead", "interval", "main", "match_tasks", "network_of", "play_chunk", "play_match", "playable", "plays_first",
    "plays_only", "replicated", "run_study", "share_interval", "stream", "strong_agent", "tables_left", "values_of",
    "watch", "with_habit",
]  # fmt: skip
