from . import (
    data as data,
    evaluation as evaluation,
    exploiting as exploiting,
    lab as lab,
    runs as runs,
    solving as solving,
)
from .evaluation.analysis.analysis import (
    PositionAnalysis as PositionAnalysis,
    RecordAnalysis as RecordAnalysis,
    analyze as analyze,
    analyze_position as analyze_position,
    measures_by as measures_by,
)
from .evaluation.analysis.picture import draw_position as draw_position, draw_record as draw_record
from .evaluation.arena.arena import (
    ArenaSettings as ArenaSettings,
    Games as Games,
    load_games as load_games,
    run_arena as run_arena,
)
from .evaluation.arena.standings import (
    Payoffs as Payoffs,
    Standing as Standing,
    Standings as Standings,
    print_standings as print_standings,
    standings as standings,
)
from .evaluation.matches.deal_lists import deal_seeds as deal_seeds
from .evaluation.matches.duplicate import (
    MatchResult as MatchResult,
    Points as Points,
    duplicate_match as duplicate_match,
    evaluate as evaluate,
    print_matches as print_matches,
)
from .evaluation.matches.margins import Adjusted as Adjusted
from .evaluation.score.board import make_board as make_board, print_score as print_score
from .evaluation.score.playing import (
    ScoreSettings as ScoreSettings,
    check_score as check_score,
    score_agent as score_agent,
)
from .evaluation.score.protocol import Score as Score, read_score as read_score
from .exploiting import ExploitResult as ExploitResult, ExploitSettings as ExploitSettings, exploit as exploit
from .learn.policy import CardPolicy as CardPolicy
from .learn.run import train as train
from .learn.settings import TrainSettings as TrainSettings
from .solving import solve as solve
