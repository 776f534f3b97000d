"""What an analysis of a record says of moves and luck: printed, drawn, and as comments in the record."""

from __future__ import annotations

import re

import pytest
from support.commands import krypenv
from support.games import play_out

from krypenv import Game, Rules
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.training.evaluation.analysis.comments import analyzed_sides, annotate, print_luck
from krypenv.training.evaluation.analysis.picture import draw_record
from krypenv.ui.study.steps import read_record

# The last cards of a game of two: 2C creeps and leaves 2 and 4 of a sum that only 6D takes, a sweep that pays 10.
LAST = "rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest"
BEHIND = re.compile(r"(?:(\?!|\?\??) )?(\d+\.\d)(?: ± (\d+\.\d))? behind (\S+)")
GAME = play_out(Game(Rules.preset("mini-low"), seed=3), 3)
ANALYSIS = analyze(GAME, worlds=5)


def said_of(record, number):
    """What a record's comments say after so many moves, statement by statement."""
    return Game.replay(record).comments[number].split("; ")


def first_moves(game):
    """The number of moves before each deal, by its number."""
    return {deal: number for number, (deal, _) in reversed([*enumerate(deals_and_turns(game))])}


def deals_and_turns(game):
    """The deal and the seat of each move."""
    twin, found = game.rewound(), []
    for move in game.moves:
        found.append((twin.deal_number, twin.turn))
        twin.push(move)
    return found


def test_each_move_has_its_regret_with_the_interval_and_the_better_move():
    record, borders, kinds = annotate(GAME, ANALYSIS), first_moves(GAME).values(), set()
    for play in ANALYSIS.plays:
        said = said_of(record, play.number)[0]
        if play.number in borders:  # it stands under the title of the next deal
            start, _, said = said.partition(": ")
            assert start == f"move {play.number}"
        kinds.add(said if said in ("best", "only move") else "behind")
        if len(play.moves) == 1:
            assert said == "only move"
        elif play.played.move == play.best.move:
            assert said == "best"
        else:
            mark, regret, half, best = BEHIND.fullmatch(said).groups()
            assert (mark or "", best) == (play.mark, play.best.move)
            assert float(regret) == pytest.approx(play.regret, abs=0.051)
            assert float(half) == pytest.approx(play.played.behind.high - play.played.behind.mean, abs=0.051)
    assert kinds == {"best", "only move", "behind"}


def test_where_nothing_is_hidden_there_is_no_interval_and_without_a_deal_no_luck(capsys, tmp_path):
    game = Game.from_position(LAST)
    game.push("3C")
    analysis = analyze(game)
    assert said_of(annotate(game, analysis), 1) == ["?? 10.0 behind 2C"]
    print_luck(analysis)
    assert capsys.readouterr().out == "\nluck: unknown, as no deal was both dealt and finished in this record\n"
    draw_record(tmp_path / "a.png", analysis)
    assert analysis.to_json()["luck"]["deals"] == []


@pytest.mark.parametrize(
    ("text", "seat", "sides"),
    [
        ("mini-low", None, ["seat 0"]),
        ("mini-low", 1, ["seat 1"]),
        ("mini-low players=3", None, ["seat 0", "seat 1", "seat 2"]),
        ("mini-low players=3", 2, ["seat 2"]),
        ("krypkasino players=4 teams=2", 1, ["seats 1 and 3"]),
    ],
)
def test_only_the_moves_and_the_luck_of_who_was_analysed_are_told(text, seat, sides, capsys, tmp_path):
    """Luck is printed for each deal and in a sentence, drawn, and in comments before each deal and after the game."""
    game = play_out(Game(Rules.parse(text), seed=2), 2)
    analysis = analyze(game, worlds=2, seat=seat)
    assert [*analyzed_sides(analysis).values()] == sides
    print_luck(analysis)
    printed = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in printed.splitlines()]
    luck, starts, record = analysis.luck, first_moves(game), annotate(game, analysis)
    assert sorted(starts) == list(luck.deals)
    for at, deal in enumerate(luck.deals):
        told = []
        for side, name in zip(analyzed_sides(analysis), sides, strict=True):
            figures = [
                f"{points.round(1) + 0.0:+.1f}"
                for points in (luck.margins[at, side], luck.luck[at, side], luck.play[at, side])
            ]
            assert [name, str(deal), *figures] in rows
            told.append("{}: margin {}, cards {}, play {}".format(name, *figures))
        assert said_of(record, starts[deal])[-len(sides) :] == [f"deal {deal}, {told[0]}", *told[1:]]
    sentences = [
        luck.tell(side, name.capitalize(), "them" if " and " in name else "it")
        for side, name in zip(analyzed_sides(analysis), sides, strict=True)
    ]
    assert all(sentence in printed for sentence in sentences)
    assert Game.replay(record).comments[len(game.moves)].endswith(" ".join(sentences))
    comments = Game.replay(record).comments
    numbers = [number for number, text in comments.items() if re.search(r"best|only move|behind", text)]
    assert numbers == [number for number, (_, turn) in enumerate(deals_and_turns(game), 1) if seat in (None, turn)]
    draw_record(tmp_path / "a.png", analysis)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_record_reads_back_as_the_same_game_with_its_own_comments():
    game = GAME.copy()
    game.tags["Event"] = "an example"
    game.comments |= {0: "before all", 2: "two\nlines", len(game.moves): "the end"}
    record = annotate(game, ANALYSIS)
    twin = Game.replay(record)
    assert twin.record() == record
    assert [str(move) for move in twin.moves] == [str(move) for move in game.moves]
    assert twin.tags == {"Event": "an example", "Annotator": "search(worlds=5)"}
    for number, text in game.comments.items():
        assert twin.comments[number].startswith(f"{text}; ")
    assert list(game.tags) == ["Event"]  # the game itself is left as it was
    assert annotate(twin, ANALYSIS) == record  # what is said already is not said again


def test_the_file_is_shown_and_studied_with_its_comments_and_the_record_that_is_read_is_kept(tmp_path):
    source, out = tmp_path / "game.krk", tmp_path / "annotated.krk"
    source.write_text(GAME.record(), encoding="utf-8")
    assert krypenv("analyze", source, "--worlds", 5, "--annotate", out).exit_code == 0
    text = out.read_text(encoding="utf-8")
    assert text == annotate(GAME, ANALYSIS)
    shown = krypenv("show", out).stdout
    comments = Game.replay(text).comments
    assert len(comments) == len(GAME.moves) + 1
    assert all(f"{{{comment}}}" in shown for comment in comments.values())
    assert read_record(text).comments == comments
    done = krypenv("analyze", source, "--annotate", tmp_path / "." / "game.krk")
    assert done.exit_code == 2
    assert "is what is read; give the file to write another name" in done.stderr
    assert source.read_text(encoding="utf-8") == GAME.record()
