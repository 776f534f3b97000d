"""What the terminal says: golden sessions in both languages, what a line may mean, reasons, and hints.

`make golden` writes `tests/ui/sessions/` anew; the diff shows what a change altered.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from support.commands import krypenv
from support.decisions import CHOICE, FORCED
from support.places import TESTS
from support.terminals import sitting

from krypenv import Game, Rules
from krypenv.advice.estimates import Estimate
from krypenv.advice.values import MoveValue, Values
from krypenv.ui import terminal
from krypenv.ui.narrator.texts import CATALOGUES
from krypenv.ui.table import Table
from krypenv.ui.terminal import COMMANDS, Terminal

pytestmark = pytest.mark.usefixtures("own_folder")

SESSIONS = TESTS / "ui" / "sessions"
TWO_WAYS = "rules: krypkasino; hand 0: 9S KC; hand 1: 4C 7D; table: 5C 4D 3H 2S; captured 1: rest"
BUILDS = "rules: mulle-glimne; table: 5D 7H; hand 0: 4S 9C; hand 1: QS 8C; captured 1: rest; stock: -"
MANY_WAYS = (
    "rules: kasino-sweden; table: AS 2S 3S 4S 5S 2H 3H 4H AH; hand 0: AC 9C TC; hand 1: 5C 6C 7C; captured 1: rest; "
    "stock: -"
)
ENGLISH = re.compile(
    r"\b(the|you|your|played|took|takes|stays|table|deal|game|points?|score|sweep|wins?|type|saved|leads?|cards)\b",
    re.IGNORECASE,
)


def table_of(text, seed=3):
    """A table with a new game of some rules, or with a position."""
    is_position = "hand 0" in text
    game = Game.from_position(text) if is_position else Game(Rules.parse(text), seed=seed)
    return Table(game, 0, ["random"], 2)


def shown(table, lines, **more):
    """All that a terminal writes while some lines are typed."""
    terminal, out = sitting(table, [*lines, *["quit", "lämna"] * 2], **more)
    terminal.run()
    return out.getvalue()


def flat(text):
    return " ".join(text.split())


# ---------------------------------------------------------------------- golden sessions

ASKING = (
    "?",
    "hint full",
    "why 1",
    "why",
    "rules",
    "rules full",
    "table",
    "77",
    "zz",
    "1",
    "undo",
    "undo",
    "save",
    "back",
)


def remark(table):
    """A remark about each game but the first, of which it is skipped by Ctrl-C."""
    if table.game.game_number == 1:
        raise KeyboardInterrupt
    return f"That was game {table.game.game_number}."


@pytest.mark.parametrize(
    ("name", "text", "language", "width", "lines"),
    [
        ("session", "mini-low games=2", "en", 80, [*ASKING, *["1"] * 10, "", *["1"] * 10]),
        ("builds", "mini-mulle", "sv", 80, [*ASKING, *["1"] * 20]),
        ("partners", "krypkasino players=4 teams=2", "sv", 40, [*ASKING[:4], "1", "2", "1"]),
        ("optional", "kasino-sweden", "en", 120, ["1", "1", "more", "hint", "2", "back", "1", "1"]),
        ("many-ways", MANY_WAYS, "en", 80, ["2", "more", "more", "back", "9c", "1"]),
    ],
)
def test_sessions_are_as_stored(name, text, language, width, lines, file_regression):
    words = {CATALOGUES["en"][f"word.{each}"]: CATALOGUES[language][f"word.{each}"] for each in (*COMMANDS, "full")}
    typed = (" ".join(words.get(word, word) for word in line.split()) for line in lines)
    said = shown(table_of(text), typed, language=language, width=width, helper="search(worlds=2)", remark=remark)
    assert max(map(len, said.splitlines()[:-2])) <= width, "only the path in the last lines is not broken"
    if language == "sv":
        assert not ENGLISH.findall(said.replace("game.krk", ""))
    file_regression.check(said, encoding="utf-8", fullpath=SESSIONS / f"{name}.txt")


@pytest.mark.parametrize(("words", "columns"), [(("--language", "sv"), 40), (("mulle", "--players", 4, "--full"), 200)])
def test_the_rules_are_printed_as_stored(words, columns, file_regression):
    said = krypenv("rules", *words, columns=columns).stdout
    file_regression.check(said, encoding="utf-8", fullpath=SESSIONS / f"rules-{columns}.txt")


def test_cards_are_written_one_way_also_where_there_are_letters_only():
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    answers, console = iter(["9d", "8s 6d", "why 8s", "7c", "hint", "?", "1", "q"]), Console(file=out, width=80)
    Terminal(table_of(FORCED), Path("game.krk"), "greedy", console, read=lambda _: next(answers)).run()
    out.seek(0)
    text = out.read()
    assert re.search("^  Table +[26][DH]", text, re.MULTILINE)
    for sentence in ("play 8S.", "8S takes 6D+2H: a sweep", "7C is not in your hand", "You played 8S"):
        assert sentence in flat(text)


def test_a_command_begins_with_a_letter_of_its_own_in_every_language():
    for texts in CATALOGUES.values():
        assert len({texts[f"word.{command}"][0] for command in COMMANDS}) == len(COMMANDS)


# ---------------------------------------------------------------------- what is typed

WHOLE = ("10c x 2s 3s 5s", "tc 2s+3s+5s", "TCx2S3S5S", "10♣ 2♠, 3♠, 5♠", "10♣ takes 2♠+3♠+5♠",
         "play 10c, take 2s and 3s and 5s", "10c: 2s 3s 5s")  # fmt: skip
SPACED = ("4s+5d=9", "4S5D=9", "4s 5d = 9", "4♠ + 5♦ =9", "4♠ builds 9 with 5♦")


@pytest.mark.parametrize(
    ("position", "lines", "move"),
    [
        *((MANY_WAYS, (line,), "TCx2S3S5S") for line in WHOLE),
        (MANY_WAYS, ("2", WHOLE[0]), "TCx2S3S5S"),  # also where the nine was chosen
        *((MANY_WAYS, lines, "TC") for lines in (("10c -",), ("10c takes -",), ("2", "10c -"), ("3", "-"))),
        (MANY_WAYS, ("9c", "5s 4h 2s 3s 4s"), "9Cx4H2S3S4S5S"),
        *((BUILDS, (line,), "4S+5D=9") for line in SPACED),
    ],
)
def test_a_move_is_understood_however_it_is_written(position, lines, move):
    table = table_of(position)
    shown(table, lines)
    assert str(table.game.moves[0]) == move


@pytest.mark.parametrize(
    ("position", "lines", "sentence"),
    [
        (FORCED, ("9d",), "You must sweep: play 8♠."),
        (FORCED, ("7c",), "7♣ is not in your hand. You hold 9♦ 8♠."),
        (FORCED, ("why 2",), "There is only one choice, not 2."),
        (FORCED, ("why",), "Name a card of yours"),
        (FORCED, ("why me",), "Type a number, a card as in 8s, or ? for help."),
        (TWO_WAYS, ("why 9s",), "9♠ takes 5♣+4♦ or 4♦+3♥+2♠: choose."),
        (TWO_WAYS, ("why 9s 5c 4d",), "9♠ would take 5♣+4♦."),
        (BUILDS, ("9c+5d=14",), "You would keep no ace for that build."),
        (BUILDS, ("4s+=",), "There is no such move"),
        (BUILDS, (f"why {SPACED[0]}",), "That would build 9: 4♠ 5♦."),
        (MANY_WAYS, ("9",), "The choices are 1 to 3, not 9."),
        (MANY_WAYS, ("9" * 5000,), "The choices are 1 to 3, not 0."),
        (MANY_WAYS, ("9c 2s",), "9♣ can't take 2♠: it doesn't make 9."),
        (MANY_WAYS, ("9c", "why 5s 4h"), "9♣ would take 4♥+5♠."),
        (MANY_WAYS, ("9c", "why take 4s and 5h"), "5♥ is not on the table."),
        (MANY_WAYS, ("9c", "why -"), "9♣ would creep."),
        (MANY_WAYS, ("9c", "why 5s"), "9♣ can't take 5♠: it doesn't make 9."),
    ],
    ids=lambda each: str(each)[-40:],
)
def test_refusals_and_reasons(position, lines, sentence):
    table = table_of(position)
    assert sentence in flat(shown(table, lines))
    assert not table.game.moves


def test_pictures_are_typed_as_the_person_s_language_writes_them():
    table = table_of("rules: krypkasino; hand 0: QD JC; hand 1: 4C KD; table: 2H 6D; captured 1: rest")
    said = shown(table, ["varför dd", "Varför Kn♣"], language="sv")
    assert "D♦ skulle krypa." in said
    assert "Kn♣ skulle krypa." in said


# ---------------------------------------------------------------------- hints


def test_a_hint_tells_the_preferred_move_first_and_that_it_has_not_the_highest_margin(monkeypatch):
    margins = (("8Sx3H5D8C", (2.5, 2.0, 3.0), 0.0), ("7C", (1.5, 1.0, 2.0), 0.3))
    moves = tuple(
        MoveValue(move, Estimate(*margin), Estimate(0, 0, 0), 0, sets_up, 0) for move, margin, sets_up in margins
    )
    monkeypatch.setattr(terminal, "hint_of", lambda *_: Values(moves, 1, 20, False))
    said = shown(table_of(CHOICE), ["hint full"], helper="champion")
    assert "Best: 7♣ creeps. It costs nothing, and in three games of ten the next player must then sweep" in flat(said)
    rows = re.findall(r"^  (\S.*\S) +([+-]\d+\.\d ± \d+\.\d) +(\d+%)$", said, re.MULTILINE)
    assert rows == [("7♣ creeps", "+1.5 ± 0.5", "30%"), ("8♠ takes 8♣ 5♦+3♥", "+2.5 ± 0.5", "0%")]
    assert flat(CATALOGUES["en"]["hint.prefers"].format(agent="Champion")) in flat(said)


def test_a_helper_that_can_t_play_is_refused_in_a_sentence():
    said = flat(shown(table_of("mini-low"), ["hint"], helper="oracle-hand"))
    assert "oracle-hand sees what is hidden, so it can't play here." in said
