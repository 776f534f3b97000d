"""What pictures say in words: the title, every play, and the score sheet at the end."""

from __future__ import annotations

import pytest
from support.games import play_out

from krypenv import Game, Rules
from krypenv.pictures.scene import lay_out
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator


def words_of(game, narrator, before=None):
    """The words of a picture, by where they stand."""
    things = lay_out(game, (), said=said_of(game, narrator, before))
    places = {thing.place for thing in things}
    return {place: [thing.text for thing in things if thing.place == place and thing.text] for place in places}


@pytest.mark.parametrize("language", ["en", "sv"])
@pytest.mark.parametrize("text", ["krypkasino players=6 teams=3", "mini-low games=2", "mulle-glimne players=4 teams=2"])
def test_every_play_is_told_and_at_the_end_every_point(text, language):
    game = play_out(Game(Rules.parse(text), seed=2))
    narrator, twin = Narrator(game.rules, language=language), game.rewound()
    for move in game.moves:
        before = twin.copy()
        twin.push(move)
        words = words_of(twin, narrator, before)
        assert narrator.table_title in words["head"]
        assert " ".join(words["last"]) == narrator.play(before, twin)
    cells, sheet = words["sheet"], narrator.sheet(game)
    assert {entry.label for entry in sheet.entries} <= set(cells)
    at = len(cells) - cells[::-1].index(narrator.say("sheet.score"))
    assert cells[at : at + game.rules.players] == [str(score) for score in game.scores()]
