"""What commands print and how they end."""

from typer.testing import CliRunner

from krypenv.training.cli.commands import app


def krypenv(*arguments, columns=160, typed=""):
    """Run the command with some arguments; what is typed is its standard input."""
    env = {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}
    return CliRunner(env=env).invoke(app, list(map(str, arguments)), input=typed)
