"""The commands `rules`, the rules of a game, `show`, a recorded game, and `doctor`, the state of the installation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import starmap
from typing import Any, ClassVar

import typer
from rich.console import Console

from krypenv.training.cli.outputs import read_text
from krypenv.training.settings.base import File, Settings, option, output
from krypenv.training.settings.groups import (
    GAME_RECORDS,
    KRYPKASINO,
    GameSettings,
    Language,
    json_output,
    language_option,
)


class RulesSettings(GameSettings):
    """The settings of `krypenv rules`."""

    command: ClassVar[str] = "rules"

    rules: str = option(KRYPKASINO, "preset of the rules", is_argument=True, flag="preset")
    full: bool = output(False, "all of the rules, with examples")
    language: Language = language_option()


def rules_command(settings: RulesSettings) -> None:
    """Print the rules of a game: five lines, or with --full all of them, with examples."""
    from krypenv.ui.narrator.narrator import Narrator
    from krypenv.ui.narrator.texts import language_of
    from krypenv.ui.rulebook import five_lines, in_full, shows

    rules = settings.game_rules()
    console = Console()
    narrator = Narrator(rules, language=settings.language or language_of(), symbols=shows(console, "♠"))
    text = in_full(narrator, console.width) if settings.full else five_lines(narrator, console.width)
    console.print(text, highlight=False)


class ShowSettings(Settings):
    """The settings of `krypenv show`."""

    command: ClassVar[str] = "show"

    record: str = option(..., "file with a text record of a game, or - for the standard input", is_argument=True)
    gif: File | None = output(None, "write the game as pictures", "FILE.gif")
    png: File | None = output(None, "write a position as a picture", "FILE.png")
    at: int | None = option(
        None, "position after so many moves [default: the last]", GAME_RECORDS, metavar="MOVE", ge=0
    )
    hands: str = option("all", "whose hands are open in pictures", GAME_RECORDS, metavar="all|turn|none|SEAT")
    width: int = output(720, "width of pictures in pixels", ge=160, le=1920)
    seconds: float = output(1.0, "seconds that each picture of a GIF is shown", ge=0.02, le=60.0)
    four_colours: bool = output(False, "draw clubs green and diamonds blue")


def show_command(settings: ShowSettings) -> None:
    """Print a recorded game deal by deal, or draw it: --gif the whole game, --png one position."""
    from krypenv.game.display import check_render_seat
    from krypenv.game.game import Game
    from krypenv.inputs.files import write_whole
    from krypenv.ui.captions import said_of, story_of
    from krypenv.ui.narrator.narrator import Narrator

    gif, png, at = settings.gif, settings.png, settings.at
    game = Game.replay(read_text(settings.record))
    if gif is None and png is None:
        typer.echo("\n".join(story_of(game, Narrator(game.rules, symbols=False))))
        return
    seat = int(settings.hands) if re.fullmatch("[0-9]+", settings.hands) else settings.hands
    open_hands = check_render_seat(None if seat == "none" else seat, game.rules.players)
    if at is not None and at > len(game.moves):
        raise ValueError(f"the game has {len(game.moves)} moves, so --at is 0 to {len(game.moves)}, not {at}")

    from krypenv.pictures import draw_game, gif_of, png_of

    narrator = Narrator(game.rules)

    def draw(before: Any, position: Any) -> Any:
        said = said_of(position, narrator, before, open_hands == "all")
        return draw_game(position, open_hands, settings.width, four_colours=settings.four_colours, said=said)

    if png:
        *_, (_, position) = positions(game, at)
        write_whole(png, png_of(draw(None, position)))
        typer.echo(f"wrote {png}")
    if gif:
        write_whole(gif, gif_of(starmap(draw, positions(game, at)), settings.seconds))
        typer.echo(f"wrote {gif}")


def positions(game: Any, last: int | None = None) -> Iterator[tuple[Any, Any]]:
    """Yield each position of a game, up to `last` moves, behind a copy of the one before, None for the first."""
    before, twin = None, game.rewound()
    yield before, twin
    for move in game.moves[:last]:
        before = twin.copy()
        twin.push(move)
        yield before, twin


class DoctorSettings(Settings):
    """The settings of `krypenv doctor`."""

    command: ClassVar[str] = "doctor"

    json_file: File | None = json_output()


def doctor_command(settings: DoctorSettings) -> None:
    """Report what is installed, what is missing and what is broken, for bug reports.

    The exit code is 0 if krypenv works, even if extras are missing, and 1 if it does not.
    """
    from krypenv.doctor.report import PLAYING, examine, report_lines
    from krypenv.training.runs.tables import write_json

    with Console(stderr=True).status(PLAYING):
        report = examine()
    if settings.json_file:
        write_json(settings.json_file, report)
    typer.echo("\n".join(report_lines(report)))
    if report["wrong"]:
        raise typer.Exit(1)
