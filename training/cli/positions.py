"""The commands that look at a position or a record: analyze, and solve, which also solves whole small games."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, ClassVar

import typer
from pydantic import model_validator
from rich.console import Console

from krypenv import training
from krypenv.inputs.files import write_whole
from krypenv.notation import is_record
from krypenv.rules import Rules
from krypenv.training import solving
from krypenv.training.cli.outputs import read_text
from krypenv.training.runs.progress import bar_of
from krypenv.training.runs.tables import print_table, write_json
from krypenv.training.settings.base import AgentName, File, Settings, option, output
from krypenv.training.settings.groups import (
    AGENTS,
    GAME_RECORDS,
    LENGTH,
    fields_option,
    json_output,
    rules_with,
    seed_option,
)

if TYPE_CHECKING:
    from krypenv.game.game import Game

MOST_BELIEFS = 10  # most hands that are listed


def game_at(source: str) -> tuple[Game, bool]:
    """Read the game of a position or a record, from a file or the text itself, and tell whether it is a record."""
    from krypenv.game.game import Game

    is_text = source != "-" and not os.path.exists(source) and (":" in source or is_record(source))
    text = source if is_text else read_text(source)
    return (Game.replay(text), True) if is_record(text) else (Game.from_position(text), False)


class AnalysisSettings(Settings):
    """The settings of `krypenv analyze`."""

    command: ClassVar[str] = "analyze"

    source: str = option(
        ..., "a file, the text itself, or - for the standard input", metavar="POSITION|RECORD", is_argument=True
    )
    agent: AgentName | None = option(None, "who values the moves [default: search; oracle-hand with --open]", AGENTS)
    open: bool = option(False, "show the agent all hands, which is cheating", AGENTS)
    worlds: int | None = option(
        None, "worlds for each decision [default: the agent's own, or 200]", LENGTH, ge=2, le=10_000
    )
    seed: int = seed_option()
    seat: int | None = option(None, "analyse the moves of this seat only [default: all seats]", GAME_RECORDS)
    marks: tuple[float, ...] = option(
        (), "points behind the best move for ?!, for ? and for ?? [default: 1, 3, 6]", GAME_RECORDS, flag="mark"
    )
    json_file: File | None = json_output()
    picture: File | None = output(None, "draw the figures", "FILE.png")
    annotate: File | None = output(None, "write the record with the analysis as comments", "FILE")


def analyze_command(settings: AnalysisSettings) -> None:
    """Evaluate each legal move of a position, or the moves of a recorded game."""
    from krypenv.training.evaluation.analysis import comments
    from krypenv.training.evaluation.analysis.analysis import MARKS

    game, has_plays = game_at(settings.source)
    options = settings.agent, settings.worlds, settings.seed, settings.open
    if not has_plays:
        if settings.seat is not None or settings.annotate:
            raise ValueError("--seat and --annotate are for records, and this is a position")
        position = training.analyze_position(game, *options)
        if settings.json_file:
            write_json(settings.json_file, position.to_json())
        if settings.picture:
            training.draw_position(settings.picture, position)
        comments.print_position(position)
        return
    with bar_of("plays") as show:
        record = training.analyze(game, *options, settings.seat, settings.marks or MARKS, show)
    if settings.json_file:
        write_json(settings.json_file, record.to_json())
    if settings.annotate:
        write_whole(settings.annotate, comments.annotate(game, record).encode())
    if settings.picture:
        training.draw_record(settings.picture, record)
    comments.print_record(record)


class SolveSettings(Settings):
    """The settings of `krypenv solve`."""

    command: ClassVar[str] = "solve"

    preset: str = option(
        ..., "preset, as in mini-sweep; with --at also the folder of a strategy", metavar="PRESET|DIR", is_argument=True
    )
    rule: tuple[str, ...] = fields_option()
    gap: float = option(1e-4, "exploitability to reach", LENGTH, metavar="POINTS", ge=1e-9, le=100.0)
    iterations: int = option(20_000, "iterations for a deal, at most", LENGTH, ge=1, le=10**9)
    threads: int = option(0, "threads; 0 for one per processor", LENGTH, decides=False, ge=0, le=1024)
    at: str | None = option(
        None, "show the strategy there: text, file or -", GAME_RECORDS, metavar="POSITION|RECORD", decides=False
    )
    hands: int = option(
        0,
        "candidate hands of each seat at --at, drawn at random; 0 for all",
        GAME_RECORDS,
        decides=False,
        ge=0,
        le=10**6,
    )
    out: File | None = output(None, "folder for the strategy [default: none]", "DIR")

    @model_validator(mode="after")
    def _fits(self) -> SolveSettings:
        if self.hands and not self.at:
            raise ValueError("--hands bounds what the seats may hold at a position; give one with --at")
        return self


def solve_command(settings: SolveSettings) -> None:
    """Compute an equilibrium of a small game for two players, or with --at of the end of a large one.

    The strategy in DIR is an agent: its folder can be named wherever an agent is. Values are margins of the first seat,
    in points a game. If it is killed, the same command with --out resumes it.
    """
    from krypenv.agents.solved import is_strategy

    if not is_strategy(settings.preset):
        _solve(settings, rules_with(settings.preset, settings.rule))
    elif settings.at is None:
        raise ValueError(f"{settings.preset} is solved; --at shows what its strategy does at a position")
    elif settings.hands:
        raise ValueError(f"{settings.preset} is solved for all hands; leave out --hands")
    elif settings.rule or settings.out:
        raise ValueError(f"{settings.preset} has its own rules, and is saved; leave out --rule and --out")
    else:
        game = game_at(settings.at)
        with Console(stderr=True).status(f"reading {settings.preset}"):
            solved = solving.load(settings.preset)
        _print_look(solved, *game)


def _solve(settings: SolveSettings, rules: Rules) -> None:
    """Solve a small game, or the rest of a large one from a position, and print what was found."""
    from krypenv.training.solving.infosets import check_position
    from krypenv.training.solving.pairs import SAMPLES

    out, hands = settings.out, settings.hands
    game, has_plays = game_at(settings.at) if settings.at else (None, False)
    if game:
        check_position(rules, game)
    late = game if game and not solving.is_solvable(rules) else None
    if late and out:
        raise ValueError(f"'{rules}' is solved from one position only, which makes no agent; leave out --out")
    if hands and not late:
        raise ValueError(f"'{rules}' is solved as a whole, with all hands; leave out --hands")
    start, options = time.perf_counter(), (settings.gap, settings.iterations, settings.threads)
    with Console(stderr=True).status(f"solving {rules}"):
        if late:
            bounds = solving.Bounds(hands, known=late.turn, samples=SAMPLES) if hands else solving.Bounds()
            solved = solving.solve_late(late, *options, bounds)
        elif out:
            solved = solving.solve_into(out, rules, *options, command=settings.line)
        else:
            solved = solving.solve(rules, *options, sees=bool(game))
    whom, condition = f"{rules}: the first seat", ""
    if late:
        restricted = f", restricted to {hands} candidate hands of each seat" if hands else ""
        whom, condition = "From here on seat 0", f", if all hands that the seats may hold count alike{restricted}"
    typer.echo(
        f"{whom} can expect {solved.value:+.4f} points{condition}; the strategy can be exploited by "
        f"{max(solved.exploitability, 0.0):.1e} points at most ({time.perf_counter() - start:.1f} s)"
    )
    if out:
        typer.echo(f"wrote {out}, which names an agent: krypenv evaluate {out} --against tactician")
    if game:
        _print_look(solved, game, has_plays and not late)


def _print_look(solved: solving.Solved, game: Game, knows_plays: bool) -> None:
    view = solving.look(solved, game, knows_plays)
    hand, table = (" ".join(cards) or "empty" for cards in (game.hand(view.seat), game.table))
    typer.echo(f"{game.rules}: seat {view.seat} in deal {game.deal_number}; hand {hand}; table {table}")
    if len(view.moves) == 1:
        typer.echo(f"It has no choice: {view.moves[0].move} is the only move.")
        return
    if view.histories > 1:
        typer.echo(
            f"{view.histories} sequences of plays lead to this position, and the strategy may differ between them; "
            "this is the likeliest one. A record tells which it was."
        )
    if not view.comes_here:
        typer.echo("The seat's own strategy never comes here, so what it would do here is worth little.")
    if not view.is_explained:
        typer.echo("The other seat's strategy never comes here, so all hands that it may hold count alike.")
    rows = [(move.move, f"{move.probability:.1%}", f"{move.margin:+.4f}") for move in view.moves]
    print_table(("move", "probability", "margin"), rows)
    typer.echo(f"margin: what the seat can expect of this deal and those after it; {view.margin:+.4f} in all")
    print_table(
        ("other hand", "belief"),
        [(" ".join(belief.hand) or "empty", f"{belief.probability:.1%}") for belief in view.beliefs[:MOST_BELIEFS]],
    )
    if rest := view.beliefs[MOST_BELIEFS:]:
        typer.echo(f"and {len(rest)} other hands, {sum(belief.probability for belief in rest):.1%} together")
