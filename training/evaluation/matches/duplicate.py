"""Evaluation: duplicate matches between agents, with a confidence interval clustered by deal."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.programs.llm import Usage
from krypenv.kernels.scoring import are_best
from krypenv.rules import Rules, RulesLike
from krypenv.training.evaluation.luck.meter import Control, control_for
from krypenv.training.evaluation.matches.deal_lists import deal_seeds, describe_list
from krypenv.training.evaluation.matches.margins import (
    Adjusted,
    FloatArray,
    adjust,
    interval,
    leads_over_others,
    luck_cells,
    margin_cells,
    margin_meaning,
)
from krypenv.training.evaluation.matches.mixed_table import (
    Played,
    format_milliseconds,
    join_tables,
    milliseconds,
    play_table,
    print_usage,
)
from krypenv.training.evaluation.matches.players import AgentLike, make_player
from krypenv.training.runs import Progress
from krypenv.training.runs.tables import plain, print_table
from krypenv.training.settings.base import check_number
from krypenv.training.settings.groups import LARGEST_SEED, MOST_DEALS

CHUNK = 8192  # most games in play at once


@dataclass(frozen=True)
class Points:
    """The components of a side's score, in points a game; under rules with sessions, in points a session."""

    cards: float  #: of the cards captured
    sweeps_taken: float  #: for the side's own sweeps (R9)
    sweeps_set_up: float  #: deducted for sweeps of the next seat; zero or negative
    bonus: float  #: initial match (H5), last capture (V2, S3), majorities (K5, O1) and mulles (M2)

    @property
    def score(self) -> float:
        """The score, their sum; `Rules.goal` says which end is good."""
        return self.cards + self.sweeps_taken + self.sweeps_set_up + self.bonus


@dataclass(frozen=True)
class MatchResult:
    """A match of two agents over duplicate deals. Under rules with sessions (R15), games are sessions."""

    agent: str  #: as tables show it (`krypenv.agents.label_of`)
    opponent: str
    rules: str
    deals: int
    games: int  #: deals x rotations of the seats
    seed: int
    deals_from: str  #: the list of deals
    margin: float  #: lead of the own score over the mean of the other sides', in points a game
    low: float  #: lower end of its 95% interval; infinite after a single deal
    high: float  #: upper end
    win_rate: float  #: share of games in which the own score alone is best, after any tie break (K6, F7)
    tie_rate: float  #: share of games in which it is tied for best
    own: Points  #: of the agent's side
    opponents: Points  #: mean of the other sides
    own_ms: float  #: milliseconds of processor time per decision; nan if not measured
    opponent_ms: float  #: the same of the opponent
    adjusted: Adjusted | None = None  #: the margin with luck taken out, if it was measured
    usage: Usage | None = None  #: tokens, seconds and legality of the decisions, if the agent is a language model
    opponent_usage: Usage | None = None  #: the same of the opponent

    def to_json(self) -> dict[str, Any]:
        """Convert the figures to plain JSON values; infinite bounds and unmeasured times become None."""
        return dict(plain(self))

    def __str__(self) -> str:
        """Format the match as two plain text tables: the margin, and the components of the scores."""
        return "\n\n".join(map(_format_rows, (match_table([self]), points_table([self]))))


def duplicate_match(
    agent: AgentLike,
    opponent: AgentLike,
    rules: RulesLike | None = None,
    deals: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
    deals_from: str | int | None = None,
    luck: str = "auto",
) -> MatchResult:
    """Play each deal once from every side of the table, and return the agent's results against the opponent.

    In rotation k the agent plays side k (a seat, or all seats of a team, R16) and the opponent plays all others. The
    margins of a deal's rotations are averaged, and the 95% interval is over deals (Student's t). Agents are objects,
    strings for `krypenv.agents.make`, or functions that `krypenv.adapters.PolicyFunction` takes. The rules may be text,
    or left out for those of the agents (`krypenv.agents.rules_for`). The deals are those of `seed`, or of the list
    named by `deals_from` ("dev", "test" or a seed; see `deal_seeds`). All figures but the times depend only on the
    arguments.

    `luck` is "on" to take luck out of the margin, which narrows its interval, "off", or "auto" for "on" where this
    costs little beside the agents (docs/evaluation.md).

    Raises ValueError for fewer than one deal, a negative seed, an unknown list or agent, or an agent made for other
    rules; `Fault` (`mixed_table`) for an agent that raises or returns an illegal action.
    """
    return evaluate(agent, [opponent], rules, deals, seed, progress, deals_from, luck)[0]


