"""Golden narration: the rules of every preset in full, and a random game as one seat is told it, in each language.

`make golden` writes `tests/narration/` anew; the diff shows what a change altered.
"""

from __future__ import annotations

import random

import pytest
from pytest_regressions.file_regression import FileRegressionFixture
from support.places import TESTS
from support.playthroughs import GAMES

from krypenv import Game, Rules
from krypenv.game.moves import Move
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import LANGUAGES

FOLDER = TESTS / "narration"
SHOWN_DEALS = 2  # at the beginning of a game; its last deal too
TEXTS = [(language, name) for language in LANGUAGES for name in [*Rules.presets(), "variants"]]


def narration(language: str, name: str) -> str:
    """Return the golden narration of a preset, or the five lines of all variants."""
    return _variants(language) if name == "variants" else _preset(language, name)


def _variants(language: str) -> str:
    """Return the five lines of each kind of rules that has a playthrough."""
    lines = []
    for text in GAMES.values():
        told = Narrator(Rules.parse(text), language=language).lines()
        lines += [f"[{text}]", *(f"{heading}: {line}" for heading, line in told), ""]
    return "\n".join(lines)


def _preset(language: str, name: str) -> str:
    """Return the rules of a preset in full, and a game of it."""
    rules = Rules.preset(name)
    narrator = Narrator(rules, ["", "champion"], 0, language)
    lines = [f"[{rules}]", ""]
    for heading, paragraphs in narrator.in_full():
        lines += [heading, *(f"  {paragraph}" for paragraph in paragraphs), ""]
    return "\n".join([*lines, *_game(narrator, rules)]) + "\n"


def _game(narrator: Narrator, rules: Rules) -> list[str]:
    """Return a random game as seat 0 is told it, and why its cards can't take the first two of the table."""
    game, chooser, lines, deal = Game(rules, seed=1), random.Random(2), [], 0
    shown = {*range(1, SHOWN_DEALS + 1), len(rules.deal_sizes())}
    while not game.is_over:
        is_shown = game.deal_number in shown
        if game.deal_number != deal and is_shown:
            lines += ["", narrator.deal(game)]
            tried = [Move(card, tuple(game.table[:2])) for card in game.hand(game.turn)] if game.turn == 0 else []
            lines += [f"  ({narrator.why(game, move)})" for move in tried]
        deal = game.deal_number
        before = game.copy()
        game.push(chooser.choice(game.legal_moves()))
        lines += [f"  {narrator.play(before, game)}"] if is_shown else []
        said = narrator.announcement(game) if not game.is_over and game.deal_number == deal else ""
        lines += [f'    "{said}"'] if said and is_shown else []
    return [*lines, "", *narrator.sheet_lines(game), "", narrator.result(game)]


@pytest.mark.parametrize(("language", "name"), TEXTS)
def test_narration_is_as_stored(language: str, name: str, file_regression: FileRegressionFixture) -> None:
    told = narration(language, name)
    file_regression.check(told, encoding="utf-8", fullpath=FOLDER / language / f"{name}.txt")


def test_no_narration_is_left_over() -> None:
    assert {(path.parent.name, path.stem) for path in FOLDER.glob("*/*")} == set(TEXTS)
