"""`krypenv analyze`: analyze a position or a record from a file, the command line or the standard input."""

from __future__ import annotations

from typing import ClassVar

from krypenv.game.game import Game
from krypenv.inputs.files import write_whole
from krypenv.notation import is_record
from krypenv.training.cli.outputs import read_source
from krypenv.training.evaluation.analysis.analysis import Marks, analyze, analyze_position
from krypenv.training.runs.progress import bar_of
from krypenv.training.runs.tables import write_json
from krypenv.training.settings.base import AgentName, File, option, output
from krypenv.training.settings.groups import AGENTS, GAME_RECORDS, LENGTH, json_output, seed_option


class AnalysisSettings(Marks):
    """The settings of `krypenv analyze`."""

    command: ClassVar[str] = "analyze"

    source: str = option(
        ..., "a file, the text itself, or - for the standard input", metavar="POSITION|RECORD", is_argument=True
    )
    agent: AgentName | None = option(
        None, "agent that evaluates the moves [default: search; oracle-hand with --open]", AGENTS
    )
    open: bool = option(False, "show the agent all hands, which is cheating", AGENTS)
    worlds: int | None = option(
        None, "worlds to sample for each decision [default: the agent's own, or 200]", LENGTH, ge=2, le=10_000
    )
    seed: int = seed_option()
    seat: int | None = option(None, "analyse the moves of this seat only [default: all seats]", GAME_RECORDS)
    json_file: File | None = json_output()
    picture: File | None = output(None, "draw the figures", "FILE.png")
    annotate: File | None = output(None, "write the record with the analysis as comments", "FILE")


def analyze_command(settings: AnalysisSettings) -> None:
    """Evaluate each legal move of a position, or the moves of a recorded game."""
    from krypenv.training.evaluation.analysis import comments

    text = read_source(settings.source)
    if settings.picture and settings.picture.suffix.lower() != ".png":
        raise ValueError(f"a picture is a PNG file, so its name ends in .png, and {settings.picture.name!r} does not")
    options = settings.agent, settings.worlds, settings.seed, settings.open
    if not is_record(text):
        if settings.seat is not None or settings.annotate:
            raise ValueError("--seat and --annotate are for records, and this is a position")
        position = analyze_position(Game.from_position(text), *options)
        if settings.json_file:
            write_json(settings.json_file, position.to_json())
        if settings.picture:
            from krypenv.training.evaluation.analysis.picture import draw_position

            draw_position(settings.picture, position)
        comments.print_position(position)
        return
    game = Game.replay(text)
    with bar_of("plays") as show:
        record = analyze(game, *options, settings.seat, settings, show)
    if settings.json_file:
        write_json(settings.json_file, record.to_json())
    if settings.annotate:
        write_whole(settings.annotate, comments.annotate(game, record).encode())
    if settings.picture:
        from krypenv.training.evaluation.analysis.picture import draw_record

        draw_record(settings.picture, record)
    comments.print_record(record)
