"""The terminal's screen that stays in place: it fits, uses the width it has, follows its window, leaves no trace."""

from __future__ import annotations

import fcntl
import re
import signal
import struct
import termios
import time
from pathlib import Path

import pytest
from support.commands import krypenv
from support.terminals import ANSI, krypenv_in_a_terminal

from krypenv import Game
from krypenv.training.evaluation.luck.game_luck import luck_of_game

pytestmark = pytest.mark.usefixtures("own_folder")

HOME = "\x1b[H"
ALONE = ["play", "--seed", "3", "--against", "greedy", "--hint", "greedy"]


def saved():
    return Game.replay(Path("game.krk").read_text(encoding="utf-8"))


def frames(shown):
    """What stood on the screen each time that it was drawn, as lines."""
    return [ANSI.sub("", part).replace("\r", "").split("\n") for part in shown.split(HOME)[1:]]


def at_a_prompt(shown):
    return [lines for lines in frames(shown) if any(line.startswith("You play: ") for line in lines)]


def up_to_the_prompt(lines):
    place = next(at for at, line in enumerate(lines) if line.startswith("You play: "))
    return lines[: place + 1]


@pytest.mark.parametrize(("columns", "rows", "players"), [(80, 24, 6), (100, 24, 3), (120, 40, 2), (40, 20, 4)])
def test_every_screen_fits_and_a_wide_one_has_a_second_column(columns, rows, players):
    arguments = [*ALONE, "--players", players]
    code, shown = krypenv_in_a_terminal(
        list(map(str, arguments)), ["hint", "1", "why 1", "z", "1", "q"], columns, rows, NO_COLOR=""
    )
    assert code == 0, shown
    drawn = at_a_prompt(shown)
    assert len(drawn) >= 6
    for lines in map(up_to_the_prompt, drawn):
        assert len(lines) <= rows
        assert max(map(len, lines)) <= columns
        text = "\n".join(lines)
        assert "Table" in text
        assert "creeps" in text or "takes" in text, "there is something to choose"
        assert ("Piles" in text) == ("The game so far" in text) == (columns >= 100)
    told = ["\n".join(lines) for lines in drawn]
    assert "Greedy advises" in told[1]
    assert "Greedy advises" not in told[2], "what was said is gone after the next line"
    assert "You played" in told[2]
    assert "would" in told[3]
    assert "Type a number" in told[4]
    assert ("Last capture" in told[-1]) == (columns >= 100 and "took" in told[-1])


def test_the_second_column_counts_the_piles_and_tells_the_game_from_its_record():
    krypenv_in_a_terminal(ALONE, ["1", "1", "1", "q"], 120, 40, NO_COLOR="")
    game = saved()
    _, shown = krypenv_in_a_terminal(
        ["play", "--load", "game.krk", "--against", "greedy"], ["undo", "q"], 120, 60, NO_COLOR=""
    )
    first, back = ("\n".join(lines) for lines in at_a_prompt(shown)[:2])
    for seat, name in enumerate(("You", "Greedy")):
        count = game.pile_counts(seat)[0]
        assert f"{name}: {count} card{'s' * (count != 1)}" in first
    plays = re.compile(r"(You|Greedy) played")
    column = [line[80:] for line in first.split("The game so far")[1].splitlines()[1:]]
    assert len(plays.findall("\n".join(column))) == len(game.moves)
    column = [line[80:] for line in back.split("The game so far")[1].splitlines()[1:]]
    assert len(plays.findall("\n".join(column))) == len(game.moves) - 2, "what was taken back is not told"


def sized(rows, columns):
    def change(_, own):
        time.sleep(0.3)  # until the process reads: what comes just before is noticed with the next key
        fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    return change


def test_it_is_drawn_anew_when_its_window_changes_before_anything_is_typed():
    _, shown = krypenv_in_a_terminal(ALONE, [sized(40, 120), sized(20, 40), "q"], 80, 24, NO_COLOR="")
    drawn = [up_to_the_prompt(lines) for lines in at_a_prompt(shown)]
    widths = [max(map(len, lines)) for lines in drawn]
    assert len(drawn) == 3
    assert widths[0] <= 80 < widths[1] <= 120
    assert widths[2] <= 40
    assert len(drawn[2]) <= 20
    assert ["Piles" in "\n".join(lines) for lines in drawn] == [False, True, False]


def test_a_long_answer_stands_alone_and_enter_shows_the_table_again():
    _, shown = krypenv_in_a_terminal(ALONE, ["rules full", "", "q"], 80, 24, NO_COLOR="")
    first, rules, again = ("\n".join(lines) for lines in at_a_prompt(shown)[:3])
    assert "Example: on the table" in rules
    assert "Table  " not in rules
    assert "Enter shows the table again." in rules
    assert again.split("You play")[0] == first.split("You play")[0]


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


@pytest.mark.parametrize(("ending", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 0), ("q", 0)])
def test_whatever_ends_it_the_game_is_saved_and_the_terminal_left_as_it_was(ending, code):
    done, shown = krypenv_in_a_terminal(ALONE, ["1", ending], 80, 24, NO_COLOR="")
    assert done == code, shown
    assert len(saved().moves) == 2
    assert "\x1b[" in shown
    told = " ".join(ANSI.sub("", shown).split())
    assert "The game is saved in game.krk; to go on: krypenv play --load game.krk" in told
    for begin, end in (("\x1b[?25l", "\x1b[?25h"), ("\x1b[?2004h", "\x1b[?2004l")):
        assert shown.rfind(begin) <= shown.rfind(end), "the cursor is shown, and pasting is as it was"
    assert "\x1b[?1049h" not in shown, "there is no second screen to leave"


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}])
def test_without_colour_it_is_written_line_by_line(environment):
    code, shown = krypenv_in_a_terminal(ALONE, ["1", "q"], 120, 40, **environment)
    assert code == 0, shown
    assert not re.search(r"\x1b\[[0-9;]*[34][0-9]", shown), "no colour; bold is allowed"
    assert max(len(ANSI.sub("", line)) for line in shown.splitlines()) <= 120
    assert HOME not in shown
    assert "Piles" not in shown
    assert shown.count("You played") == 1


def test_through_a_pipe_it_is_written_line_by_line_without_codes():
    done = krypenv(*ALONE, typed="1\nq\n", columns=120)
    assert "\x1b" not in done.stdout
    assert "Piles" not in done.stdout
    assert "Enter deals" not in done.stdout
    assert done.stdout.count("You played") == 1
