"""`krypenv show`: a recorded game as text, as a picture, or as a moving picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from krypenv.training.cli.options import flag, option
from krypenv.training.cli.outputs import check_files, read_text
from krypenv.training.runs.panels import GAME_RECORDS, OUTPUT

WIDTH = 720  # pixels
SMALLEST, LARGEST = 160, 1920


def show(
    record: Annotated[str, typer.Argument(help="file with a text record of a game, or - for the standard input")],
    gif: Annotated[Path | None, option(panel=OUTPUT, metavar="FILE.gif", help="write the game as pictures")] = None,
    png: Annotated[Path | None, option(panel=OUTPUT, metavar="FILE.png", help="write a position as a picture")] = None,
    at: Annotated[
        int | None,
        option(panel=GAME_RECORDS, metavar="MOVE", help="the position after this many moves", default="the last one"),
    ] = None,
    hands: Annotated[
        str, option(panel=GAME_RECORDS, metavar="all|turn|none|SEAT", help="whose hands are open in pictures")
    ] = "all",
    width: Annotated[int, option(panel=OUTPUT, help="width of pictures in pixels")] = WIDTH,
    seconds: Annotated[float, option(panel=OUTPUT, help="how long each picture of a GIF is shown")] = 1.0,
    four_colours: Annotated[bool, flag("--four-colours", OUTPUT, "draw clubs green and diamonds blue")] = False,
) -> None:
    """Print a recorded game deal by deal, or draw it: --gif the whole game, --png one position."""
    from krypenv.game.display import check_render_seat, format_playthrough
    from krypenv.inputs.files import write_whole
    from krypenv.one_game import Game

    check_files(gif, png, source=None if record == "-" else record)
    for path, ending in ((gif, ".gif"), (png, ".png")):
        if path and path.suffix.lower() != ending:
            raise ValueError(f"the name of this picture ends in {ending}, and {path.name!r} does not")
    if not SMALLEST <= width <= LARGEST:
        raise ValueError(f"pictures are {SMALLEST} to {LARGEST} pixels wide, not {width}")
    if not 0.02 <= seconds <= 60:
        raise ValueError(f"a picture is shown for 0.02 to 60 seconds, not {seconds}")
    text = read_text(record)
    if gif is None and png is None:
        typer.echo(format_playthrough(text))
        return
    game = Game.replay(text)
    open_hands = check_render_seat(_render_seat(hands), game.rules.players)
    if at is not None and not 0 <= at <= len(game.moves):
        raise ValueError(f"the game has {len(game.moves)} moves, so --at is 0 to {len(game.moves)}, not {at}")

    from krypenv.pictures import draw_game, gif_of, png_of

    def draw(position: Any) -> Any:
        return draw_game(position, open_hands, width, four_colours=four_colours)

    if png:
        *_, position = positions(game, at)
        write_whole(png, png_of(draw(position)))
        typer.echo(f"wrote {png}")
    if gif:
        write_whole(gif, gif_of(map(draw, positions(game, at)), seconds))
        typer.echo(f"wrote {gif}")


def positions(game: Any, last: int | None = None) -> Iterator[Any]:
    """Yield a game at its start and after each whole move, up to some number of moves."""
    twin = game.rewound()
    yield twin
    for move in game.moves[:last]:
        twin.push(move)
        yield twin


def _render_seat(word: str) -> int | str | None:
    """Return whose hand is open, from a word of the command line."""
    return None if word == "none" else int(word) if word.isascii() and word.isdigit() else word