def evaluate(
    agent: AgentLike,
    opponents: AgentLike | Sequence[AgentLike],
    rules: RulesLike | None = None,
    deals: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
    deals_from: str | int | None = None,
    luck: str = "auto",
) -> list[MatchResult]:
    """Play duplicate matches of an agent against each opponent, all over the same deals; see `duplicate_match`.

    A single opponent needs no list. All opponents are checked before the first match. `progress` counts the games of
    all matches.
    """
    check_number("deals", deals, 1, MOST_DEALS)
    source = seed if deals_from is None else deals_from
    seeds = deal_seeds(source, deals)
    check_number("seed", seed, 0, LARGEST_SEED)
    many = list(opponents) if isinstance(opponents, Sequence) and not isinstance(opponents, str) else [opponents]
    rules = agents.rules_for([agent, *many], rules)
    pairs = [[make_player(agent, rules, seed), make_player(opponent, rules, seed + 1)] for opponent in many]
    controls = [control_for(luck, players, rules) for players in pairs]
    results = []
    for at, (players, control) in enumerate(zip(pairs, controls, strict=True)):

        def report(done: int, games: int, before: int = at) -> None:
            if progress:
                progress(before * games + done, len(pairs) * games)

        played = play_duplicates(players, rules, seeds, control, report)
        results.append(_summarize(played, players, rules, seed, describe_list(source), control))
    return results


class Duplicates(NamedTuple):
    """D duplicate deals of an agent, which is on side k of S in seating k (R16). Margins and luck are the agent's."""

    played: Played  # of D x S games; game d x S + k is deal d in seating k, agent 0 the agent and 1 its opponent
    margins: FloatArray  # (D, S) by deal and seating, in points
    luck: FloatArray | None  # (D, S) luck in these margins, in points, if it was measured
    parts: FloatArray | None  # (D, S, V) the same by each of the control's V players, without coefficients


