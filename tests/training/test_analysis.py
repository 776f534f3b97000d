"""Analysis: exact where nothing is hidden, blind to what is, marks that mean what they say; and the command."""

import json
import random
from math import comb

import numpy as np
import pytest
from support.commands import krypenv
from support.games import lay
from support.hidden import twin_of

from krypenv import Game, Rules, agents
from krypenv.advice.estimates import Estimate
from krypenv.advice.values import examined
from krypenv.agents.champion import MODELS
from krypenv.training.evaluation.analysis.analysis import Marks, analyze, analyze_position
from krypenv.training.evaluation.analysis.comments import annotate

# The last cards of a game of two: 2C creeps and leaves 2 and 4 of a sum that only 6D takes, a sweep that pays 10.
LAST = "rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest"


def best_margin(game, side):
    """The margin that a side gets by best play of both, found by trying everything."""
    if game.is_over:
        scores = game.scores()
        return (scores[1 - side] - scores[side]) * (1 if game.rules.goal == "low" else -1)
    values = []
    for move in game.legal_moves():
        game.push(move)
        values.append(best_margin(game, side))
        game.pop()
    return max(values) if game.turn == side else min(values)


def played_game(seed=3, players=2, preset="krypkasino"):
    """A game of the tactician against random players."""
    game = Game(Rules.preset(preset, players=players), seed=seed)
    rng = np.random.default_rng(seed)
    tactician = agents.make("tactician", game.rules, seed)
    while not game.is_over:
        moves = game.legal_moves()
        move = moves[rng.integers(len(moves))]
        if game.turn == 0:
            action = int(tactician.act(game.observation()[None], game.action_mask()[None])[0])
            move = next((each for each in moves if each.kinds()[0] == action), move)
        game.push(move)
    return game


def must_sweep(game):
    """Whether the seat to act has nothing but sweeps."""
    moves = game.legal_moves()
    return bool(moves) and all(move.sweep for move in moves)


def pushed(game, move):
    """The game after a move."""
    twin = game.copy()
    twin.push(move)
    return twin


def cut(game, moves):
    """The game after its first moves."""
    twin = game.rewound()
    for move in game.moves[:moves]:
        twin.push(move)
    return twin


# ---------------------------------------------------------------------- where nothing is hidden


@pytest.mark.parametrize("seed", range(6))
def test_the_last_plays_of_two_are_exact_in_margins_and_sweeps(seed):
    whole = played_game(seed)
    for moves in (96, 97, 99):
        game = cut(whole, moves)
        analysis = analyze_position(game)
        assert analysis.worlds == 1
        assert {value.move for value in analysis.moves} == {str(move) for move in game.legal_moves()}
        assert analysis.best.margin.mean == best_margin(game, game.turn)
        for value in analysis.moves:
            after = pushed(game, value.move)
            assert value.margin.mean == best_margin(after, game.turn)
            assert value.behind.mean == analysis.best.margin.mean - value.margin.mean
            assert value.margin.half is None
            assert value.sets_up == must_sweep(after)
            outcomes = {must_sweep(pushed(after, reply)) for reply in after.legal_moves()} or {False}
            if len(outcomes) == 1:  # whatever the other seat takes
                assert value.risks == outcomes.pop()


def test_the_chance_of_a_sweep_is_that_of_a_card_that_can():
    game = lay("3C", "5D 9D", "8H 2H", rules="kasino-sweden players=2")
    chances = {value.move: value.sets_up for value in analyze_position(game).moves}
    assert chances == {"5D": 1, "9D": 0}  # the other hand is known: 3 + 5 make eight
    assert {value.move: value.sets_up for value in analyze_position(Game.from_position(LAST)).moves} == {
        "2C": 1,
        "3C": 0,
    }


def test_an_analysis_holds_the_move_that_was_played_and_says_what_it_looked_at():
    """Kasino, where either eight may be taken: captures that differ in suits alone are looked at once."""
    game = lay("8C 8H TD TS 4C", "8D", "KD", rules="kasino-sweden players=2")
    game.push("8Dx8H")
    (play,) = analyze(game).plays
    assert play.legal == 4  # nothing, either eight, both
    assert play.played.move == "8Dx8H"
    assert {value.move for value in play.moves} == {"8D", "8Dx8C", "8Dx8H", "8Dx8C8H"}
    assert len({value.margin.mean for value in play.moves if len(value.move) == 5}) == 1
    game.pop()
    position = analyze_position(game)
    assert {value.move for value in position.moves} == {"8D", "8Dx8C", "8Dx8C8H"}
    assert (position.legal, position.was_cut, position.worlds) == (4, False, 1)
    # the king is the last card, and all the rest belongs to the last capture
    assert position.best.move in ("8Dx8C", "8Dx8C8H")
    assert position.best.margin.mean == best_margin(game, 0)


def test_a_play_that_was_begun_goes_on():
    game = Game.from_position(
        "rules: krypkasino; table: 4H 3C 3D JC; hand 0: 9D; hand 1: 6D 8C; pending: 7C; captured 1: rest"
    )
    analysis = analyze_position(game)
    assert analysis.pending == "7C"
    assert sorted(value.move for value in analysis.moves) == sorted(map(str, game.legal_moves()))
    assert len(analysis.moves) == 2


