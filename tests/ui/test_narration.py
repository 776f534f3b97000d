"""Golden narration: the rules of every preset in full, and a random game as one seat is told it, in each language;
and what pictures say.

`make golden` writes `tests/narration/` anew; the diff shows what a change altered.
"""

from __future__ import annotations

import random

import pytest
from support.games import play_out
from support.places import TESTS
from support.playthroughs import GAMES

from krypenv import Game, Rules
from krypenv.game.moves import Move
from krypenv.pictures.scene import lay_out
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import LANGUAGES

FOLDER = TESTS / "narration"
SHOWN_DEALS = 2  # at the beginning of a game; its last deal too
TEXTS = [(language, name) for language in LANGUAGES for name in [*Rules.presets(), "variants"]]


def narration(language, name):
    """The rules of a preset in full and a game of it, or the five lines of each kind of rules with a playthrough."""
    lines = []
    if name == "variants":
        for text in GAMES.values():
            told = Narrator(Rules.parse(text), language=language).lines()
            lines += [f"[{text}]", *(f"{heading}: {line}" for heading, line in told), ""]
        return "\n".join(lines)
    rules = Rules.preset(name)
    narrator = Narrator(rules, ["", "champion"], 0, language)
    for heading, paragraphs in narrator.in_full():
        lines += [heading, *(f"  {paragraph}" for paragraph in paragraphs), ""]
    return "\n".join([f"[{rules}]", "", *lines, *told_game(narrator, rules)]) + "\n"


def told_game(narrator, rules):
    """A random game as seat 0 is told it, and why its cards can't take the first two of the table."""
    game, chooser, lines, deal = Game(rules, seed=1), random.Random(2), [], 0
    shown = {*range(1, SHOWN_DEALS + 1), len(rules.deal_sizes())}
    while not game.is_over:
        is_shown = game.deal_number in shown
        if game.deal_number != deal and is_shown:
            lines += ["", narrator.deal(game)]
            tried = [Move(card, tuple(game.table[:2])) for card in game.hand(game.turn)] if game.turn == 0 else []
            lines += [f"  ({narrator.why(game, move)})" for move in tried]
        deal, before = game.deal_number, game.copy()
        game.push(chooser.choice(game.legal_moves()))
        lines += [f"  {narrator.play(before, game)}"] if is_shown else []
        said = narrator.announcement(game) if not game.is_over and game.deal_number == deal else ""
        lines += [f'    "{said}"'] if said and is_shown else []
    return [*lines, "", *narrator.sheet_lines(game), "", narrator.result(game)]


@pytest.mark.parametrize(("language", "name"), TEXTS)
def test_narration_is_as_stored(language, name, file_regression):
    told = narration(language, name)
    file_regression.check(told, encoding="utf-8", fullpath=FOLDER / language / f"{name}.txt")


def test_no_narration_is_left_over():
    assert {(path.parent.name, path.stem) for path in FOLDER.glob("*/*")} == set(TEXTS)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["krypkasino players=6 teams=3", "mini-low games=2", "mulle-glimne players=4 teams=2"])
def test_pictures_tell_every_play_and_at_the_end_every_point(text, language):
    game = play_out(Game(Rules.parse(text), seed=2))
    narrator, twin = Narrator(game.rules, language=language), game.rewound()
    for move in game.moves:
        before = twin.copy()
        twin.push(move)
        things = [thing for thing in lay_out(twin, (), said=said_of(twin, narrator, before)) if thing.text]
        assert narrator.table_title in [thing.text for thing in things if thing.place == "head"]
        told = " ".join(thing.text for thing in things if thing.place == "last")
        assert told == narrator.play(before, twin)
    cells, sheet = [thing.text for thing in things if thing.place == "sheet"], narrator.sheet(game)
    assert {entry.label for entry in sheet.entries} <= set(cells)
    at = len(cells) - cells[::-1].index(narrator.say("sheet.score"))
    assert cells[at : at + game.rules.players] == [str(score) for score in game.scores()]
