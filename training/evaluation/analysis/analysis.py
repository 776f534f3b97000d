"""Analysis: the expected margin of each legal move in a position, and the regret of each move of a recorded game."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from krypenv import agents
from krypenv.advice.estimates import TIE
from krypenv.advice.values import MoveValue, values_of
from krypenv.agents import Agent, format_spec, parse_spec
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.envs.text_game import Measures
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.inputs.words import shown
from krypenv.rewards import seat_margins
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.game_luck import GameLuck, luck_of_game
from krypenv.training.evaluation.matches.players import make_player
from krypenv.training.runs import Progress
from krypenv.training.settings.base import check_number
from krypenv.training.settings.groups import LARGEST_SEED

WORLDS = 200  # default number of worlds
JUDGE, REDEALS = "search(worlds=30)", 40  # of rewards, which are many
SYMBOLS = ("?!", "?", "??")  # inaccuracy, mistake, blunder
MARKS = (1.0, 3.0, 6.0)  # points behind the best move from which a move gets each of them


@dataclass(frozen=True)
class Decision:
    """The legal moves of a seat, or those examined, best first, and the cards that the seat sees."""

    seat: int
    deal: int
    so_far: float  #: margin of its side from the points scored so far
    hand: tuple[str, ...]
    table: tuple[str, ...]
    pending: str | None  #: the card whose capture is being chosen
    worlds: int  #: number of worlds behind each margin; 1 if nothing is hidden
    legal: int | None  #: number of legal moves; None for more than `krypenv.game.game.MOST_MOVES`
    was_cut: bool  #: whether a move that was not examined might be better than all of `moves`
    moves: tuple[MoveValue, ...]

    @property
    def best(self) -> MoveValue:
        """The move with the highest margin."""
        return self.moves[0]

    def to_json(self) -> dict[str, Any]:
        """Convert the figures to plain JSON values."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class PositionAnalysis(Decision):
    """The analysis of one position."""

    rules: str
    agent: str
    open_hands: bool  #: the agent was shown all hands, which is cheating
    seed: int


@dataclass(frozen=True)
class RecordedMove(Decision):
    """A move of a recorded game, compared with the legal ones."""

    number: int  #: the number of the move in the game, 1 for the first
    played: MoveValue
    mark: str  #: one of SYMBOLS, or empty

    @property
    def had_choice(self) -> bool:
        """Whether more than one move was legal."""
        return len(self.moves) > 1

    @property
    def regret(self) -> float:
        """The expected margin of the best move minus that of the move played, in points."""
        return self.played.behind.mean


@dataclass(frozen=True)
class SeatSummary:
    """A seat's regret over its decisions with more than one legal move; means without decisions are None."""

    seat: int
    plays: int
    decisions: int
    best_rate: float | None  #: share of decisions in which no move had a higher expected margin
    mean_regret: float | None
    total_regret: float
    inaccuracies: int
    mistakes: int
    blunders: int


@dataclass(frozen=True)
class RecordAnalysis:
    """The analysis of all moves of a game, or of the moves of one seat."""

    rules: str
    agent: str
    open_hands: bool  #: the agent was shown all hands, which is cheating
    seed: int
    marks: tuple[float, ...]  #: points behind the best move from which a move got each of SYMBOLS
    is_over: bool
    scores: tuple[int, ...]  #: by seat, so far or final
    plays: tuple[RecordedMove, ...]
    seats: tuple[SeatSummary, ...]
    luck: GameLuck = dataclasses.field(compare=False)  #: of the finished deals, for all sides; derived from the game

    def to_json(self) -> dict[str, Any]:
        """Convert the figures to plain JSON values."""
        return dataclasses.asdict(self) | {"luck": self.luck.to_json()}


def analyze_position(
    game: Game,
    agent: Agent | str | None = None,
    worlds: int | None = None,
    seed: int = 0,
    open_hands: bool = False,
) -> PositionAnalysis:
    """Estimate the results of each legal move of the seat to act, best first.

    Where captures are optional, captures that are no better than another are left out. Of very many, only those that
    win most at once are kept (`Decision.legal`, `Decision.was_cut`).

    An agent evaluates the moves in many worlds: deals of the unseen cards that are consistent with what the seat sees.
    Nothing else of the game is used, unless `open_hands` shows the agent all hands, which is cheating and is noted in
    the result.

    Args:
        game: a game that is not over.
        agent: an agent with a method `examine`, as an object or a string, or a model's folder, whose network guides
            the playouts of `guided`; by default "search", or "oracle-hand" with `open_hands`.
        worlds: number of worlds, at least 2; by default that of the agent's string, or 200.
        seed: the same seed gives the same figures.
        open_hands: show the agent all hands.

    Raises ValueError for a game that is over, fewer than two worlds, an unknown agent, an agent that can't analyse, or
    one made for other rules.

    >>> game = Game.from_position("rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest")
    >>> [(value.move, value.margin.mean) for value in analyze_position(game).moves]
    [('2C', 52.0), ('3C', 42.0)]
    """
    if game.is_over:
        raise ValueError("the game is over, so there is no move to analyse")
    judge = Judge.of(game.rules, agent, worlds, seed, open_hands)
    return PositionAnalysis(
        **judge.decide(game), rules=str(game.rules), agent=judge.name, open_hands=open_hands, seed=seed
    )