def play_duplicates(
    players: Sequence[Agent],
    rules: Rules,
    seeds: npt.NDArray[np.uint64],
    control: Control | None = None,
    progress: Progress | None = None,
) -> Duplicates:
    """Play the deals of D seeds with an agent, the first of two players, against the second in all seatings.

    Raises `Fault` (`mixed_table`) for an agent that raises or returns an illegal action.
    """
    sides = rules.num_teams
    seeds_by_game = np.repeat(seeds, sides)
    lineup = np.tile(1 - np.eye(sides, dtype=np.int64), (len(seeds), 1))
    size = max(1, CHUNK // sides) * sides
    chunks = []
    for start in range(0, len(seeds_by_game), size):
        batch = slice(start, start + size)
        chunks.append(play_table(players, rules, seeds_by_game[batch], lineup[batch], control=control))
        if progress:
            progress(min(start + size, len(seeds_by_game)), len(seeds_by_game))
    played = join_tables(chunks)

    def of_agent(figures: FloatArray | None) -> Any:
        if figures is None:
            return None
        return _own_first(figures)[:, 0].reshape(len(seeds), sides, *figures.shape[2:])

    margins = leads_over_others(rules, played.scores)
    return Duplicates(played, of_agent(margins), of_agent(played.luck), of_agent(played.luck_parts))


def _summarize(
    duplicates: Duplicates, players: list[Agent], rules: Rules, seed: int, deals_from: str, control: Control | None
) -> MatchResult:
    played = duplicates.played
    by_side = played.scores, played.points, played.taken, played.set_up, played.tie_breaks
    scores, cards, taken, set_up, tie_breaks = map(_own_first, by_side)
    own_ms, opponent_ms = milliseconds(played.seconds, played.decisions).tolist()
    margins = duplicates.margins.mean(axis=1)
    best = are_best(rules, scores, tie_breaks)
    is_alone = best.sum(axis=1) == 1
    kinds = [cards, taken, set_up, scores - cards - taken - set_up]
    return MatchResult(
        agents.label_of(players[0].name, rules), agents.label_of(players[1].name, rules), str(rules), len(margins),
        len(scores), seed, deals_from, *interval(margins),
        win_rate=float((best[:, 0] & is_alone).mean()),
        tie_rate=float((best[:, 0] & ~is_alone).mean()),
        own=Points(*(float(kind[:, 0].mean()) for kind in kinds)),
        opponents=Points(*(float(kind[:, 1:].mean()) for kind in kinds)),
        own_ms=own_ms,
        opponent_ms=opponent_ms,
        adjusted=None if duplicates.luck is None else adjust(margins, duplicates.luck.mean(axis=1), str(control)),
        usage=played.usage[0] or None,
        opponent_usage=played.usage[1] or None,
    )  # fmt: skip


def _own_first(figures: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn figures by side, (games, S, ...), so that the agent's side comes first, which is i mod S in game i."""
    games, sides = np.arange(len(figures))[:, None], figures.shape[1]
    return figures[games, (np.arange(sides) + games) % sides]


# ---------------------------------------------------------------------- tables

MATCH_COLUMNS = ("agent", "against", "margin", "95% interval", "win", "tie")
LUCK_COLUMNS = ("luck taken out", "95% interval", "a deal is worth")
POINTS_COLUMNS = ("points a game", "cards", "sweeps taken", "set up", "bonus", "score", "ms a decision")

Table: TypeAlias = list[tuple[str, ...]]  # the columns, and rows of texts


def match_table(results: Sequence[MatchResult]) -> Table:
    """Make the columns of a table of matches, and a row for each match."""
    measured = any(result.adjusted for result in results)
    rows: Table = [(*MATCH_COLUMNS[:4], *(LUCK_COLUMNS if measured else ()), *MATCH_COLUMNS[4:])]
    for result in results:
        margin = margin_cells(result.margin, result.low, result.high)
        luck = luck_cells(result.adjusted) if measured else ()
        rates = f"{result.win_rate:.1%}", f"{result.tie_rate:.1%}"
        rows.append((result.agent, result.opponent, *margin, *luck, *rates))
    return rows


def points_table(results: Sequence[MatchResult]) -> Table:
    """Make the columns of a table of points, and two rows for each match, one per agent."""
    rows: Table = [POINTS_COLUMNS]
    for result in results:
        own = result.agent, result.own, result.own_ms
        for name, points, ms in (own, (f"  {result.opponent}", result.opponents, result.opponent_ms)):
            kinds = *dataclasses.astuple(points), points.score
            rows.append((name, *(f"{kind:.1f}" for kind in kinds), format_milliseconds(ms)))
    return rows


def print_matches(results: Sequence[MatchResult]) -> None:
    """Print matches as two tables: the margins, and the components of the scores."""
    for columns, *rows in (match_table(results), points_table(results)):
        print_table(columns, rows)
    for result in results:
        print_usage([(result.agent, result.usage), (result.opponent, result.opponent_usage)])
    rules = Rules.parse(results[0].rules)
    print(f"margin: {margin_meaning(rules, 'opponents')}, in points a game; {rules.goal} scores are good")
    controls = sorted({result.adjusted.control for result in results if result.adjusted})
    if controls:
        print(f"luck: taken out by {'; '.join(controls)}; a deal is worth: as precise as so many with luck left in")
    else:
        print("luck: left in, as more deals of such quick agents take less time; --luck on takes it out")


def _format_rows(rows: Table) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
