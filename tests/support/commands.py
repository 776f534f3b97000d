"""What commands print and how they end, and what command lines ask for."""

import shlex
import typing

import typer
from typer.testing import CliRunner

from krypenv.training.cli.commands import COMMANDS, app, function_of, run_of
from krypenv.training.settings.bridge import command_of

SETTINGS = {name: typing.get_type_hints(run_of(name))["settings"] for name in COMMANDS}


def params_of(name):
    """The parameters of a command, as typer has them."""
    own = typer.Typer(add_completion=False)
    own.command()(function_of(name))
    return typer.main.get_command(own).params


def krypenv(*arguments, columns=160, typed=""):
    """Run the command with some arguments; what is typed is its standard input."""
    env = {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb", "LANG": "C.UTF-8"}
    return CliRunner(env=env).invoke(app, list(map(str, arguments)), input=typed, prog_name="krypenv")


def settings_of(line):
    """The settings that a command line asks for."""
    _, name, *words = shlex.split(line)
    seen, own = [], typer.Typer()
    own.command()(command_of(SETTINGS[name], seen.append))
    done = CliRunner().invoke(own, words)
    assert done.exit_code == 0, done.output or done.exception
    return seen[0]
