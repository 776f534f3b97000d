from .effects import (
    effects_of as effects_of,
    figures_of as figures_of,
    interval as interval,
    replicated as replicated,
)
from .habits import (
    Habit as Habit,
    column as column,
    creeping as creeping,
    plays_first as plays_first,
    plays_only as plays_only,
    with_habit as with_habit,
)
from .matches import (
    Change as Change,
    by_deal as by_deal,
    chunk_tasks as chunk_tasks,
    compare as compare,
    instead as instead,
    match_tasks as match_tasks,
    play_chunk as play_chunk,
    play_match as play_match,
    seed_of as seed_of,
    watch as watch,
)
from .study import (
    Answer as Answer,
    Setup as Setup,
    Study as Study,
    Task as Task,
    main as main,
    run_study as run_study,
    strong_agent as strong_agent,
)
