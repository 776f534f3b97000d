"""The table in the terminal without a process: what may be typed, and whole games."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from support.commands import krypenv
from support.decisions import MANY
from support.games import every_rules
from support.terminals import sitting, some_lines, typed

from krypenv import Game, Rules
from krypenv.ui import choices as choosing
from krypenv.ui.choices import MOST_LISTED, Wrong, choices_of
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.options import moves_of
from krypenv.ui.narrator.texts import LANGUAGES
from krypenv.ui.seats import PERSON
from krypenv.ui.table import Table

pytestmark = pytest.mark.usefixtures("own_folder")


def parse_choice(text, choices, game):
    """What a text means to the seat to act."""
    return choosing.parse_choice(text, choices, game, Narrator(game.rules, seat=game.turn))


@every_rules
def test_every_legal_move_can_be_chosen_by_number_by_name_and_as_it_is_shown(rules):
    for seed in range(6):
        game, chance = Game(rules, seed=seed), random.Random(seed)
        for _ in range(8 * seed):
            if not game.is_over:
                game.push(chance.choice(game.legal_moves()))
        if game.is_over:
            continue
        legal, choices = game.legal_moves(), choices_of(game)
        lists = [choices]
        if not choices.moves:
            assert len(legal) > MOST_LISTED
            assert choices.counts == tuple(len(moves_of(game, card)) for card in choices.cards)
            cards = [parse_choice(str(number + 1), choices, game) for number in range(len(choices))]
            lists = [choices_of(game, card) for card in cards]
        found = [parse_choice(str(number + 1), each, game) for each in lists for number in range(len(each))]
        assert sorted(map(str, found)) == sorted(map(str, legal))
        for move in chance.sample(legal, min(20, len(legal))):
            for language in LANGUAGES if choices.moves else ():
                narrator = Narrator(rules, seat=game.turn, language=language)
                shown = narrator.choice(game, move)[0]
                assert choosing.parse_choice(shown, choices, game, narrator) == move
            of_card = choices_of(game, move.card)
            by_name = parse_choice(typed(move), choices, game)
            if move.takes or move.builds or move.build:
                assert by_name == parse_choice(str(move), of_card, game) == move
            elif by_name != move:  # the card could also take something
                assert by_name == move.card
                assert parse_choice("-", of_card, game) == move


def test_what_means_nothing_changes_nothing():
    game = Game.from_position(MANY)
    choices, before = choices_of(game), game.position()
    assert choices.cards == ("AC", "9C", "TC")
    for words in ("", "x", "0", "4", "-", "²", "9c;", "take 9c", "\x00", "9C" * 10_000):
        with pytest.raises(Wrong):
            parse_choice(words, choices, game)
    assert game.position() == before
    sizes = [len(move.takes) for move in choices_of(game, "9C").moves]
    assert sizes == sorted(sizes, reverse=True), "what takes most comes first"


def test_captures_that_are_too_many_to_list_are_named():
    table = " ".join(rank + suit for rank in "23456" for suit in "CDHS") + " 7C 7D"
    game = Game.from_position(f"rules: mulle; table: {table}; hand 0: 9H 9C; hand 1: KS 8C; captured 1: rest; stock: -")
    choices = choices_of(game)
    assert dict(zip(choices.cards, choices.counts, strict=True))["KS"] is None
    assert parse_choice("ks", choices, game) == "KS"
    assert len(choices_of(game, "KS")) == 0
    assert str(parse_choice("7c 6d", choices_of(game, "KS"), game)) == "KSx7C6D"
    sitting(Table(game, 1, ["random"]), ["ks", "6d 7c", "q"])[0].run()
    assert str(game.moves[0]) == "KSx7C6D"


# ---------------------------------------------------------------------- a terminal


@pytest.mark.few(2)
@pytest.mark.parametrize("text", ["krypkasino players=4 teams=2", "mini-low games=3",
    "mini-low players=3 first_deal=((2,0),) later_deal=((1,1),)", "mini-kasino games=0 threshold=8",
    "mulle-glimne players=4 teams=2"])  # fmt: skip
def test_whole_games_are_played_and_saved(text):
    rules = Rules.parse(text)
    table = Table(Game(rules, seed=3), rules.players - 1, ["random"], seed=1)
    terminal, out = sitting(table, some_lines(table, 1))
    terminal.run()
    game = Game.replay(Path("game.krk").read_text(encoding="utf-8"))
    assert game.session_over
    assert game.scores() == table.game.scores()
    assert (game.game_number > 1) == (rules.games != 1)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines[:-2])) <= 80, "the path in the last lines is not broken"
    assert lines[-2].startswith("The game is saved in ")
    assert lines[-1].startswith("krypenv analyze game.krk shows ")
    assert game.tags[f"Seat{rules.players - 1}"] == PERSON


def test_the_end_tells_what_the_cards_brought_unless_they_were_set_up():
    Path("a.krk").write_text(Game.from_position(MANY).record(), encoding="utf-8")
    for words, end in (
        ("--rules mini-low --seed 3", "\nYou (won|lost|tied) "),
        ("--load a.krk", "\n\nThe game is saved"),
    ):
        done = krypenv("play", *words.split(), "--against", "random", columns=80, typed="1\n" * 60)
        assert re.search(rf"(wins?|share the win)\b.*{end}", done.stdout), done.output


def test_agents_of_one_name_have_letters_of_their_seats():
    agents = ["greedy", "tactician(shed=True)", "greedy"]
    table = Table(Game(Rules.preset(players=4), seed=1), 1, agents)
    assert table.names == ["Greedy A", "You", "Greedy C", "Tactician"]
