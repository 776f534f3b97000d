"""`krypenv doctor`."""

from __future__ import annotations

from typing import ClassVar

import typer
from rich.console import Console

from krypenv.training.settings.base import File, Settings
from krypenv.training.settings.groups import json_output


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
