"""The command `krypenv analyze`: a position or a record, from a file, the command line or the standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.files import write_whole
from krypenv.game import Game
from krypenv.training.analysis import Marks, analyze_position, analyze_record
from krypenv.training.report import write_json

DEFAULTS = Marks()


def analyze(
    source: Annotated[
        str,
        typer.Argument(metavar="POSITION|RECORD", help="a file, the text of a position, or - for the standard input"),
    ],
    agent: Annotated[
        str | None,
        typer.Option(help="who examines the moves [default: search, with --open oracle-hand]", show_default=False),
    ] = None,
    worlds: Annotated[int | None, typer.Option(help="worlds a move [default: 200]", show_default=False)] = None,
    open_hands: Annotated[bool, typer.Option("--open", help="show the agent all hands, which is cheating")] = False,
    seat: Annotated[int | None, typer.Option(help="of a record: the moves of this seat alone")] = None,
    inaccuracy: Annotated[float, typer.Option(help="points behind the best move from which a move gets ?!")] = DEFAULTS[
        0
    ],
    mistake: Annotated[float, typer.Option(help="from which it gets ?")] = DEFAULTS[1],
    blunder: Annotated[float, typer.Option(help="from which it gets ??")] = DEFAULTS[2],
    seed: Annotated[int, typer.Option(min=0, help="the same seed gives the same figures")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="also write the figures to this file")
    ] = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="draw them")] = None,
    annotated: Annotated[
        Path | None, typer.Option("--annotate", metavar="FILE", help="write the record with its marks as comments")
    ] = None,
) -> None:
    """Tell what each move of a position is expected to bring, or what the moves of a game gave away."""
    from krypenv.training import analysis_report as report

    text = _read(source)
    if not _is_record(text):
        if seat is not None or annotated:
            raise ValueError("--seat and --annotate are for records, and this is a position")
        position = analyze_position(Game.from_position(text), agent, worlds, seed, open_hands)
        report.print_position(position)
        if picture:
            report.draw_position(picture, position)
        if json_file:
            write_json(json_file, position.to_json())
        return
    game = Game.replay(text)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("plays", total=len(game.moves))
        record = analyze_record(
            game, agent, worlds, seed, open_hands, seat, Marks(inaccuracy, mistake, blunder),
            lambda done, _: bar.update(task, completed=done),
        )  # fmt: skip
    report.print_record(record)
    if annotated:
        write_whole(annotated, report.annotate(game, record).encode())
    if picture:
        report.draw_record(picture, record)
    if json_file:
        write_json(json_file, record.to_json())


def _read(source: str) -> str:
    """Return the text of a file, of the standard input, or the argument itself where it is a position."""
    if source == "-":
        return sys.stdin.read()
    if ":" in source and not Path(source).exists():
        return source
    return Path(source).read_text(encoding="utf-8")


def _is_record(text: str) -> bool:
    """Whether a text is a record: it begins with a tag."""
    return text.lstrip().startswith("[")
