"""The terminal's screen that stays in place: golden screens, its window changes, and it leaves no trace.

`make golden` writes `tests/ui/sessions/` anew; the diff shows what a change altered.
"""

from __future__ import annotations

import fcntl
import io
import re
import signal
import struct
import sys
import termios
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from support.places import TESTS
from support.terminals import ANSI, krypenv_in_a_terminal

from krypenv import Game
from krypenv.training.evaluation.luck.game_luck import luck_of_game
from krypenv.ui.board import stays_in_place

pytestmark = pytest.mark.usefixtures("own_folder")

HOME = "\x1b[H"
ALONE = ["play", "--seed", "3", "--against", "greedy", "--hint", "greedy"]


def saved():
    return Game.replay(Path("game.krk").read_text(encoding="utf-8"))


def frames(shown):
    """What stood on the screen each time that it was drawn, as lines."""
    return [ANSI.sub("", part).replace("\r", "").split("\n") for part in shown.split(HOME)[1:]]


def at_prompts(shown):
    """The screens on which a move is asked for, up to that line."""
    for lines in frames(shown):
        asked = [at for at, line in enumerate(lines) if line.startswith("You play: ")]
        if asked:
            yield [line.rstrip() for line in lines[: asked[0] + 1]]


@pytest.mark.few(1)
@pytest.mark.parametrize(("columns", "rows", "players"), [(100, 24, 3), (40, 20, 4)])
def test_screens_are_as_stored_and_fit_their_window(columns, rows, players, file_regression):
    lines = ["hint", "1", "why 1", "z", "rules full", "", "1", "undo", "1", "q"]
    _, shown = krypenv_in_a_terminal([*ALONE, "--players", str(players)], lines, columns, rows, NO_COLOR="")
    drawn = list(at_prompts(shown))
    for screen in drawn:
        assert len(screen) <= rows or screen[0].startswith("Goal"), "rules in full are scrolled"
        assert max(map(len, screen)) <= columns
    path = TESTS / "ui" / "sessions" / f"screens-{columns}.txt"
    file_regression.check("\n\n".join(map("\n".join, drawn)) + "\n", encoding="utf-8", fullpath=path)


def sized(rows, columns):
    def change(_, own):
        time.sleep(0.3)  # until the process reads: what comes just before is noticed with the next key
        fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    return change


@pytest.mark.slow
def test_it_is_drawn_anew_when_its_window_changes_before_anything_is_typed():
    _, shown = krypenv_in_a_terminal(ALONE, [sized(40, 120), sized(20, 40), "q"], 80, 24, NO_COLOR="")
    drawn = list(at_prompts(shown))
    widths = [max(map(len, lines)) for lines in drawn]
    assert len(drawn) == 3
    assert widths[0] <= 80 < widths[1] <= 120
    assert widths[2] <= 40
    assert len(drawn[2]) <= 20
    assert ["Piles" in "\n".join(lines) for lines in drawn] == [False, True, False]


@pytest.mark.slow
def test_the_score_and_what_the_cards_brought_stay_at_the_end():
    words = ["play", "--rules", "mini-low", "--seed", "4", "--against", "random"]
    code, shown = krypenv_in_a_terminal(words, ["1"] * 60, 80, 24, NO_COLOR="")
    assert code == 0, shown
    assert saved().session_over
    last = "\n".join(frames(shown)[-1])
    assert re.search(r"score +-?\d+ +-?\d+", last)
    assert luck_of_game(saved()).tell(0) in " ".join(last.split())
    assert "The game is saved in game.krk." in last
    assert "You play:" not in last


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 0)])
def test_whatever_ends_it_the_game_is_saved_and_the_terminal_left_as_it_was(ending, code):
    done, shown = krypenv_in_a_terminal(ALONE, ["1", ending], 80, 24, NO_COLOR="")
    assert done == code, shown
    assert len(saved().moves) == 2
    told = " ".join(ANSI.sub("", shown).split())
    assert "The game is saved in game.krk; to go on: krypenv play --load game.krk" in told
    for begin, end in (("\x1b[?25l", "\x1b[?25h"), ("\x1b[?2004h", "\x1b[?2004l")):
        assert shown.rfind(begin) <= shown.rfind(end), "the cursor is shown, and pasting is as it was"
    assert "\x1b[?1049h" not in shown, "there is no second screen to leave"


@pytest.mark.parametrize("environment", [{"TERM": "xterm"}, {"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_only_a_terminal_with_colours_is_drawn_in_place(environment, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    console = Console(file=io.StringIO(), force_terminal=True, _environ=environment)
    assert stays_in_place(console) == (environment == {"TERM": "xterm"})
    assert not stays_in_place(Console(file=io.StringIO(), _environ=environment)), "nobody sits at a file"