# ---------------------------------------------------------------------- where hands are hidden


def test_b2_an_analysis_lists_builds():
    game = Game(Rules.preset("mulle-glimne"), seed=3)
    while not any(move.build for move in game.legal_moves()):
        game.act(game.legal_actions()[0])
    moves = {value.move for value in analyze_position(game, worlds=4).moves}
    assert any("=" in move for move in moves)
    assert moves <= {str(move) for move in game.legal_moves()}


def test_the_chance_of_a_sweep_set_up_is_that_of_drawing_a_sweeper():
    # Seat 0 leads a deal of four cards each, so nothing is known of the other hand: 4 cards of all that are unseen.
    worlds, chances = 1500, []
    for seed in range(4):
        game = cut(played_game(seed), 84)  # the last deal but one
        unseen = [*game.hand(1), *game.deck[-game.stock_size :]]
        analysis = analyze_position(game, worlds=worlds)
        for value in analysis.moves:
            after = pushed(game, value.move)
            ranks = {"A23456789TJQK"[rank - 1] for rank in after.sweep_ranks()}
            sweepers = sum(card[0] in ranks for card in unseen)
            chance = 1 - comb(len(unseen) - sweepers, 4) / comb(len(unseen), 4)
            assert abs(value.sets_up - chance) <= 4 * (chance * (1 - chance) / worlds) ** 0.5
            chances.append(chance)
    assert any(0 < chance < 1 for chance in chances)


def test_intervals_are_those_of_the_same_worlds_for_all_moves():
    """A move's distance from the best one is measured world by world."""
    game = cut(played_game(1), 86)
    values = analyze_position(game, worlds=30).moves
    moves, found = examined(game, agents.make("search(worlds=30)", game.rules, 0))
    margins = dict(zip(map(str, moves), found.margins.T, strict=True))
    assert len(values) == len(moves) > 1
    for value in values:
        assert value.margin == Estimate.of(margins[value.move])
        assert value.behind == Estimate.of(margins[values[0].move] - margins[value.move])


def test_hidden_cards_have_no_part():
    game, chance = cut(played_game(), 40), random.Random(1)
    twins = [twin_of(game, game.turn, chance) for _ in range(6)]
    assert any(twin.hand(1 - game.turn) != game.hand(1 - game.turn) for twin in twins)
    assert any(twin.deck[-twin.stock_size :] != game.deck[-game.stock_size :] for twin in twins)
    for twin in twins:
        assert analyze_position(twin, worlds=20).to_json() == analyze_position(game, worlds=20).to_json()


def test_open_hands_are_labelled():
    game = cut(played_game(players=3), 50)
    analysis = analyze_position(game, worlds=5, open_hands=True)
    assert (analysis.open_hands, analysis.worlds, analysis.agent) == (True, 1, "oracle-hand")
    own, others = game.scores()[game.turn], sum(game.scores()) - game.scores()[game.turn]
    assert analysis.so_far == pytest.approx(others / 2 - own) != 0
    assert sorted(value.move for value in analysis.moves) == sorted(map(str, game.legal_moves()))
    for value in analysis.moves:
        after = pushed(game, value.move)
        if after.deal_number == game.deal_number:
            assert value.sets_up == must_sweep(after)


@pytest.mark.parametrize("name", [str(MODELS / "two"), f"learned(model={str(MODELS / 'two')!r})"])
def test_a_network_analyses_as_guided_does(name):
    game, guided = Game(Rules.preset("krypkasino", players=2), seed=1), f"guided(model={str(MODELS / 'two')!r})"
    analysis = analyze_position(game, name, worlds=5)
    assert analysis == analyze_position(game, guided, worlds=5)
    assert analysis.agent == f"guided(model={str(MODELS / 'two')!r}, worlds=5)"


# ---------------------------------------------------------------------- records


def test_regret_and_marks_of_a_game():
    game = played_game()
    analysis = analyze(game, worlds=20)
    assert [play.number for play in analysis.plays] == list(range(1, len(game.moves) + 1))
    assert [play.played.move for play in analysis.plays] == [str(move) for move in game.moves]
    assert all(play.regret >= 0 for play in analysis.plays)
    for play in analysis.plays:
        expected = ""
        if play.regret >= 1 and (play.played.behind.low is None or play.played.behind.low > 0):
            expected = "??" if play.regret >= 6 else "?" if play.regret >= 3 else "?!"
        assert play.mark == expected
    tactician, chance = analysis.seats
    assert tactician.mean_regret < chance.mean_regret
    assert chance.blunders > 0
    assert json.loads(json.dumps(analysis.to_json()))["marks"] == {"inaccuracy": 1, "mistake": 3, "blunder": 6}
    alone = analyze(game, worlds=20, seat=1)
    assert alone.plays == tuple(play for play in analysis.plays if play.seat == 1)
    for play in analysis.plays[50:60]:
        there = analyze_position(cut(game, play.number - 1), worlds=20)
        assert (there.moves, there.so_far, there.seat) == (play.moves, play.so_far, play.seat)
    for seat in analysis.seats:
        regrets = [play.regret for play in analysis.plays if play.seat == seat.seat and len(play.moves) > 1]
        assert seat.decisions == len(regrets)
        assert seat.total_regret == pytest.approx(sum(regrets))
        assert seat.mean_regret == pytest.approx(np.mean(regrets))
        assert seat.best_rate == pytest.approx(np.mean(np.array(regrets) < 1e-9))


