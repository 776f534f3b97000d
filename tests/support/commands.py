"""What commands print and how they end."""

from typer.testing import CliRunner

from krypenv.training.cli.commands import app


def krypenv(*arguments, columns=160):
    """Run the command with some arguments."""
    env = {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}
    return CliRunner(env=env).invoke(app, list(map(str, arguments)))
