"""Analysis: exact where nothing is hidden, blind to what is, marks that mean what they say; its texts and command."""

import json
import random
from math import comb

import pytest
from support.commands import krypenv
from support.games import after, best_margin, cut, lay, play_out
from support.hidden import twin_of
from support.places import TESTS

from krypenv import Game, Rules
from krypenv.agents.champion import MODELS
from krypenv.training.evaluation.analysis.analysis import analyze, analyze_position
from krypenv.training.evaluation.analysis.comments import annotate, print_luck, print_position, print_record
from krypenv.ui.study.steps import read_study

ANALYSES = TESTS / "training" / "analyses"
# The last cards of a game of two: 2C creeps and leaves 2 and 4 of a sum that only 6D takes, a sweep that pays 10.
LAST = "rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest"

BEGUN = "rules: krypkasino; table: 4H 3C 3D JC; hand 0: 9D; hand 1: 6D 8C; pending: 7C; captured 1: rest"


def played_game(seed=3):
    """A game of random players."""
    return play_out(Game(Rules.preset("krypkasino", players=2), seed=seed), seed)


def must_sweep(game):
    """Whether the seat to act has nothing but sweeps."""
    moves = game.legal_moves()
    return bool(moves) and all(move.sweep for move in moves)


# ---------------------------------------------------------------------- where nothing is hidden


@pytest.mark.parametrize("seed", range(4))
def test_the_last_plays_of_two_are_exact_in_margins_and_sweeps(seed):
    whole = played_game(seed)
    for moves in (96, 97, 99):
        game = cut(whole, moves)
        analysis = analyze_position(game)
        assert analysis.worlds == 1
        assert {value.move for value in analysis.moves} == {str(move) for move in game.legal_moves()}
        assert analysis.best.margin.mean == best_margin(game, game.turn)
        for value in analysis.moves:
            twin = after(game, value.move)
            assert value.margin.mean == best_margin(twin, game.turn)
            assert value.behind.mean == analysis.best.margin.mean - value.margin.mean
            assert value.margin.half is None
            assert value.sets_up == must_sweep(twin)
            outcomes = {must_sweep(after(twin, reply)) for reply in twin.legal_moves()} or {False}
            if len(outcomes) == 1:  # whatever the other seat takes
                assert value.risks == outcomes.pop()


def test_in_kasino_the_chance_of_a_sweep_is_that_of_a_card_that_can():
    game = lay("3C", "5D 9D", "8H 2H", rules="kasino-sweden players=2")
    chances = {value.move: value.sets_up for value in analyze_position(game).moves}
    assert chances == {"5D": 1, "9D": 0}  # the other hand is known: 3 + 5 make eight


def test_an_analysis_holds_the_move_that_was_played_and_says_what_it_looked_at():
    """Kasino, where either eight may be taken: captures that differ in suits alone are looked at once."""
    game = lay("8C 8H TD TS 4C", "8D", "KD", rules="kasino-sweden players=2")
    position = analyze_position(game)
    assert {value.move for value in position.moves} == {"8D", "8Dx8C", "8Dx8C8H"}
    assert (position.legal, position.was_cut, position.worlds) == (4, False, 1)
    assert position.best.margin.mean == best_margin(game, 0)
    game.push("8Dx8H")
    (play,) = analyze(game).plays
    assert (play.legal, play.played.move) == (4, "8Dx8H")
    assert {value.move for value in play.moves} == {"8D", "8Dx8C", "8Dx8H", "8Dx8C8H"}
    assert len({value.margin.mean for value in play.moves if len(value.move) == 5}) == 1


# ---------------------------------------------------------------------- where hands are hidden


