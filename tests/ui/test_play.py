"""The table in the terminal without a process: what may be typed, whole games, undo, and when the input ends."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from support.commands import krypenv
from support.games import FIELDS, rules_of
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

TRICKY = (
    "rules: kasino-sweden; table: AS 2S 3S 4S 5S 2H 3H 4H AH; hand 0: AC 9C TC; hand 1: 5C 6C 7C; captured 1: rest; "
    "stock: -"
)


def some_game(rules, seed, actions):
    """A game after some random actions."""
    game, choices = Game(rules, seed=seed), random.Random(seed)
    for _ in range(actions):
        if not game.is_over:
            game.act(choices.choice(game.legal_actions()))
    while game.pending:
        game.act(game.legal_actions()[-1])
    return game


def parse_choice(text, choices, game):
    """What a text means to the seat to act."""
    return choosing.parse_choice(text, choices, game, Narrator(game.rules, seat=game.turn))


@pytest.mark.parametrize("name", [*FIELDS, "mulle-glimne"])
def test_every_legal_move_can_be_chosen_by_number_by_name_and_as_it_is_shown(name):
    rules = rules_of(FIELDS.get(name, {"variant": name}))
    for seed in range(12):
        game = some_game(rules, seed, 4 * seed)
        if game.is_over:
            continue
        legal, choices = game.legal_moves(), choices_of(game)
        if choices.moves:
            found = [parse_choice(str(number + 1), choices, game) for number in range(len(choices))]
        else:
            assert len(legal) > MOST_LISTED
            assert choices.counts == tuple(len(moves_of(game, card)) for card in choices.cards)
            found = []
            for number in range(len(choices)):
                card = parse_choice(str(number + 1), choices, game)
                of_card = choices_of(game, card)
                found += [parse_choice(str(number + 1), of_card, game) for number in range(len(of_card))]
        assert sorted(map(str, found)) == sorted(map(str, legal))
        narrators = [Narrator(rules, seat=game.turn, language=language) for language in LANGUAGES]
        for move in random.Random(seed).sample(legal, min(20, len(legal))):
            for narrator in narrators if choices.moves else ():
                shown = narrator.choice(game, move)[0]
                assert choosing.parse_choice(shown, choices, game, narrator) == move
            assert parse_choice(str(move), choices_of(game, move.card), game) == move if move.takes else True
            if move.builds or move.build:
                assert parse_choice(str(move).lower(), choices, game) == move
                continue
            by_name = parse_choice(typed(move), choices, game)
            if move.takes:
                assert by_name == move
            elif by_name != move:  # the card could also take something
                assert by_name == move.card
                assert parse_choice("-", choices_of(game, move.card), game) == move


def test_what_means_nothing_changes_nothing():
    game = Game.from_position(TRICKY)
    choices, before = choices_of(game), game.position()
    assert choices.cards == ("AC", "9C", "TC")
    assert min(choices.counts[:2]) > 3 * MOST_LISTED
    for words in ("", "x", "0", "8", "-", "²", "9c;", "take 9c", "\x00", "9C" * 10_000):
        with pytest.raises(Wrong):
            parse_choice(words, choices, game)
    assert game.position() == before
    nine = choices_of(game, "9C")
    assert nine.moves[0].takes == max((move.takes for move in nine.moves), key=len)


def test_captures_that_are_too_many_to_list_are_named():
    table = " ".join(rank + suit for rank in "23456" for suit in "CDHS") + " 7C 7D"
    game = Game.from_position(f"rules: mulle; table: {table}; hand 0: 9H 9C; hand 1: KS 8C; captured 1: rest; stock: -")
    with pytest.raises(ValueError, match="more than 10,000"):
        game.legal_moves()
    choices = choices_of(game)
    assert dict(zip(choices.cards, choices.counts, strict=True))["KS"] is None
    assert parse_choice("ks", choices, game) == "KS"
    assert len(choices_of(game, "KS")) == 0
    assert str(parse_choice("7c 6d", choices_of(game, "KS"), game)) == "KSx7C6D"
    assert not game.moves
    terminal, out = sitting(Table(game, 1, ["random"]), ["ks", "6d 7c", "q"])
    terminal.run()
    assert "name the cards to take" in out.getvalue()
    assert str(game.moves[0]) == "KSx7C6D"


# ---------------------------------------------------------------------- a terminal


@pytest.mark.parametrize("text", ["krypkasino players=6 teams=3", "howto players=3", "mini-low players=2 games=3",
    "mini-low players=3 first_deal=((2,0),) later_deal=((1,1),)", "overspader players=4 teams=2",
    "kasino-finland players=3 games=0 threshold=16", "mulle players=2", "mulle-glimne players=4 teams=2"])  # fmt: skip
def test_whole_games_are_on_the_disk_at_every_question(text):
    rules = Rules.parse(text)
    table = Table(Game(rules, seed=3), rules.players - 1, ["random"], seed=1)

    def lines():
        for line in some_lines(table, 1):
            assert Path("game.krk").read_bytes() == table.record()
            yield line

    terminal, out = sitting(table, lines())
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


def test_each_game_of_a_session_ends_with_a_remark():
    table = Table(Game(Rules.parse("mini-low games=2"), seed=3), 1, ["random"], seed=1)
    remark = lambda at: f"That was game {at.game.game_number}: {at.game.is_over}."  # noqa: E731
    terminal, out = sitting(table, some_lines(table, 1), remark=remark)
    terminal.run()
    lines = out.getvalue().splitlines()
    for number in (1, 2):
        place = lines.index(f"That was game {number}: True.")
        assert re.search(r"^(You|Random).* (wins?|share|came off) ", "\n".join(lines[place - 2 : place]), re.MULTILINE)


def interrupted(table):
    raise KeyboardInterrupt


@pytest.mark.parametrize("remark", [interrupted, lambda table: ""])
def test_a_remark_may_be_skipped_or_empty(remark):
    table = Table(Game(Rules.preset("mini-low"), seed=3), 1, ["random"], seed=1)
    terminal, out = sitting(table, some_lines(table, 1), remark=remark)
    terminal.run()
    assert re.search(
        r"(wins?|share the win) with .*\n\nThe game is saved in game.krk\.\nkrypenv analyze .*\n$", out.getvalue()
    )


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("mini-low", "You (won|lost|tied) "),
        ("krypkasino players=4 teams=2", "Your side (won|lost|tied) "),
        ("krypkasino players=3", "You ended .* the others on average"),
    ],
)
def test_the_end_tells_what_the_cards_brought(rules, told):
    arguments = ["--seed", 3, "--against", "random", "--rules", *rules.split()[:1]]
    arguments += [word for option in rules.split()[1:] for word in f"--{option}".split("=")]
    done = krypenv("play", *arguments, columns=80, typed="1\n" * 200)
    assert done.exit_code == 0, done.output
    assert re.search(rf"wins?\b.*\n{told}", done.stdout)


def test_a_game_from_a_position_ends_without_luck():
    Path("a.krk").write_text(Game.from_position(TRICKY).record(), encoding="utf-8")
    done = krypenv("play", "--load", "a.krk", "--against", "random", columns=80, typed="1\n" * 20)
    assert re.search(r"(wins?|share the win) with .*\n\nThe game is saved", done.stdout), done.stdout


def test_undo_takes_back_the_person_s_move_and_the_answers():
    table = Table(Game(Rules.preset(players=4), seed=1), 0, ["random"])
    before = table.game.position()
    terminal, out = sitting(table, ["undo", "1", "undo", "q"])
    terminal.run()
    assert "There is nothing to take back" in out.getvalue()
    assert table.game.position() == before
    assert not table.game.moves


def test_a_game_is_saved_when_the_input_ends_and_goes_on_later():
    table = Table(Game(Rules.preset("kasino-sweden"), seed=1), 1, ["greedy"])
    terminal, out = sitting(table, ["1", "1"])
    terminal.run()
    assert out.getvalue().splitlines()[-1].startswith("The game is saved in ")
    saved = Game.replay(Path("game.krk").read_text(encoding="utf-8"))
    assert saved.moves == table.game.moves
    assert len(saved.moves) >= 4
    done = krypenv("play", "--load", "game.krk", columns=80, typed="1\n")
    assert done.exit_code == 0, done.output
    assert "Greedy" in done.stdout, "the same opponent plays on"
    later = Game.replay(Path("game.krk").read_text(encoding="utf-8"))
    assert later.moves[: len(saved.moves)] == saved.moves
    assert len(later.moves) > len(saved.moves)


def test_agents_of_one_name_have_letters_of_their_seats():
    agents = ["greedy", "tactician(shed=True)", "greedy"]
    table = Table(Game(Rules.preset(players=4), seed=1), 1, agents)
    assert table.names == ["Greedy A", "You", "Greedy C", "Tactician"]
