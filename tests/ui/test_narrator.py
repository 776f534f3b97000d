"""The narrator: sentences for all rules, plays and refusals, and sheets that balance."""

from __future__ import annotations

import random
import re
import string
from collections import Counter

import pytest
from support.games import RULES
from support.hidden import some_moves
from support.places import ROOT
from support.random_rules import draw_small_rules
from support.relatives import ALL_RELATIVES

from krypenv import Game, Rules
from krypenv.cards import card_symbol, parse_card
from krypenv.game.moves import Move
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import CATALOGUES, LANGUAGES, language_of


class Noted(Narrator):
    """A narrator that keeps the keys of what it says."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.said = []

    def say(self, key, count=None, **parts):
        self.said.append(key)
        return super().say(key, count, **parts)


def some_rules(seeds):
    """The rules of the tests, and random ones of small decks."""
    yield from (*RULES.values(), *ALL_RELATIVES.values())
    yield from (draw_small_rules(random.Random(seed)) for seed in seeds)


# ---------------------------------------------------------------------- catalogues


def test_every_catalogue_has_the_same_texts_with_the_same_parts():
    def parts(text):
        return {name for form in text.split("|") for _, name, _, _ in string.Formatter().parse(form) if name}

    english = CATALOGUES["en"]
    for catalogue in CATALOGUES.values():
        assert list(catalogue) == list(english), "in the same order, so that catalogues can be read side by side"
        for key, text in catalogue.items():
            assert parts(text) - {"value", "count"} <= parts(english[key]), key
            assert text.count("|") <= 1, key


def test_every_text_is_used():
    room = ROOT / "krypenv" / "ui"
    files = [*room.rglob("*.py"), *room.glob("browser/static/*.js"), ROOT / "training" / "cli" / "play.py"]
    code = "".join(path.read_text(encoding="utf-8") for path in files)
    families = {"class", "row", "play", "if", "list", "suit", "rank", "pace", "index"}
    families |= {*re.findall(r'f"([a-z_.]+)\.\{', code)}
    keys = [key for key in CATALOGUES["en"] if families.isdisjoint((key.partition(".")[0], key.rpartition(".")[0]))]
    assert not [key for key in keys if not re.search(f"""["']{re.escape(key.removesuffix(".you"))}["']""", code)]


def test_the_language_follows_the_locale():
    for environment in ({"LANG": "sv_SE.UTF-8"}, {"LANG": "sv"}):
        assert language_of(environment) == "sv"
    for environment in ({}, {"LANG": "C"}, {"LANG": "sv_SE", "LC_ALL": "de_DE"}, {"LANG": "svx"}):
        assert language_of(environment) == "en"


# ---------------------------------------------------------------------- games and their scores


@pytest.mark.few(1)
@pytest.mark.parametrize("language", LANGUAGES)
def test_any_game_has_five_lines_and_a_sheet_that_balances_all_along(language):
    """In each language other rules."""
    several = [*some_rules(range(30))][LANGUAGES.index(language) :: len(LANGUAGES)]
    for seed, rules in enumerate(several):
        narrator, choices = Narrator(rules, seat=0, language=language), random.Random(seed)
        lines = narrator.lines()
        assert len(lines) == 5
        for heading, line in lines:
            assert heading
            check_sentence(line)
        game = Game(rules, seed=seed)
        while not game.session_over and game.game_number < 2:
            game = game.next_game() if game.is_over else game
            while not game.is_over:
                game.act(choices.choice(game.legal_actions()))
                if choices.random() < 0.05:
                    check_sheet(narrator, game)
            check_sheet(narrator, game)
            check_sentence(narrator.result(game))


def check_sentence(text):
    """Assert that all parts of a text are filled in."""
    assert text.endswith("."), text
    assert not re.search(r"[{}|]|  ", text), text


def check_sheet(narrator, game):
    """Assert that the sources sum to the scores of seats and sides, also those that the engine has together only."""
    rules, sheet = narrator.rules, narrator.sheet(game)
    players = range(rules.players)
    assert [sum(entry.points[seat] for entry in sheet.entries) for seat in players] == game.scores(), str(rules)
    for entry in sheet.entries:
        if entry.label == narrator.say("sheet.first_table"):
            leader = (game.dealer + 1) % rules.players
            assert entry.points == tuple(rules.initial_match_bonus * (seat == leader) for seat in players)
    if rules.teams:
        sums = [sum(game.scores()[side :: rules.teams]) for side in range(rules.teams)]
        assert list(sheet.sides) == [sums[seat % rules.teams] for seat in players]
    for width in (30, 80):
        lines = narrator.sheet_lines(game, width)
        assert all(str(score) in " ".join(lines) for score in game.scores())


def test_the_result_tells_why_who_won_a_tie():
    tied = Game.from_position(
        "rules: kasino-sweden players=2 ranks=(2,3) suits=(0,3) first_deal=((1,2),) most_spades_points=0 "
        "most_cards_points=0 last_capture_points=0 lillan_points=0 storan_points=0 ace_points=0\n"
        "table: -\nhand 0: -\nhand 1: -\ncaptured 0: 2S 3S\ncaptured 1: 2C 3C\nlast-capturer: 0\nstock: -"
    )
    assert ", by spades in the last game" in Narrator(tied.rules, seat=0).result(tied)


# ---------------------------------------------------------------------- why not


def of_two(rules, table, hands, more="captured 1: rest; stock: -"):
    """A position of two seats whose next deal is the last."""
    return "; ".join([f"rules: {rules}", f"table: {table}", *map("hand {}: {}".format, (0, 1), hands), more])


SWEEP = of_two("krypkasino", "2H 6D", ("8S 9D", "4C KD"))
CHOICE = of_two("krypkasino", "3H 5D 8C 5H QS", ("8S 7C", "4C KD"))
LONERS = of_two("howto", "3H 5D 8C 5H", ("KS 7C", "4C KD"))
SMALL = of_two("kasino-sweden", "AS 2S 3S 4S 5S 2H 3H 4H AH", ("AC 9C TC", "5C 6C 7C"))
MANY = of_two("mulle", " ".join(rank + suit for rank in "23456" for suit in "CDHS") + " 7C 7D", ("9H 9C", "KS 8C"))
OWN = of_two("mulle-glimne", "5D 6H; build 9: 4C 5C; owner 9: 0", ("9S 4S", "KD KH"))
OTHER = of_two("mulle-glimne", "5D 6H; build 9: 4C 5C; owner 9: 1", ("9S 4S KS", "KD 9H 2D"))
MULTIPLE = OTHER.replace("4C 5C", "4C 5C 9D")
OVER = of_two("krypkasino", "-", ("-", "-"), "captured 1: rest; last-capturer: 1; stock: -")
REASONS = [
    (OVER, Move("3S"), "The game is over."),
    (SWEEP, Move("9D"), "You must sweep: play 8♠."),
    (SWEEP, Move("8S"), "You must sweep: play 8♠."),
    (SWEEP, Move("5C"), "5♣ is not in your hand. You hold 9♦ 8♠."),
    (SWEEP, Move("8S", ("7C",)), "7♣ is not on the table."),
    (SWEEP, Move("8S", ("6D", "6D")), "6♦ is not on the table."),
    (SWEEP, "8S", "8♠ would take 6♦+2♥: a sweep. It costs you 6 points and takes 5 points off champion."),
    (CHOICE, "8S", "8♠ takes 8♣ 5♦+3♥ or 8♣ 3♥+5♥: choose."),
    (CHOICE, Move("8S"), "8♠ can't creep: it must take 8♣ 5♦+3♥ or 8♣ 3♥+5♥."),
    (CHOICE, Move("8S", ("8C",)), "8♠ must take all that it can: 8♣ 5♦+3♥ or 8♣ 3♥+5♥."),
    (CHOICE, Move("8S", ("QS",)), "8♠ can't take Q♠: it doesn't make 8."),
    (CHOICE, Move("8S", ("3H", "QS")), "8♠ can't take 3♥ Q♠: they don't split into sums of 8."),
    (CHOICE, Move("7C", ("QS",)), "7♣ can take nothing: no card and no sum on the table makes 7."),
    (CHOICE, Move("7C", builds=(9,)), "There is no build of 9 on the table."),
    (CHOICE, Move("7C", build=9), "Nobody builds in this game."),
    (LONERS, Move("KS", ("5D", "8C")), "K♠ can take nothing: it takes its own rank only."),
    (LONERS.replace("5H", "KC"), Move("KS", ("3H",)), "K♠ can't take 3♥: it takes its own rank only."),
    (SMALL, "TC", "10♣ takes nothing, A♥+2♥+3♥+4♥, A♥+2♥+3♥+4♥ A♠+2♠+3♠+4♠ or 49 more: choose."),
    (MANY, "KS", "K♠ has more moves than can be listed: name the cards that go with it."),
    (OWN, Move("4S"), "You own the build of 9, so you can't creep."),
    (OWN, Move("4S", ("6H",), build=10), "You would keep no 10 for that build."),
    (OWN, Move("9S", ("5D",), build=14), "You would keep no ace for that build."),
    (OWN, Move("9S", ("5D", "6H")), "You would keep no 9 for your build of 9."),
    (OWN, Move("4S", ("6H",), build=9), "4♠ 6♥ don't split into sums of 9."),
    (OWN, Move("4S", builds=(9,)), "The build of 9 is only taken by a card worth 9."),
    (OWN, Move("4S", ("5D",), build=9), "That would add 4♠ 5♦ to your build of 9."),
    (OWN, "9S", "9♠ would take your build of 9 (4♣ 5♣). It brings you 1 point."),
    (OTHER, "4S", "4♠ has 3 moves: name the cards that go with it."),
    (OTHER, Move("4S", build=13), "4♠ alone makes no build: lay it with cards from the table."),
    (OTHER, Move("4S", builds=(9,), build=13), "That would raise champion's build of 9 to 13."),
    (OTHER, Move("4S", ("5D",), builds=(9,), build=13), "5♦ doesn't make 13."),
    (OTHER, Move("9S", builds=(9,), build=13), "The build of 9 and 9♠ don't make 13."),
    (MULTIPLE, Move("4S", builds=(9,), build=13), "The build of 9 has several sums, so its value stays."),
]


def test_every_reason_of_a_move_or_a_card_is_as_in_its_example():
    told = {"why.begun"}
    for position, move, reason in REASONS:
        game = Game.from_position(position)
        narrator = Noted(game.rules, ["", "champion"], 0)
        assert (narrator.why if isinstance(move, Move) else narrator.why_card)(game, move) == reason
        assert game.moves == []
        told |= {*narrator.said}
    assert {key for key in CATALOGUES["en"] if key.startswith("why.")} <= told
    game = Game.from_position(CHOICE)
    game.act(parse_card("8S"))
    said = Narrator(game.rules, seat=0).why(game, Move("7C"))
    assert said == "You have begun with 8♠ and taken nothing: finish that."


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(2))
def test_every_illegal_move_has_a_reason_and_it_is_true(seed):
    told = Counter()
    of_building = [Rules.preset("mulle-glimne"), Rules.preset("kasino-finland", building=True)]
    several = [
        *of_building * 8,
        *[Rules.preset()] * 4,
        *some_rules(range(500 + 40 * seed, 540 + 40 * seed)),
    ]
    for number, rules in enumerate(several):
        game, choices = Game(rules, seed=number), random.Random(100 * seed + number)
        for _ in range(choices.randint(0, 30)):
            if not game.is_over:
                moves = some_moves(game)
                game.push(choices.choice([move for move in moves if move.build] or moves))
        if game.is_over or not 0 < len(game.table) <= 8:
            continue
        for move in tries(game, choices):
            try:
                game.copy().push(move)
            except ValueError:
                narrator = Noted(rules, (), game.turn, "en" if seed else "sv")
                check_sentence(narrator.why(game, move))
                keys = [key for key in narrator.said if key.startswith("why.")]
                check_reason(game, move, next(key for key in keys[::-1] if key not in PARTS))
                told += Counter(keys)
    assert {"why.must_sweep", "why.must_take", "why.no_groups", "why.keep", "why.takes_nothing"} <= set(told)


