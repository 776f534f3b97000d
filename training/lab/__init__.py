"""A study: a question about good play, asked of agents over many deals, by a script that anyone can write.

studying  what every study is, and the runner
script  the command line of a study
chunks  chunks of deals, duplicate matches, one agent in every seat
habits  an agent with one habit changed
known_habits  habits by name
strong_positions  positions from strong play, with every card played out
comparison  studies of changed players against themselves
rulesets  rule sets compared on the same footing
self_play  a network that learns by self-play
replication  effects that two answers measure, tested together
intervals  samples as tables, figures and words
"""

from krypenv.training.evaluation.matches.margins import interval, share_interval
from krypenv.training.lab.chunks import (
    Change,
    Match,
    Round,
    by_deal,
    chunk_tasks,
    instead,
    match_tasks,
    play_chunk,
    play_match,
    stream,
    strong_agent,
    watch,
)
from krypenv.training.lab.habits import (
    Habit,
    WithHabit,
    capturing,
    cards_left,
    column,
    creeping,
    first_of,
    is_network,
    network_of,
    only_plays,
    tables_left,
    values_of,
    with_habit,
)
from krypenv.training.lab.intervals import bars, effects_of, figures_of, intervals_in, rows_of
from krypenv.training.lab.known_habits import HABITS
from krypenv.training.lab.replication import effects_in, replicated
from krypenv.training.lab.script import main
from krypenv.training.lab.studying import Answer, Setup, Study, Task, run_study

__all__ = [
    "HABITS",
    "Answer",
    "Change",
    "Habit",
    "Match",
    "Round",
    "Setup",
    "Study",
    "Task",
    "WithHabit",
    "bars",
    "by_deal",
    "capturing",
    "cards_left",
    "chunk_tasks",
    "column",
    "creeping",
    "effects_in",
    "effects_of",
    "figures_of",
    "first_of",
    "instead",
    "interval",
    "intervals_in",
    "is_network",
    "main",
    "match_tasks",
    "network_of",
    "only_plays",
    "play_chunk",
    "play_match",
    "replicated",
    "rows_of",
    "run_study",
    "share_interval",
    "stream",
    "strong_agent",
    "tables_left",
    "values_of",
    "watch",
    "with_habit",
]