def test_a_blunder_is_marked_and_best_play_has_no_regret():
    game = Game.from_position(LAST)
    game.push("3C")
    [play] = analyze(game).plays
    assert (play.mark, play.best.move) == ("??", "2C")
    assert play.regret == best_margin(pushed(Game.from_position(LAST), "2C"), 0) - best_margin(game, 0)
    for blunder, mark in ((play.regret, "??"), (play.regret + 1, "?")):
        [again] = analyze(game, marks=Marks(inaccuracy=1, mistake=3, blunder=blunder)).plays
        assert again.mark == mark
    game.pop()
    while not game.is_over:
        game.push(analyze_position(game).best.move)
    assert all(play.regret == 0 and not play.mark for play in analyze(game).plays)


def test_what_can_not_be_analysed_is_refused():
    game, over = Game(Rules.preset("krypkasino"), seed=1), played_game(preset="mini-low")
    for call, message in (
        (lambda: analyze_position(over), "the game is over"),
        (lambda: analyze(over, marks=Marks(inaccuracy=3, mistake=2, blunder=1)), "three rising numbers of points"),
        (lambda: analyze(over, seat=2), "there is no seat 2; the seats are 0 to 1"),
        (
            lambda: analyze_position(game, "tactician"),
            "tactician can't analyse what a seat sees; .* champion can",
        ),
        (lambda: analyze_position(game, "serach"), "unknown agent 'serach'"),
        (lambda: analyze_position(game, worlds=1), "worlds should be greater than or equal to 2, not 1"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# ---------------------------------------------------------------------- the command


def test_command_on_a_record(tmp_path):
    game = played_game(preset="mini-low")
    path = tmp_path / "game.krk"
    path.write_text(game.record())
    files = {name: tmp_path / name for name in ("a.json", "a.png", "a.krk")}
    options = ("--worlds", 10, "--json", files["a.json"], "--picture", files["a.png"], "--annotate", files["a.krk"])
    done = krypenv("analyze", path, *options)
    assert done.exit_code == 0, done.output
    analysis = analyze(game, worlds=10)
    assert all(play.mark in done.stdout for play in analysis.plays)
    assert files["a.png"].read_bytes().startswith(b"\x89PNG")
    assert json.loads(files["a.json"].read_text()) == json.loads(json.dumps(analysis.to_json()))
    assert files["a.krk"].read_bytes() == annotate(game, analysis).encode()


def test_command_on_a_position_and_with_open_hands(tmp_path):
    done = krypenv("analyze", LAST, "--picture", tmp_path / "p.png")
    assert done.exit_code == 0, done.output
    assert "nothing is hidden" in done.stdout
    assert done.stdout.index("2C ") < done.stdout.index("3C ")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    game = Game.from_position(LAST)
    game.push("3C")
    path, annotated, figures = (tmp_path / name for name in ("a.krk", "b.krk", "b.json"))
    path.write_text(game.record())
    assert "(cheats)" in krypenv("analyze", path, "--open", "--annotate", annotated, "--json", figures).stdout
    assert "cheats" in Game.replay(annotated.read_text()).tags["Annotator"]
    assert json.loads(figures.read_text())["open_hands"]
    assert "(cheats)" in krypenv("analyze", LAST, "--open").stdout


def test_a_text_is_read_wherever_it_comes_from(tmp_path):
    text = "; ".join(cut(played_game(), 98).position().splitlines())
    assert len(text) > 255  # more than a file's name may have
    path = tmp_path / "position"
    path.write_text(text)
    told = {krypenv("analyze", source, "--worlds", 2, typed=text).stdout for source in (text, path, "-")}
    assert len(told) == 1
    assert "seat " in told.pop()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((LAST, "--seat", 1), "are for records"),
        (('[Rules "mini-low"] [Seed "1"] *',), "there is no move to analyse"),
        ((LAST, "--agent", "greedy"), "greedy can't analyse"),
        ((LAST, "--agent", "oracle-hand"), "oracle-hand can't analyse what a seat sees"),
        ((LAST, "--open", "--agent", "search"), "search can't analyse with all hands open"),
        ((LAST, "--worlds", 0), "worlds should be greater than or equal to 2, not 0"),
        ((LAST, "--picture", "p.jpg"), "'p.jpg' does not"),
        (("picture.png",), "picture.png is no text"),
    ],
)
def test_command_refuses_in_one_sentence(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    done = krypenv("analyze", *arguments, "--json", tmp_path / "out.json")
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"taken", "picture.png"}
