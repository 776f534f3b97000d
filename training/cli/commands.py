"""The console command `krypenv` and the table of its commands."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

import typer

from krypenv.training.settings.console import OneSentence

PEOPLE, RESEARCH, UPKEEP = PANELS = "Playing, training and measuring agents", "Research", "Upkeep"


class Entry(NamedTuple):
    """A command in `krypenv --help`. Its options are the settings of the function `NAME_command` of its module."""

    panel: str
    text: str
    example: str  # of its options
    module: str = ""  # of `krypenv.training.cli`; empty for the one that is named like the command


COMMANDS = {
    "play": Entry(PEOPLE, "Play against agents in the terminal.", "--rules kasino-sweden"),
    "table": Entry(PEOPLE, "Play against agents, or with other people, in the browser.", "--people 2 --players 4"),
    "rules": Entry(PEOPLE, "Print the rules of a game.", "mulle --players 4 --teams 2 --full", "showing"),
    "show": Entry(PEOPLE, "Print or draw a recorded game.", "game.krk --gif game.gif", "showing"),
    "analyze": Entry(PEOPLE, "Evaluate the moves of a position or a game.", "game.krk --picture a.png", "positions"),
    "train": Entry(PEOPLE, "Train an agent by self-play.", "--frames 5_000_000 --out runs/good", "measuring"),
    "evaluate": Entry(PEOPLE, "Measure the margin of an agent over others.", "tactician --against greedy", "measuring"),
    "arena": Entry(PEOPLE, "Play a tournament of agents.", "tactician greedy random --out runs/arena", "measuring"),
    "score": Entry(PEOPLE, "Score an agent by the official protocol.", "tactician --quick --out a.json", "measuring"),
    "solve": Entry(RESEARCH, "Compute an equilibrium of a small game.", "mini-sweep --out runs/sweep", "positions"),
    "exploit": Entry(RESEARCH, "Find lower bounds on exploitability.", "tactician --out runs/exploit", "measuring"),
    "data": Entry(RESEARCH, "Write the decisions of games as a data set.", "champion --out runs/data", "measuring"),
    "serve": Entry(RESEARCH, "Serve games to OpenEnv's clients.", "--against tactician --reward adjusted"),
    "bench": Entry(UPKEEP, "Measure speed, also beside other libraries or a commit.", "--peers --json bench.json"),
    "doctor": Entry(UPKEEP, "Report what is installed, missing and broken.", "--json doctor.json", "showing"),
}


class Commands(OneSentence):
    """All commands; the definition of a command's options is imported when it is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command by its name, and make it with its options."""
        name, _, rest = super().resolve_command(ctx, args)
        ctx.invoked_subcommand = name = str(name)
        single = typer.Typer(add_completion=False)
        single.command(epilog=f"Example: krypenv {name} {COMMANDS[name].example}")(function_of(name))
        return name, typer.main.get_command(single), rest


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    help="Krypkasino: train agents, evaluate them, analyse games, measure speed.",
    epilog="Example: krypenv evaluate tactician --against greedy",
)
for _name, _entry in COMMANDS.items():
    app.command(_name, help=_entry.text, rich_help_panel=_entry.panel)(lambda: None)  # in the help of `krypenv`


@app.callback()
def _root() -> None:
    """Make custom agents in the current directory importable, as with `python -m`, after all installed packages."""
    with contextlib.suppress(OSError):
        folder = os.getcwd()
        if folder not in sys.path:
            sys.path.append(folder)


def run_of(name: str) -> Callable[[Any], None]:
    """Import the function of a command, which takes its settings."""
    module = importlib.import_module(f"krypenv.training.cli.{COMMANDS[name].module or name}")
    run: Callable[[Any], None] = getattr(module, f"{name}_command")
    return run


def function_of(name: str) -> Callable[..., None]:
    """Import a command, and make a function for typer with its options."""
    from krypenv.training.cli.outputs import check_outputs
    from krypenv.training.settings import bridge

    run = run_of(name)
    settings_class = typing.get_type_hints(run)["settings"]

    def checked(settings: Any) -> None:
        check_outputs(settings)
        run(settings)

    checked.__doc__ = run.__doc__
    return bridge.command_of(settings_class, checked)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # don't fail on characters that the terminal can't show
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="krypenv")


if __name__ == "__main__":
    main()
