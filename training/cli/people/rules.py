"""`krypenv rules`: the rules of a game, in five lines or in full."""

from __future__ import annotations

from typing import ClassVar

from krypenv.training.settings.base import option, output
from krypenv.training.settings.groups import KRYPKASINO, GameSettings, Language, language_option


class RulesSettings(GameSettings):
    """The settings of `krypenv rules`."""

    command: ClassVar[str] = "rules"

    rules: str = option(KRYPKASINO, "preset of the rules", is_argument=True, flag="preset")
    full: bool = output(False, "all of the rules, with examples")
    language: Language = language_option()


def run(settings: RulesSettings) -> None:
    """Print the rules of a game: five lines, or with --full all of them, with examples."""
    from rich.console import Console

    from krypenv.ui.narrator.narrator import Narrator
    from krypenv.ui.narrator.words import language_of
    from krypenv.ui.rulebook import five_lines, in_full, shows

    rules = settings.game_rules()
    console = Console()
    narrator = Narrator(rules, language=settings.language or language_of(), symbols=shows(console, "♠"))
    text = in_full(narrator, console.width) if settings.full else five_lines(narrator, console.width)
    console.print(text, highlight=False)