def test_the_chance_of_a_sweep_set_up_is_that_of_drawing_a_sweeper():
    # Seat 0 leads a deal of four cards each, so nothing is known of the other hand: 4 cards of all that are unseen.
    worlds, chances = 1500, []
    for seed in range(4):
        game = cut(played_game(seed), 84)  # the last deal but one
        unseen = [*game.hand(1), *game.deck[-game.stock_size :]]
        analysis = analyze_position(game, worlds=worlds)
        for value in analysis.moves:
            ranks = {"A23456789TJQK"[rank - 1] for rank in after(game, value.move).sweep_ranks()}
            sweepers = sum(card[0] in ranks for card in unseen)
            chance = 1 - comb(len(unseen) - sweepers, 4) / comb(len(unseen), 4)
            assert abs(value.sets_up - chance) <= 4 * (chance * (1 - chance) / worlds) ** 0.5
            chances.append(chance)
    assert any(0 < chance < 1 for chance in chances)


def test_hidden_cards_have_no_part():
    game, chance = cut(played_game(), 40), random.Random(1)
    twins = [twin_of(game, game.turn, chance) for _ in range(6)]
    assert any(twin.hand(1 - game.turn) != game.hand(1 - game.turn) for twin in twins)
    assert any(twin.deck[-twin.stock_size :] != game.deck[-game.stock_size :] for twin in twins)
    for twin in twins:
        assert analyze_position(twin, worlds=20).to_json() == analyze_position(game, worlds=20).to_json()


def test_open_hands_are_labelled():
    game = cut(play_out(Game(Rules.preset("krypkasino", players=3), seed=3)), 48)
    analysis = analyze_position(game, worlds=5, open_hands=True)
    assert (analysis.open_hands, analysis.worlds, analysis.agent) == (True, 1, "oracle-hand")
    own, others = game.scores()[game.turn], sum(game.scores()) - game.scores()[game.turn]
    assert analysis.so_far == pytest.approx(others / 2 - own) != 0
    sets_up = {str(move): must_sweep(after(game, move)) for move in game.legal_moves()}
    assert {value.move: value.sets_up for value in analysis.moves} == sets_up


@pytest.mark.parametrize("name", [str(MODELS / "two"), f"learned(model={str(MODELS / 'two')!r})"])
def test_a_network_analyses_as_guided_does(name):
    game, guided = Game(Rules.preset("krypkasino", players=2), seed=1), f"guided(model={str(MODELS / 'two')!r})"
    analysis = analyze_position(game, name, worlds=5)
    assert analysis == analyze_position(game, guided, worlds=5)
    assert analysis.agent == f"guided(model={str(MODELS / 'two')!r}, worlds=5)"


# ---------------------------------------------------------------------- records


def test_each_move_of_a_game_is_analysed_as_its_position_and_marked_by_its_regret():
    game = cut(played_game(), 60)
    analysis = analyze(game, worlds=20)
    assert [play.played.move for play in analysis.plays] == [str(move) for move in game.moves]
    for play in analysis.plays:
        expected = ""
        if play.regret >= 1 and (play.played.behind.low is None or play.played.behind.low > 0):
            expected = "??" if play.regret >= 6 else "?" if play.regret >= 3 else "?!"
        assert play.mark == expected
    for play in analysis.plays[50:]:
        there = analyze_position(cut(game, play.number - 1), worlds=20)
        assert (there.moves, there.so_far, there.seat) == (play.moves, play.so_far, play.seat)
    assert {play.mark for play in analysis.plays} == {"", "?!", "?", "??"}
    assert analyze(game, worlds=20, seat=1).plays == tuple(play for play in analysis.plays if play.seat == 1)


def test_marks_begin_at_their_points():
    game = Game.from_position(LAST)
    game.push("3C")
    for blunder, mark in ((10, "??"), (10.1, "?")):
        [play] = analyze(game, marks=(1, 3, blunder)).plays
        assert (play.mark, play.best.move, play.regret) == (mark, "2C", 10)


# ---------------------------------------------------------------------- texts

SMALL = play_out(Game(Rules.preset("mini-low"), seed=3), 3)