def analyze(
    game: Game,
    agent: Agent | str | None = None,
    worlds: int | None = None,
    seed: int = 0,
    open_hands: bool = False,
    seat: int | None = None,
    marks: Sequence[float] = MARKS,
    progress: Progress | None = None,
) -> RecordAnalysis:
    """Estimate the regret of each move made so far in a game, for all seats or for one, and the luck of its deals.

    Each move is analysed as in `analyze_position`, with the same seed. It is marked if it is enough points behind the
    best move (`marks`) and the interval of the difference excludes zero.

    `progress` is called with the number of moves done and of all moves. Raises ValueError as `analyze_position` does,
    and for a game without moves of the seat, an unknown seat, or marks that do not rise.
    """
    if len(marks) != len(SYMBOLS) or list(marks) != sorted(marks) or marks[0] <= 0:
        raise ValueError(f"the marks are three rising numbers of points above 0, not {shown(marks)}")
    players = range(game.rules.players)
    if seat is not None and seat not in players:
        raise ValueError(f"there is no seat {shown(seat)}; the seats are 0 to {game.rules.players - 1}")
    judge = Judge.of(game.rules, agent, worlds, seed, open_hands)
    twin, moves, plays = game.rewound(), game.moves, []
    for number, move in enumerate(moves, start=1):
        if seat in (None, twin.turn):
            plays.append(judge.record(twin, move, marks))
        twin.push(move)
        if progress:
            progress(number, len(moves))
    if not plays:
        raise ValueError(f"there is no move{'' if seat is None else f' of seat {seat}'} to analyse in this game")
    return RecordAnalysis(
        str(game.rules), judge.name, open_hands, seed, tuple(marks), game.is_over, tuple(game.scores()), tuple(plays),
        seats=tuple(_sum_up(player, plays) for player in players if seat in (None, player)),
        luck=luck_of_game(game),
    )  # fmt: skip


class Judge(NamedTuple):
    """An agent that values moves, made again for each decision, so that decisions don't depend on earlier ones."""

    agent: Agent | str
    name: str  # as tables show it
    worlds: int
    seed: int
    open_hands: bool

    @classmethod
    def of(
        cls, rules: Rules, agent: Agent | str | None, worlds: int | None = None, seed: int = 0, open_hands: bool = False
    ) -> Judge:
        """Choose an agent that can analyse, and the number of worlds, which is also an option in an agent's string.

        Raises ValueError as `analyze_position` does.
        """
        check_number("seed", seed, 0, LARGEST_SEED)
        chosen = ("oracle-hand" if open_hands else "search") if agent is None else agent
        player = make_player(chosen, rules, 0)
        if isinstance(chosen, str) and isinstance(player, LearnedAgent):  # a network alone values no moves
            chosen = format_spec("guided", {"model": player.models[0]})
            player = make_player(chosen, rules, 0)
        method = "examine_on" if open_hands else "examine"
        if not hasattr(player, method):
            able = [name for name in agents.names() if hasattr(agents.make(name, rules), method)]
            knowledge = "with all hands open" if open_hands else "what a seat sees"
            raise ValueError(
                f"{player.name} can't analyse {knowledge}; of the agents with a name {', '.join(able)} can"
            )
        if isinstance(chosen, str) and not open_hands:
            name, options = parse_spec(chosen)
            worlds = options.get("worlds", WORLDS) if worlds is None else worlds
            chosen = format_spec(name, options | {"worlds": worlds})
        worlds = WORLDS if worlds is None else worlds
        check_number("worlds", worlds, 2, 10_000)  # a single one gives no interval
        return cls(chosen, agents.label_of(make_player(chosen, rules, seed).name, rules), worlds, seed, open_hands)

    def decide(self, game: Game, played: Move | None = None) -> dict[str, Any]:
        """Compute the fields of the `Decision` of the seat to act; its moves include `played`."""
        player = make_player(self.agent, game.rules, self.seed)
        evaluation = values_of(game, player, self.worlds, self.seed, self.open_hands, played)
        legal = None
        with contextlib.suppress(ValueError):  # raised for more than `Game.legal_moves` lists
            legal = len(game.legal_moves())
        return {
            "seat": game.turn,
            "deal": game.deal_number,
            "so_far": float(seat_margins(game.rules, game.scores())[game.turn]),  # without majorities
            "hand": tuple(game.hand(game.turn)),
            "table": tuple(game.table),
            "pending": game.pending,
            "worlds": evaluation.worlds,
            "legal": legal,
            "was_cut": evaluation.was_cut,
            "moves": evaluation.values,
        }

    def record(self, game: Game, move: Move, marks: Sequence[float] = MARKS) -> RecordedMove:
        """Compare a move of a game with the legal ones."""
        decision = self.decide(game, move)
        played = next(value for value in decision["moves"] if value.move == str(move))
        reached = [symbol for symbol, least in zip(SYMBOLS, marks, strict=True) if played.behind.mean >= least]
        mark = reached[-1] if reached and played.behind.is_above_zero else ""
        return RecordedMove(**decision, number=len(game.moves) + 1, played=played, mark=mark)


def _sum_up(seat: int, plays: Sequence[RecordedMove]) -> SeatSummary:
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


@lru_cache(maxsize=16)  # which all episodes share
def measures_by(judge: str = JUDGE, redeals: int = REDEALS) -> Measures:
    """Make the measures of `krypenv.envs.text_game.TextGame`: the regret of each move, and the luck of a game.

    Args:
        judge: the agent whose values of moves give the regret of each, as in `analyze`.
        redeals: deals with which the luck of each deal is measured.

    >>> from krypenv.envs.text_game import Terms, TextGame
    >>> text = TextGame(Terms("mini-low", opponents="random", reward="regret", judge="search(worlds=4)"), 7)
    >>> text.answer(str(text.game.legal_moves()[0])).reward <= 0
    True
    """
    judge_of = lru_cache(maxsize=64)(lambda rules: Judge.of(rules, judge))
    judge_of(Rules())  # raises ValueError for an agent that values no moves
    return Measures(
        lambda game, move: judge_of(game.rules).record(game, move).regret,
        lambda game: luck_of_game(game, redeals).luck.sum(axis=0),
    )
