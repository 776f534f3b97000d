"""Analysis: what each legal move of a position is expected to bring, and what the moves of a played game gave away."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent, format_spec, parse_spec
from krypenv.game.game import Game
from krypenv.game.history import bits
from krypenv.inputs.words import shown
from krypenv.kernels.state import allocate
from krypenv.rules import Rules
from krypenv.training.analysis.sweeps import sample_worlds, sweep_chances
from krypenv.training.common import bounds
from krypenv.training.evaluation.matches import Progress, confidence_interval, make_player

WORLDS = 200  # worlds of an analysis, unless told otherwise
SYMBOLS = ("?!", "?", "??")  # inaccuracy, mistake, blunder
TIE = 1e-9  # margins nearer than this are equal


class Marks(NamedTuple):
    """How many points of margin a move must lie behind the best one to be marked."""

    inaccuracy: float = 1.0  # ?!
    mistake: float = 3.0  # ?
    blunder: float = 6.0  # ??


@dataclass(frozen=True)
class Estimate:
    """A mean over worlds and its 95% interval (Student's t); None for both ends where nothing is hidden: one world."""

    mean: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, samples: npt.NDArray[np.float64]) -> Estimate:
        """Return the estimate from one figure a world, (worlds,) float64."""
        mean, low, high = confidence_interval(samples)
        return cls(mean, low, high) if len(samples) > 1 else cls(mean, None, None)

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.high is None else self.high - self.mean

    @property
    def is_above_zero(self) -> bool:
        """Whether it is above zero, and all of its interval too."""
        return self.mean > TIE and (self.low is None or self.low > 0)


@dataclass(frozen=True)
class MoveValue:
    """What one legal move is expected to bring to the side of the seat that makes it."""

    move: str  # as records write it
    margin: Estimate  # of the whole game, what was made so far included
    behind: Estimate  # how much less that is than the best move's, world by world; 0 for the best
    sweeps: int  # own sweeps that the move makes: 0, 1 or 2
    sets_up: float  # chance that the next seat must sweep what the move leaves
    risks: float  # chance that the own seat must sweep at its next turn, if the others play like the tactician


@dataclass(frozen=True)
class Decision:
    """The legal moves of a seat, best first, and what the seat sees."""

    seat: int
    deal: int
    so_far: float  # margin of its side by what is scored already
    hand: tuple[str, ...]
    table: tuple[str, ...]
    pending: str | None  # the card whose capture is being chosen
    worlds: int  # that the margins are means of; 1 where nothing is hidden
    moves: tuple[MoveValue, ...]

    @property
    def best(self) -> MoveValue:
        """The move with the highest margin."""
        return self.moves[0]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class PositionAnalysis(Decision):
    """The analysis of one position."""

    rules: str
    agent: str
    open_hands: bool  # the agent was shown all hands: cheating
    seed: int


@dataclass(frozen=True)
class Play(Decision):
    """A move of a played game among those that were legal."""

    number: int  # of the move in the game, 1 for the first
    played: MoveValue
    mark: str  # one of SYMBOLS, or nothing

    @property
    def had_choice(self) -> bool:
        """Whether another move was legal."""
        return len(self.moves) > 1

    @property
    def regret(self) -> float:
        """How much less the move is expected to bring than the best one, in points of margin."""
        return self.played.behind.mean


@dataclass(frozen=True)
class SeatSummary:
    """How a seat played, over its decisions with more than one legal move; a mean of none is None."""

    seat: int
    plays: int
    decisions: int
    best_rate: float | None  # share of the decisions in which no move was expected to be better
    mean_regret: float | None
    total_regret: float
    inaccuracies: int
    mistakes: int
    blunders: int


