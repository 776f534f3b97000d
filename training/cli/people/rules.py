"""`krypenv rules`: what a game is, in five lines or in full."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from krypenv.training.runs.options import Command, an_output, part, setting
from krypenv.training.runs.parts import KRYPKASINO, GameRules, a_language


@dataclass(frozen=True)
class RulesSettings(Command):
    """The settings of `krypenv rules`."""

    command: ClassVar[str] = "rules"
    preset: str = setting(KRYPKASINO, "preset of the rules", is_argument=True)
    game: GameRules = part(GameRules(), rules=None)
    full: bool = an_output(False, "all of the rules, with examples")
    language: str | None = a_language()


def run(settings: RulesSettings) -> None:
    """Print the rules of a game: five lines, or with --full all of them, with examples."""
    from rich.console import Console

    from krypenv.ui.narrator.narrator import Narrator
    from krypenv.ui.narrator.words import language_of
    from krypenv.ui.rulebook import five_lines, in_full, shows

    rules = replace(settings.game, rules=settings.preset).parse()
    console = Console()
    narrator = Narrator(rules, language=settings.language or language_of(), symbols=shows(console, "♠"))
    told = in_full(narrator, console.width) if settings.full else five_lines(narrator, console.width)
    console.print(told, highlight=False)
