"""`krypenv analyze`: analyze a position or a record from a file, the command line or the standard input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from krypenv.inputs.files import write_whole
from krypenv.one_game import Game
from krypenv.training.cli.options import JsonFile, flag, option
from krypenv.training.cli.outputs import check_files, read_text
from krypenv.training.evaluation.analysis.analysis import Marks, analyze_position, analyze_record, check_marks
from krypenv.training.runs.panels import AGENTS, GAME_RECORDS, LENGTH, OUTPUT
from krypenv.training.runs.tables import write_json

DEFAULTS = Marks()


def analyze(
    source: Annotated[
        str,
        typer.Argument(metavar="POSITION|RECORD", help="a file, the text itself, or - for the standard input"),
    ],
    agent: Annotated[
        str | None,
        option(panel=AGENTS, help="agent that evaluates the moves", default="search; oracle-hand with --open"),
    ] = None,
    open_hands: Annotated[bool, flag("--open", AGENTS, "show the agent all hands, which is cheating")] = False,
    worlds: Annotated[
        int | None, option(panel=LENGTH, help="worlds to sample for each decision", default="the agent's own, or 200")
    ] = None,
    seed: Annotated[int, option(panel=LENGTH, min=0, help="seed; the same seed gives the same figures")] = 0,
    seat: Annotated[
        int | None, option(panel=GAME_RECORDS, help="analyze the moves of this seat only", default="all seats")
    ] = None,
    inaccuracy: Annotated[
        float, option(panel=GAME_RECORDS, help="points behind the best move from which a move is marked ?!")
    ] = DEFAULTS.inaccuracy,
    mistake: Annotated[float, option(panel=GAME_RECORDS, help="points from which it is marked ?")] = DEFAULTS.mistake,
    blunder: Annotated[float, option(panel=GAME_RECORDS, help="points from which it is marked ??")] = DEFAULTS.blunder,
    json_file: JsonFile = None,
    picture: Annotated[Path | None, option(panel=OUTPUT, metavar="FILE.png", help="draw the figures")] = None,
    annotated: Annotated[
        Path | None,
        option("--annotate", panel=OUTPUT, metavar="FILE", help="write the record with the marks as comments"),
    ] = None,
) -> None:
    """Evaluate each legal move of a position, or the moves of a recorded game."""
    from krypenv.training.evaluation.analysis import comments

    text = read_source(source)
    check_files(json_file, picture, source=source)
    check_files(json_file, picture, annotated)
    if picture and picture.suffix.lower() != ".png":
        raise ValueError(f"a picture is a PNG file, so its name ends in .png, and {picture.name!r} does not")
    marks = check_marks(Marks(inaccuracy, mistake, blunder))
    if not is_record(text):
        if seat is not None or annotated:
            raise ValueError("--seat and --annotate are for records, and this is a position")
        position = analyze_position(Game.from_position(text), agent, worlds, seed, open_hands)
        if json_file:
            write_json(json_file, position.to_json())
        if picture:
            from krypenv.training.evaluation.analysis.picture import draw_position

            draw_position(picture, position)
        comments.print_position(position)
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
        write_whole(annotated, comments.annotate(game, record).encode())
    if picture:
        from krypenv.training.evaluation.analysis.picture import draw_record

        draw_record(picture, record)
    comments.print_record(record)


def read_source(source: str) -> str:
    """Return the text of a file or of the standard input, or the argument itself if it is a position or a record.

    Raises ValueError for a file that is not text.
    """
    if source != "-" and not os.path.exists(source) and (":" in source or is_record(source)):
        return source  # Path.exists raises for a long text
    return read_text(source)


def is_record(text: str) -> bool:
    """Return whether a text is a record, which begins with a tag."""
    return text.lstrip().startswith("[")
