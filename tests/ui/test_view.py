"""What a seat is told: all that it may know, nothing that it may not, and why a card can't be played."""

from __future__ import annotations

import json
import random

import pytest
from support.decisions import BUILDS, CHOICE, FORCED, MANY
from support.hidden import some_moves, twin_of
from support.places import TESTS
from support.random_rules import some_rules

from krypenv import Game, Rules
from krypenv.cards import parse_card
from krypenv.game.moves import Move
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.view import MOST_MOVES, Story, view

SOME = [
    Rules.parse(text)
    for text in ("krypkasino players=4 teams=2", "howto players=3", "kasino-sweden", "mulle-glimne", "mini-hidden")
]


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_neither_views_nor_reasons_tell_what_is_hidden(seed):
    chance, compared = random.Random(seed), 0
    for rules in [*SOME, *(some_rules(chance) for _ in range(20))]:
        game = Game(rules, deck=Game(rules, seed=seed).deck)
        for _ in range(chance.randint(1, 20)):
            if not game.is_over:
                game.push(chance.choice(some_moves(game)))
        for seat in (None, game.turn, chance.randrange(rules.players)):
            words = Narrator(rules, seat=seat)
            if not game.is_over and (other := twin_of(game, seat, chance, 20)):
                compared += 1
                assert view(other, words) == view(game, words)
                for card in game.hand(seat) if seat == game.turn else ():
                    move = Move(card, tuple(game.table[:2]))
                    assert words.why(other, move) == words.why(game, move)
    assert compared > 30


@pytest.mark.few(2)
@pytest.mark.parametrize("rules", SOME, ids=str)
def test_a_view_shows_one_hand_and_every_move_of_whom_it_is_for_and_of_piles_the_cards_that_swept(rules):
    choices, game = random.Random(1), Game(rules, seed=5)
    narrators = {seat: Narrator(rules, seat=seat) for seat in (None, *range(rules.players))}
    story = Story(narrators[0])
    while not game.is_over:
        for _ in range(choices.choice((0, 0, 1, 3)) if game.moves[3:] else 0):
            game.pop()
        for _ in range(choices.randint(2, 8)):
            if not game.is_over:
                game.push(choices.choice(some_moves(game)))
        assert view(game, narrators[0], story) == view(game, narrators[0]), "a story goes on and back"
        if game.is_over:
            break
        views = {seat: json.loads(json.dumps(view(game, words))) for seat, words in narrators.items()}
        assert views[None]["hand"] == []
        for seat, seen in views.items():
            assert seat is None or sorted(seen["hand"], key=parse_card) == game.hand(seat)
            assert seen["table"] == game.table
            assert [player["swept"] for player in seen["players"]] == swept_in(game)
            assert [player["taken"] for player in seen["players"]] == [None] * rules.players
            assert [player["cards"] for player in seen["players"]] == [
                len(game.hand(at)) for at in range(rules.players)
            ]
            if seat != game.turn:
                assert (seen["moves"], seen["whys"]) == ([], {})
        moves = views[game.turn]["moves"]
        if moves is not None:
            assert [each["move"] for each in moves] == [str(move) for move in game.legal_moves()]
            for each in moves:
                twin = game.copy()
                twin.push(each["move"])
                points = twin.scores()[game.turn] - game.scores()[game.turn]
                assert each["gain"] == (points if rules.goal == "high" else -points)
                kind = "build" if each["build"] else "take" if each["takes"] or each["builds"] else "leave"
                assert each["kind"] == kind
        assert set(views[game.turn]["whys"]) == set(game.hand(game.turn))
        game.push(choices.choice(some_moves(game)))
    seen = view(game, narrators[0])
    assert seen["turn"] is None
    assert seen["sheet"]["scores"] == game.scores()
    piles = list(map(game.captured, range(rules.players)))
    assert [(player["pile"], player["taken"]) for player in seen["players"]] == [(len(pile), pile) for pile in piles]
    assert len([each for each in seen["log"] if each["seat"] is not None]) == len(game.moves)
    assert seen["last"]["text"] == seen["log"][-1]["text"]


def swept_in(game):
    """By seat, the cards that have swept."""
    twin, found = game.rewound(), [[] for _ in range(game.rules.players)]
    for move in game.moves:
        found[twin.turn] += [move.card] * bool(move.sweep)
        twin.push(move)
    return found


def test_too_many_moves_are_not_listed():
    game = Game.from_position(MANY)
    assert len(game.legal_moves()) > MOST_MOVES
    assert view(game, Narrator(game.rules, seat=0))["moves"] is None


@pytest.mark.parametrize(
    ("name", "text", "moves"), [("sweep", FORCED, 2), ("choice", CHOICE, 1), ("builds", BUILDS, 2)]
)
def test_views_are_as_stored(name, text, moves, file_regression):
    game, told = Game.from_position(text), []
    words = [Narrator(game.rules, ["", "champion"], 0), Narrator(game.rules, ["anna", ""], 1, "sv")]
    for _ in range(moves + 1):
        told += [view(game, each) for each in words]
        game.push(game.legal_moves()[-1])
    said = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    file_regression.check(said, encoding="utf-8", fullpath=TESTS / "ui" / "sessions" / f"view-{name}.json")
