"""The command `krypenv analyze`: a position or a record, from a file, the command line or the standard input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.game.game import Game
from krypenv.inputs.files import write_whole
from krypenv.training.analysis.analysis import Marks, analyze_position, analyze_record, check_marks
from krypenv.training.cli.outputs import check_files, read_text
from krypenv.training.common.report import write_json

DEFAULTS = Marks()


def analyze(
    source: Annotated[
        str,
        typer.Argument(metavar="POSITION|RECORD", help="a file, the text itself, or - for the standard input"),
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
    from krypenv.training.analysis import report as report

    text = _read(source)
    check_files(json_file, picture, source=source)
    check_files(json_file, picture, annotated)
    if picture and picture.suffix.lower() != ".png":
        raise ValueError(f"a picture is a PNG file, so its name ends in .png, and {picture.name!r} does not")
    marks = check_marks(Marks(inaccuracy, mistake, blunder))
    if not _is_record(text):
        if seat is not None or annotated:
            raise ValueError("--seat and --annotate are for records, and this is a position")
        position = analyze_position(Game.from_position(text), agent, worlds, seed, open_hands)
        if json_file:
            write_json(json_file, position.to_json())
        if picture:
            from krypenv.training.analysis.picture import draw_position

            draw_position(picture, position)
        report.print_position(position)
        return
    game = Game.replay(text)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("plays", total=len(game.moves))
        record = analyze_record(
            game, agent, worlds, seed, open_hands, seat, marks,
            lambda done, _: bar.update(task, completed=done),
        )  # fmt: skip
    if json_file:
        write_json(json_file, record.to_json())
    if annotated:
        write_whole(annotated, report.annotate(game, record).encode())
    if picture:
        from krypenv.training.analysis.picture import draw_record

        draw_record(picture, record)
    report.print_record(record)


def _read(source: str) -> str:
    """Return the text of a file, of the standard input, or the argument itself where it is a position or a record.

    Raises ValueError for a file that is no text.
    """
    if source != "-" and not os.path.exists(source) and (":" in source or _is_record(source)):
        return source  # Path.exists raises for a long text
    return read_text(source)


def _is_record(text: str) -> bool:
    """Whether a text is a record: it begins with a tag."""
    return text.lstrip().startswith("[")