PARTS = ("why.no_sum", "why.more", "why.no_rank")  # of other reasons


def tries(game, choices):
    """Moves that a person might try: any card, any cards of the table, any build."""
    for _ in range(12):
        card = choices.choice([*game.hand(game.turn) * 6, "5C"])
        takes = choices.sample(game.table, choices.randint(0, min(4, len(game.table))))
        values = [value for value, *_ in game.builds]
        builds = tuple(sorted(choices.sample(values, choices.randint(0, len(values)))))
        build = choices.choice((None, None, choices.randint(1, 16))) if game.rules.building else None
        yield Move(card, tuple(sorted(takes, key=parse_card)), 0, build, builds)


def check_reason(game, move, key):
    """Check what a reason asserts by the legal moves, and by adding up cards."""
    rules, legal = game.rules, game.legal_moves()
    of_card = [each for each in legal if each.card == move.card]
    missing = Counter(move.takes) - Counter(game.table)
    assert (key == "why.not_held") == (move.card not in game.hand(game.turn))
    assert key == "why.not_held" or (key == "why.not_on_table") == bool(missing)
    if key == "why.must_sweep":
        assert rules.forced_sweep
        assert all(each.sweep for each in legal)
        cards = {card_symbol(each.card) for each in legal}
        assert cards == set(re.findall(r"(?:10|\w)[♣♦♥♠]", Narrator(rules, seat=game.turn).why(game, move)))
    elif key == "why.takes_nothing":
        assert not any(each.takes or each.builds for each in of_card)
    elif key in ("why.must_take", "why.must_take_more"):
        assert any(Counter(move.takes) < Counter(each.takes) for each in of_card)
    elif key in ("why.owner_trails", "why.build_alone"):
        assert not move.takes
