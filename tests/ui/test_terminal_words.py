"""What the terminal says: the game, every play, choices with their points, reasons, and the score, in two languages."""

from __future__ import annotations

import io
import random
import re
import time
from pathlib import Path

import numba
import pytest
from rich.console import Console
from support.terminals import sitting, some_lines, typed

from krypenv import Game, Rules
from krypenv.advice.estimates import plus_minus
from krypenv.game.moves import Move
from krypenv.ui.choices import choices_of
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.options import group_of
from krypenv.ui.narrator.texts import CATALOGUES
from krypenv.ui.table import Table
from krypenv.ui.terminal import COMMANDS, Terminal

pytestmark = pytest.mark.usefixtures("own_folder")

MUST_SWEEP = "rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest"
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


def shown(table, lines, **more):
    """All that a terminal writes while some lines are typed."""
    terminal, out = sitting(table, [*lines, *["quit", "lämna"] * 2], **more)
    terminal.run()
    return out.getvalue()


def at(position):
    return Table(Game.from_position(position), 0, ["random"])


def flat(text):
    return " ".join(text.split())


# ---------------------------------------------------------------------- the game


@pytest.mark.parametrize("text", ["krypkasino players=3", "mulle players=4 teams=2", "mulle-glimne players=2"])
def test_a_new_game_begins_with_five_lines_and_who_leads(text):
    table = Table(Game(Rules.parse(text), seed=1), 1, ["random"])
    said = flat(shown(table, []))
    narrator = Narrator(table.game.rules, table.names, 1)
    for heading, line in narrator.lines():
        assert f"{heading} {line}" in said
    assert flat(narrator.deal(Game(Rules.parse(text), seed=1))) in said


def test_a_game_that_was_begun_tells_its_rules_when_it_is_asked():
    table = Table(Game(Rules.preset(), seed=1), 0, ["random"])
    table.game.push(table.game.legal_moves()[0])
    goal = Narrator(table.game.rules).lines()[0][1]
    example = "Example: on the table"
    for words, is_told, is_full in (([], False, False), (["rules"], True, False), (["rules full"], True, True)):
        said = flat(shown(table, words))
        assert (goal in said, example in said) == (is_told, is_full)


@pytest.mark.parametrize(
    ("text", "language"),
    [("krypkasino players=2", "en"), ("mini-low players=2 games=2", "sv"), ("mulle-glimne players=4 teams=2", "en"),
     ("kasino-finland players=3", "sv")],
)  # fmt: skip
def test_every_play_every_deal_and_the_score_are_told(text, language):
    table = Table(Game(Rules.parse(text), seed=3), 0, ["random"], 2)
    lines = (line for line in some_lines(table, 4) if line != "undo")
    terminal, out = sitting(table, lines, language=language, width=200)
    terminal.run()
    said, game = flat(out.getvalue()), table.game
    narrator, twin, at_end = Narrator(game.rules, table.names, 0, language), game.rewound(), 0
    for move in game.moves:
        before = twin.copy()
        twin.push(move)
        place = said.find(flat(narrator.play(before, twin)), at_end)
        assert place >= 0, narrator.play(before, twin)
        at_end = place
        if not twin.is_over and twin.deal_number != before.deal_number:
            assert flat(narrator.deal(twin)) in said[at_end:]
    for line in [*narrator.sheet_lines(game, 200), narrator.result(game)]:
        assert flat(line) in said[at_end:]


@pytest.mark.parametrize("text", ["krypkasino players=2", "howto players=3", "kasino-sweden players=2",
                                  "mulle players=2", "mulle-glimne players=2"])  # fmt: skip
def test_choices_stand_in_their_groups_with_what_they_bring_at_once(text):
    seen = set()
    for seed in range(6):
        game, chooser = Game(Rules.parse(text), seed=seed), random.Random(seed)
        for _ in range(5 * seed):
            game.push(chooser.choice(game.legal_moves()))
        choices = choices_of(game)
        if not choices.moves:
            continue
        said = shown(Table(game, game.turn, ["random"]), [], width=120)
        rows = re.findall(r"^(Take|Build|Creep)\b|^ +(\d+)  (\S+) .* ([+-]?\d+)$", said, re.MULTILINE)
        group, found = "", []
        for title, number, card, points in rows:
            group = {"Creep": "leave"}.get(title, title.lower()) or group
            found += [(int(number), group, card, int(points))] if number else []
        wanted = []
        for number, move in enumerate(choices.moves, 1):
            twin = game.copy()
            twin.push(move)
            points = twin.scores()[game.turn] - game.scores()[game.turn]
            gain = points if game.rules.goal == "high" else -points
            wanted.append((number, group_of(move), Narrator(game.rules).card(move.card), gain))
        assert found == wanted
        seen |= {group for _, group, _, _ in found}
    assert seen == {"take", "leave"} | ({"build"} if "glimne" in text else set())


