"""Analyses as comments in records: what is said of each move and deal, what is kept, and where it is read."""

from __future__ import annotations

import random
import re

import pytest
from support.commands import krypenv

from krypenv import Game, Rules
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.training.evaluation.analysis.comments import annotate
from krypenv.ui.study.steps import read_record

# The last cards of a game of two: 2C creeps and leaves 2 and 4 of a sum that only 6D takes, a sweep that pays 10.
LAST = "rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest"
BEHIND = re.compile(r"(?:(\?!|\?\??) )?(\d+\.\d)(?: ± (\d+\.\d))? behind (\S+)")


def played(text="mini-low", seed=3):
    """A game of random players."""
    game, choices = Game(Rules.parse(text), seed=seed), random.Random(seed)
    while not game.is_over:
        game.push(choices.choice(game.legal_moves()))
    return game


GAME = played()
ANALYSIS = analyze(GAME, worlds=5)


def said_of(record, number):
    """What a record's comments say after so many moves, statement by statement."""
    return Game.replay(record).comments[number].split("; ")


def first_moves(game):
    """The number of moves before each deal, by its number."""
    twin, found = game.rewound(), {}
    for number, move in enumerate(game.moves):
        found.setdefault(twin.deal_number, number)
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


def test_where_nothing_is_hidden_there_is_no_interval():
    game = Game.from_position(LAST)
    game.push("3C")
    assert said_of(annotate(game, analyze(game)), 1) == ["?? 10.0 behind 2C"]


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("mini-low", ["seat 0"]),
        ("mini-low players=3", ["seat 0", "seat 1", "seat 2"]),
        ("krypkasino players=4 teams=2", ["seats 0 and 2"]),
    ],
)
def test_each_deal_begins_with_its_luck_and_the_game_ends_with_that_of_all(text, sides):
    game = played(text)
    analysis = analyze(game, worlds=2)
    record, luck = annotate(game, analysis), analysis.luck
    starts = first_moves(game)
    assert list(starts) == list(luck.deals)
    for at, (deal, number) in enumerate(starts.items()):
        told = [
            f"{name}: margin {luck.margins[at, side]:+.1f}, cards {luck.luck[at, side]:+.1f}, "
            f"play {luck.play[at, side]:+.1f}".replace("-0.0", "+0.0")
            for side, name in enumerate(sides)
        ]
        assert said_of(record, number)[-len(sides) :] == [f"deal {deal}, {told[0]}", *told[1:]]
    assert (
        Game.replay(record)
        .comments[len(game.moves)]
        .endswith(luck.tell(len(sides) - 1, sides[-1].capitalize(), "them" if "and" in sides[-1] else "it"))
    )


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


def test_only_the_moves_of_the_seat_that_was_analysed_are_told():
    comments = Game.replay(annotate(GAME, analyze(GAME, worlds=2, seat=1))).comments
    others = [number for number, text in comments.items() if re.search(r"best|only move|behind", text)]
    twin, turns = GAME.rewound(), []
    for move in GAME.moves:
        turns.append(twin.turn)
        twin.push(move)
    assert others == [number for number, turn in enumerate(turns, 1) if turn == 1]


# ---------------------------------------------------------------------- the commands


def test_the_file_is_shown_and_studied_with_its_comments(tmp_path):
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


def test_the_record_that_is_read_is_not_overwritten(tmp_path):
    source = tmp_path / "game.krk"
    source.write_text(GAME.record(), encoding="utf-8")
    done = krypenv("analyze", source, "--annotate", tmp_path / "." / "game.krk")
    assert done.exit_code == 2
    assert "is what is read; give the file to write another name" in done.stderr
    assert source.read_text(encoding="utf-8") == GAME.record()
