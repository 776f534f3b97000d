"""`krypenv rules`: what a game is, in five lines or in full, in English and Swedish."""

from __future__ import annotations

import pytest
from support.commands import krypenv

from krypenv import Rules
from krypenv.ui.narrator.narrator import Narrator

ENGLISH = ["Goal", "Points", "A turn", "Sweeps", "The end"]
SWEDISH = ["Målet", "Poäng", "Ett drag", "Tabbar", "Slutet"]


def words_of(text):
    return " ".join(text.split())


@pytest.mark.parametrize("language", ["en", "sv"])
@pytest.mark.parametrize("full", [False, True])
def test_the_command_prints_what_the_narrator_says(language, full):
    done = krypenv("rules", "mulle", "--players", 4, "--teams", 2, "--language", language, *["--full"] * full)
    assert done.exit_code == 0, done.output
    narrator = Narrator(Rules.preset("mulle", players=4, teams=2), language=language)
    told = narrator.in_full() if full else [(heading, [line]) for heading, line in narrator.lines()]
    wanted = " ".join(" ".join([heading, *paragraphs]) for heading, paragraphs in told)
    assert words_of(done.stdout) == words_of(wanted)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_lines_fit_and_stand_beside_their_headings(columns):
    for words, headings in (([], ENGLISH), (["--language", "sv"], SWEDISH)):
        lines = krypenv("rules", *words, columns=columns).stdout.splitlines()
        assert [line.partition("  ")[0] for line in lines if not line.startswith(" ")] == headings
        assert max(map(len, lines)) <= min(columns, 100)
        assert all(line == line.rstrip() for line in lines)
