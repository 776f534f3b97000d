"""The command `krypenv doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def doctor(
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="also write the report to this file")
    ] = None,
) -> None:
    """Tell what is installed, what is missing and what is wrong: to be pasted where a fault is reported.

    The exit code is 0 if krypenv works, whatever extras are missing, and 1 if not.
    """
    from krypenv.doctor.report import examine, report_lines
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.common.report import write_json

    check_files(json_file)
    with Console(stderr=True).status("looking around") as status:
        report = examine(status.update)
    if json_file:
        write_json(json_file, report)
    typer.echo("\n".join(report_lines(report)))
    if report["wrong"]:
        raise typer.Exit(1)