@dataclass(frozen=True)
class RecordAnalysis:
    """The analysis of a game's moves, or of those of one seat."""

    rules: str
    agent: str
    open_hands: bool  # the agent was shown all hands: cheating
    seed: int
    marks: Marks
    is_over: bool
    scores: tuple[int, ...]  # by seat, so far or final
    plays: tuple[Play, ...]
    seats: tuple[SeatSummary, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return dataclasses.asdict(self) | {"marks": self.marks._asdict()}


def analyze_position(
    game: Game,
    agent: Agent | str | None = None,
    worlds: int | None = None,
    seed: int = 0,
    open_hands: bool = False,
) -> PositionAnalysis:
    """Return what each legal move of the seat to act is expected to bring, best first.

    An agent examines what the seat sees in many worlds: deals of the unseen cards that agree with it. Whatever else
    lies in the game plays no part, unless `open_hands` shows all hands, which is cheating and is said in the result.

    Args:
        game: a game that is not over.
        agent: an agent with a method `examine`, as an object or by its string; "search" if none is given, and
            "oracle-hand" with `open_hands`.
        worlds: how many, 2 at least; if not given, what the agent's string says, or 200.
        seed: the same seed gives the same figures.
        open_hands: show the agent all hands.

    Raises ValueError for a game that is over, less than two worlds, an unknown agent, one that can't analyse, and one
    made for other rules.

    >>> game = Game.from_position("rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest")
    >>> [(value.move, value.margin.mean) for value in analyze_position(game).moves]
    [('2C', 52.0), ('3C', 40.0)]
    """
    if game.is_over:
        raise ValueError("the game is over, so there is no move to analyse")
    bounds.check("seed", seed, bounds.SEED)
    agent, worlds = _choose_agent(agent, game.rules, worlds, open_hands)
    player = make_player(agent, game.rules, seed)
    decision = _decide(game, player, worlds, seed, open_hands)
    return PositionAnalysis(
        **vars(decision), rules=str(game.rules), agent=player.name, open_hands=open_hands, seed=seed
    )


def analyze_record(
    game: Game,
    agent: Agent | str | None = None,
    worlds: int | None = None,
    seed: int = 0,
    open_hands: bool = False,
    seat: int | None = None,
    marks: Marks = Marks(),  # noqa: B008  # immutable
    progress: Progress | None = None,
) -> RecordAnalysis:
    """Return what the moves of a game, to its end or to where it stands, gave away, for all seats or for one.

    Each move is analysed as `analyze_position` does it, with the same seed. It is marked where it lies behind the best
    one by so many points, and the interval of the difference excludes zero.

    Raises ValueError as `analyze_position` does, and for a game without moves of the seat, a seat that there is not,
    and marks that do not rise. `progress` is called with the moves done and with all moves.
    """
    players = range(game.rules.players)
    if seat is not None and seat not in players:
        raise ValueError(f"there is no seat {shown(seat)}; the seats are 0 to {game.rules.players - 1}")
    check_marks(marks)
    bounds.check("seed", seed, bounds.SEED)
    agent, worlds = _choose_agent(agent, game.rules, worlds, open_hands)
    twin, moves, plays, name = game.rewound(), game.moves, [], ""
    for number, move in enumerate(moves, start=1):
        if seat in (None, twin.turn):
            player = make_player(agent, game.rules, seed)
            name = player.name
            decision = _decide(twin, player, worlds, seed, open_hands)
            played = next(value for value in decision.moves if value.move == str(move))
            plays.append(Play(**vars(decision), number=number, played=played, mark=_mark(played.behind, marks)))
        twin.push(move)
        if progress:
            progress(number, len(moves))
    if not plays:
        raise ValueError(f"there is no move{'' if seat is None else f' of seat {seat}'} to analyse in this game")
    return RecordAnalysis(
        rules=str(game.rules),
        agent=name,
        open_hands=open_hands,
        seed=seed,
        marks=marks,
        is_over=game.is_over,
        scores=tuple(game.scores()),
        plays=tuple(plays),
        seats=tuple(_sum_up(each, plays) for each in players if seat in (None, each)),
    )


def check_marks(marks: Marks) -> Marks:
    """Return marks; raises ValueError unless they are three numbers of points that rise from above 0."""
    for name, points in zip(Marks._fields, marks, strict=True):
        if isinstance(points, (int, float)) and not points <= 0:
            bounds.check(name, points, bounds.POINTS)
    if not 0 < marks.inaccuracy <= marks.mistake <= marks.blunder:
        raise ValueError(f"the marks begin at three numbers of points that rise from above 0, not at {tuple(marks)}")
    return marks


def _choose_agent(
    agent: Agent | str | None, rules: Rules, worlds: int | None, open_hands: bool
) -> tuple[Agent | str, int]:
    """Return an agent that can analyse, its string with the number of worlds, and that number."""
    chosen = ("oracle-hand" if open_hands else "search") if agent is None else agent
    player = make_player(chosen, rules, 0)
    method = "examine_on" if open_hands else "examine"
    if not hasattr(player, method):
        able = [name for name in agents.names() if hasattr(agents.make(name, rules), method)]
        what = "with all hands open" if open_hands else "what a seat sees"
        raise ValueError(f"{player.name} can't analyse {what}; of the agents with a name {', '.join(able)} can")
    if isinstance(chosen, str) and not open_hands:
        name, options = parse_spec(chosen)
        worlds = options.get("worlds", WORLDS) if worlds is None else worlds
        chosen = format_spec(name, options | {"worlds": worlds})
    worlds = WORLDS if worlds is None else worlds
    if isinstance(worlds, int) and worlds < 2:
        raise ValueError(f"an analysis needs two worlds at least, for there is no interval from {shown(worlds)}")
    bounds.check("worlds", worlds, bounds.WORLDS)
    return chosen, worlds


def _decide(game: Game, player: Any, worlds: int, seed: int, open_hands: bool) -> Decision:
    """Return the moves of the seat to act with their values."""
    if open_hands:
        state = allocate(1)
        state[0] = game.state
        listed, margins = player.examine_on(state)
    else:
        listed, margins = player.examine(game.observation(), game.action_mask())
    legal = {move.kinds()[:2]: move for move in game.legal_moves()}
    moves = [
        legal[int(row["card"]), tuple(sorted([*bits(int(row["once"])), *bits(int(row["twice"]))]))] for row in listed
    ]
    chances = sweep_chances(game, moves, sample_worlds(game, worlds, seed, open_hands), seed)
    means = margins.mean(axis=0)
    order = np.argsort(-means, kind="stable").tolist()
    behind = margins[:, order[:1]] - margins
    return Decision(
        seat=game.turn,
        deal=game.deal_number,
        so_far=margin_so_far(game, game.turn),
        hand=tuple(game.hand(game.turn)),
        table=tuple(game.table),
        pending=game.pending,
        worlds=len(margins),
        moves=tuple(
            MoveValue(
                str(moves[at]), Estimate.of(margins[:, at]), Estimate.of(behind[:, at]), moves[at].sweep, *chances[at]
            )
            for at in order
        ),
    )


def margin_so_far(game: Game, seat: int) -> float:
    """Return the margin of a seat's side by the scores of the game so far (R14, R16)."""
    scores, sides = game.scores(), game.rules.num_teams
    own = sum(scores[seat % sides :: sides])
    return (sum(scores) - own) / (sides - 1) - own


def _mark(behind: Estimate, marks: Marks) -> str:
    if not behind.is_above_zero:
        return ""
    reached = [symbol for symbol, least in zip(SYMBOLS, marks, strict=True) if behind.mean >= least]
    return reached[-1] if reached else ""


def _sum_up(seat: int, plays: Sequence[Play]) -> SeatSummary:
    own = [play for play in plays if play.seat == seat]
    regrets = [play.regret for play in own if play.had_choice]
    counts = [sum(play.mark == symbol for play in own) for symbol in SYMBOLS]
    return SeatSummary(
        seat,
        len(own),
        len(regrets),
        float(np.mean([regret <= TIE for regret in regrets])) if regrets else None,
        float(np.mean(regrets)) if regrets else None,
        sum(regrets),
        *counts,
    )