@pytest.mark.parametrize(
    ("name", "text", "seat"),
    [
        ("two", "mini-low", None),
        ("two-one-seat", "mini-low", 1),
        ("three-one-seat", "mini-low players=3", 2),
        ("teams", "mini-double players=4 teams=2", 1),
    ],
)
def test_what_is_printed_of_a_game_and_written_into_its_record_is_as_stored(
    name, text, seat, capsys, monkeypatch, file_regression
):
    """Each move's mark, its regret with the interval, and the better move; the luck of each deal and of the game."""
    monkeypatch.setenv("COLUMNS", "120")
    game = play_out(Game(Rules.parse(text), seed=5), 5)
    analysis = analyze(game, worlds=30, seat=seat)
    print_record(analysis)
    print(annotate(game, analysis))
    told = capsys.readouterr().out
    file_regression.check(told, encoding="utf-8", fullpath=ANALYSES / f"{name}.txt")


def test_positions_are_printed_as_stored(capsys, monkeypatch, file_regression):
    """One where hands are hidden, one where none is, and one in the middle of a play."""
    monkeypatch.setenv("COLUMNS", "120")
    print_position(analyze_position(Game(Rules.preset("mini-low"), seed=5), worlds=30))
    for text in (LAST, BEGUN):
        print_position(analyze_position(Game.from_position(text)))
    file_regression.check(capsys.readouterr().out, encoding="utf-8", fullpath=ANALYSES / "positions.txt")


def test_where_nothing_is_hidden_there_is_no_interval_and_without_a_deal_no_luck(capsys):
    game = Game.from_position(LAST)
    game.push("3C")
    analysis = analyze(game)
    assert Game.replay(annotate(game, analysis)).comments[1] == "?? 10.0 behind 2C"
    print_luck(analysis)
    assert capsys.readouterr().out == "\nluck: unknown, as no deal was both dealt and finished in this record\n"
    assert analysis.to_json()["luck"]["deals"] == []


def test_the_record_reads_back_as_the_same_game_with_its_own_comments():
    game, analysis = SMALL.copy(), analyze(SMALL, worlds=5)
    game.tags["Event"] = "an example"
    game.comments |= {0: "before all", 2: "two\nlines", len(game.moves): "the end"}
    record = annotate(game, analysis)
    twin = Game.replay(record)
    assert twin.record() == record
    assert twin.moves == game.moves
    assert twin.tags == {"Event": "an example", "Annotator": "search(worlds=5)"}
    for number, text in game.comments.items():
        assert twin.comments[number].startswith(f"{text}; ")
    assert list(game.tags) == ["Event"]  # the game itself is left as it was
    assert annotate(twin, analysis) == record  # what is said already is not said again
    assert read_study(record).comments == twin.comments


# ---------------------------------------------------------------------- the command


def test_the_command_prints_draws_and_annotates_a_record(tmp_path):
    path = tmp_path / "game.krk"
    path.write_text(SMALL.record(), encoding="utf-8")
    files = {name: tmp_path / name for name in ("a.json", "a.png", "a.krk")}
    options = ("--worlds", 5, "--json", files["a.json"], "--picture", files["a.png"], "--annotate", files["a.krk"])
    done = krypenv("analyze", path, *options)
    assert done.exit_code == 0, done.output
    analysis = analyze(SMALL, worlds=5)
    assert all(play.mark in done.stdout for play in analysis.plays)
    assert files["a.png"].read_bytes().startswith(b"\x89PNG")
    assert json.loads(files["a.json"].read_text()) == json.loads(json.dumps(analysis.to_json()))
    assert files["a.krk"].read_text(encoding="utf-8") == annotate(SMALL, analysis)


def test_the_command_shows_a_position_from_anywhere_also_with_open_hands(tmp_path):
    text = "; ".join(cut(played_game(), 98).position().splitlines())
    assert len(text) > 255  # more than a file's name may have
    (tmp_path / "position").write_text(text)
    told = {krypenv("analyze", source, typed=text).stdout for source in (text, tmp_path / "position", "-")}
    assert len(told) == 1
    assert "nothing is hidden" in told.pop()
    assert "(cheats)" in krypenv("analyze", LAST, "--open", "--picture", tmp_path / "p.png").stdout
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