# ---------------------------------------------------------------------- what is typed

WHOLE = ("10c x 2s 3s 5s", "tc 2s+3s+5s", "TCx2S3S5S", "10♣ 2♠, 3♠, 5♠", "10♣ takes 2♠+3♠+5♠",
         "play 10c, take 2s and 3s and 5s", "10c: 2s 3s 5s")  # fmt: skip
SPACED = ("4s+5d=9", "4S5D=9", "4s 5d = 9", "4♠ + 5♦ =9", "4♠ builds 9 with 5♦")


@pytest.mark.parametrize(
    ("position", "lines", "move"),
    [
        *((MANY_WAYS, (line,), "TCx2S3S5S") for line in WHOLE),
        *((MANY_WAYS, ("2", line), "TCx2S3S5S") for line in WHOLE),  # also where the nine was chosen
        *((MANY_WAYS, lines, "TC") for lines in (("10c -",), ("10c takes -",), ("2", "10c -"), ("3", "-"))),
        (MANY_WAYS, ("9c", "5s 4h 2s 3s 4s"), "9Cx4H2S3S4S5S"),
        *((BUILDS, (line,), "4S+5D=9") for line in SPACED),
    ],
)
def test_a_move_is_understood_however_it_is_written(position, lines, move):
    table = at(position)
    shown(table, lines)
    assert str(table.game.moves[0]) == move


@pytest.mark.parametrize(
    ("position", "lines", "sentence"),
    [
        (MUST_SWEEP, ("9d",), "You must sweep: play 8♠."),
        (MUST_SWEEP, ("7c",), "7♣ is not in your hand. You hold 9♦ 8♠."),
        (MUST_SWEEP, ("why 1",), "8♠ would take 6♦+2♥: a sweep. It costs you 6 points and takes 5 points off Random."),
        (MUST_SWEEP, ("why 2",), "There is only one choice, not 2."),
        (MUST_SWEEP, ("why",), "Name a card of yours"),
        (MUST_SWEEP, ("why me",), "Type a number, a card as in 8s, or ? for help."),
        (TWO_WAYS, ("why 9s",), "9♠ takes 5♣+4♦ or 4♦+3♥+2♠: choose."),
        (TWO_WAYS, ("why 9s 5c 4d",), "9♠ would take 5♣+4♦."),
        (BUILDS, ("9c+5d=14",), "You would keep no ace for that build."),
        (BUILDS, ("4s+=",), "There is no such move"),
        *((BUILDS, (f"why {line}",), "That would build 9: 4♠ 5♦.") for line in SPACED),
        (MANY_WAYS, ("9",), "The choices are 1 to 3, not 9."),
        (MANY_WAYS, ("9" * 5000,), "The choices are 1 to 3, not 0."),
        (MANY_WAYS, ("9c 2s",), "9♣ can't take 2♠: it doesn't make 9."),
        *((MANY_WAYS, (f"why {line}",), "10♣ would take 2♠+3♠+5♠.") for line in WHOLE),
        (MANY_WAYS, ("9c", "why 5s 4h"), "9♣ would take 4♥+5♠."),
        (MANY_WAYS, ("9c", "why take 4s and 5h"), "5♥ is not on the table."),
        (MANY_WAYS, ("9c", "why -"), "9♣ would creep."),
        (MANY_WAYS, ("9c", "why 5s"), "9♣ can't take 5♠: it doesn't make 9."),
    ],
    ids=lambda each: str(each)[-40:],
)
def test_refusals_and_reasons(position, lines, sentence):
    table = at(position)
    assert sentence in flat(shown(table, lines))
    assert not table.game.moves


def test_cards_are_written_one_way_also_where_there_are_letters_only():
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    answers, console = iter(["9d", "8s 6d", "why 8s", "7c", "hint", "?", "1", "q"]), Console(file=out, width=80)
    Terminal(at(MUST_SWEEP), Path("game.krk"), "greedy", console, read=lambda _: next(answers)).run()
    out.seek(0)
    text = out.read()
    assert re.search("^  Table +[26][DH]", text, re.MULTILINE)
    for sentence in (
        "You must sweep: play 8S.",
        "8S takes 6D+2H: a sweep",
        "7C is not in your hand",
        "You played 8S",
    ):
        assert sentence in flat(text)


# ---------------------------------------------------------------------- Swedish


