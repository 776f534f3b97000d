"""`krypenv doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import typer
from rich.console import Console

from krypenv.training.runs.options import Command, a_json_file


@dataclass(frozen=True)
class DoctorSettings(Command):
    """The settings of `krypenv doctor`."""

    command: ClassVar[str] = "doctor"
    json: Path | None = a_json_file()


def run(settings: DoctorSettings) -> None:
    """Report what is installed, what is missing and what is broken, for bug reports.

    The exit code is 0 if krypenv works, even if extras are missing, and 1 if it does not.
    """
    from krypenv.doctor.report import examine, report_lines
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.runs.tables import write_json

    check_files(settings.json)
    with Console(stderr=True).status("looking around") as status:
        report = examine(status.update)
    if settings.json:
        write_json(settings.json, report)
    typer.echo("\n".join(report_lines(report)))
    if report["wrong"]:
        raise typer.Exit(1)
