"""`krypenv card`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import typer

from krypenv.training.cli.outputs import check_files
from krypenv.training.evaluation.arena.model_card import model_card, write_card
from krypenv.training.runs.options import Command, an_output, setting
from krypenv.training.runs.panels import INPUT


@dataclass(frozen=True)
class CardSettings(Command):
    """The settings of `krypenv card`."""

    command: ClassVar[str] = "card"
    model: Path = setting(Path(), "model folder", is_argument=True, is_required=True)
    arena: Path = setting(
        Path(), "folder of an arena in which the model played", panel=INPUT, metavar="DIR", is_required=True
    )
    exploit: tuple[Path, ...] = setting(
        (),
        "a file of krypenv exploit --json for the model; repeatable [default: none, exploitability not measured]",
        panel=INPUT,
        metavar="FILE",
    )
    out: Path = an_output(Path(), "file to write the card to, in Markdown", "FILE", is_required=True)
    title: str = an_output("Model card", "heading of the card")


def run(settings: CardSettings) -> None:
    """Write the card of a model: its training, results, exploitability and limits."""
    check_files(settings.out)
    write_card(settings.out, model_card(settings.model, settings.arena, list(settings.exploit), settings.title))
    typer.echo(f"wrote {settings.out}")
