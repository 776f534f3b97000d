"""What pictures say in words: the title, every play, and the score sheet at the end, each in its place."""

from __future__ import annotations

import itertools
import random

import pytest
from support.rectangles import holds, overlap

from krypenv import Game, Rules
from krypenv.pictures.scene import HEIGHT, WIDTH, Rect, lay_out
from krypenv.training.cli.showing import with_before
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator

PICTURE = Rect(0, 0, WIDTH, HEIGHT)
GAMES = ["krypkasino players=2", "krypkasino players=6 teams=3", "howto players=3", "mini-low players=2 games=2",
         "kasino-finland players=4 teams=2", "overspader players=2", "mulle-glimne players=4 teams=2"]  # fmt: skip


def positions(rules, seed):
    """A random game at its start and after each move."""
    game, choices = Game(rules, seed=seed), random.Random(seed)
    yield game
    while not game.is_over:
        game.push(choices.choice(game.legal_moves()))
        yield game


def words_of(things, place):
    return [thing.text for thing in things if thing.place == place and thing.text]


@pytest.mark.parametrize("language", ["en", "sv"])
@pytest.mark.parametrize("text", GAMES)
def test_every_play_is_told_and_at_the_end_every_point(text, language):
    rules = Rules.parse(text)
    narrator = Narrator(rules, language=language)
    for game, before in with_before(positions(rules, 2)):
        things = lay_out(game, (), said=said_of(game, narrator, before))
        assert narrator.table_title in words_of(things, "head")
        if before is not None:
            lines = words_of(things, "last")
            assert " ".join(lines) == narrator.play(before, game)
            assert len(lines) <= 2
        assert not [thing for thing in things if thing.place == "last" and thing.kind == "card"]
        assert all(holds(PICTURE, thing.rect) for thing in things)
        words = [thing for thing in things if thing.kind in ("text", "ribbon") and thing.text]
        assert not any(overlap(one.rect, other.rect) for one, other in itertools.combinations(words, 2))
    cells = words_of(things, "sheet")
    sheet = narrator.sheet(game)
    assert [entry.label for entry in sheet.entries if entry.label not in cells] == []
    at = len(cells) - 1 - cells[::-1].index(narrator.say("sheet.score"))
    assert cells[at + 1 : at + 1 + rules.players] == [str(score) for score in game.scores()]