@pytest.mark.parametrize(
    "text", ["krypkasino players=2", "mini-low players=2 games=2", "mulle-glimne players=4 teams=2"]
)
def test_in_swedish_there_is_no_english_word(text):
    table = Table(Game(Rules.parse(text), seed=1), 0, ["random"])
    words = {CATALOGUES["en"][f"word.{each}"]: CATALOGUES["sv"][f"word.{each}"] for each in COMMANDS}
    some = (words.get(line, line) for line in some_lines(table, 1))
    first = ["regler", "regler alla", "varför 1", "varför", "varför 8s", "spara", "spara .", "ångra", "qq", "99", "?"]

    def lines():
        yield from first
        yield from some

    terminal, out = sitting(table, lines(), language="sv", remark=lambda _: "")
    terminal.run()
    assert table.game.session_over
    found = {word.lower() for word in ENGLISH.findall(out.getvalue().replace("game.krk", ""))}
    assert not found


def test_a_command_begins_with_a_letter_of_its_own_in_every_language():
    for texts in CATALOGUES.values():
        words = [texts[f"word.{command}"] for command in COMMANDS]
        assert len({word[0] for word in words}) == len(words)


@pytest.mark.parametrize(("language", "width"), [("en", 80), ("en", 40), ("sv", 40)])
def test_help_tells_every_word_also_on_a_narrow_screen(language, width):
    said = shown(Table(Game(Rules.preset(), seed=1), 0, ["random"]), ["?"], language=language, width=width)
    texts = CATALOGUES[language]
    assert flat(texts["help"]) in flat(said)
    for command in COMMANDS:
        word, first = texts[f"word.{command}"], texts[f"help.{command}"].split()[0]
        assert re.search(rf"^{word} +{re.escape(first)}", said, re.MULTILINE)
    assert max(map(len, said.splitlines()[:-1])) <= width


def test_the_words_of_the_person_s_language_are_understood():
    table = Table(Game(Rules.preset(), seed=1), 0, ["random"])
    said = shown(table, [typed(table.game.legal_moves()[0]), "å", "Varför 1", "annat"], language="sv")
    assert not table.game.moves
    assert said.count("Krypkasino, giv 1 av 12") == 3
    assert "Du spelar: " in said
    pictures = at("rules: krypkasino; hand 0: QD JC; hand 1: 4C KD; table: 2H 6D; captured 1: rest")
    said = shown(pictures, ["varför dd", "varför Kn♣"], language="sv")
    assert "D♦ skulle krypa." in said
    assert "Kn♣ skulle krypa." in said


# ---------------------------------------------------------------------- hints


@pytest.mark.parametrize("text", ["krypkasino players=2", "mulle-glimne players=2"])
def test_a_hint_is_a_sentence_and_in_full_the_best_moves_with_their_values(text):
    table = Table(Game(Rules.parse(text), seed=3), 0, ["random"])
    said = shown(table, ["hint", "hint full", "hint full"], helper="champion(worlds=20)")
    values, narrator = table.hint("champion(worlds=20)"), Narrator(table.game.rules, table.names, 0)
    best = list(values.values)
    wanted = [best.pop(values.preferred), *best][:3]
    found = re.findall(r"^  (\S.*\S) +([+-]\d+\.\d ± \d+\.\d) +(\d+%)$", said, re.MULTILINE)
    told = [
        (narrator.choice(table.game, Move.parse(value.move))[0], plus_minus(value.margin, "+"), f"{value.sets_up:.0%}")
        for value in wanted
    ]
    assert [(words.strip(), *figures) for words, *figures in found] == told * 2, "the same when it is asked again"
    first = wanted[0]
    assert flat(said).count(narrator.advice(table.game, Move.parse(first.move), first.sets_up)) == 3
    assert ("its network has learned" in flat(said)) == bool(values.preferred)
    assert not table.game.moves


def test_a_helper_that_can_t_play_is_refused_in_a_sentence():
    table = Table(Game(Rules.preset(), seed=3), 0, ["random"])
    assert "oracle-hand sees what is hidden, so it can't play here." in flat(
        shown(table, ["hint"], helper="oracle-hand")
    )


def test_compiling_is_said_where_it_happens(monkeypatch):
    table, out = Table(Game(Rules.preset(), seed=3), 1, ["random"]), io.StringIO()
    plain = Table.play_others

    def compiling(self):
        numba.njit(lambda number: number + 1)(3)
        time.sleep(0.3)
        return plain(self)

    monkeypatch.setattr(Table, "play_others", compiling)
    console = Console(file=out, width=80, force_terminal=True, _environ={"TERM": "xterm"})
    Terminal(table, Path("game.krk"), "greedy", console, read=lambda _: "q").run()
    assert "Compiling, once" in out.getvalue()
