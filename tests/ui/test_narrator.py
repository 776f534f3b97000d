"""The narrator: catalogues, reasons that are true, sheets that balance, and nothing that is hidden."""

from __future__ import annotations

import itertools
import random
import re
import string

import numpy as np
import pytest
from support.games import FIELDS, RULES, play_out, rules_of, shuffle_hidden
from support.hidden import some_moves
from support.places import ROOT
from support.random_rules import draw_small_rules

from krypenv import Game, Rules
from krypenv.cards import card_name, parse_card
from krypenv.families.bounds import capture_values
from krypenv.game.moves import Move
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import CATALOGUES, LANGUAGES, language_of

OTHERS = [*FIELDS.values(), {"variant": "mulle-glimne", "players": 4, "teams": 2}]


class Noted(Narrator):
    """A narrator that keeps the keys of what it says, with their parts."""

    def say(self, key, count=None, **parts):
        self.said = [*getattr(self, "said", []), (key, parts)]
        return super().say(key, count, **parts)


def some_rules(seeds):
    """Every preset, players and teams, and random rules of small decks."""
    yield from RULES.values()
    yield from map(rules_of, OTHERS)
    yield from (draw_small_rules(random.Random(seed)) for seed in seeds)


# ---------------------------------------------------------------------- golden texts and catalogues


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


@pytest.mark.parametrize(
    ("environment", "language"),
    [({}, "en"), ({"LANG": "sv_SE.UTF-8"}, "sv"), ({"LANG": "C"}, "en"), ({"LANG": "sv"}, "sv"),
     ({"LANG": "sv_SE", "LC_ALL": "de_DE"}, "en"), ({"LANG": "svx"}, "en")],
)  # fmt: skip
def test_the_language_follows_the_locale(environment, language):
    assert language_of(environment) == language


# ---------------------------------------------------------------------- what the game is


@pytest.mark.parametrize("language", LANGUAGES)
def test_five_lines_for_all_rules(language):
    for rules in some_rules(range(60)):
        lines = Narrator(rules, seat=0, language=language).lines()
        assert len(lines) == 5
        for heading, line in lines:
            assert heading
            assert line.endswith(".")
            assert not re.search(r"[{}|]|  ", line), line


# ---------------------------------------------------------------------- what it came to


@pytest.mark.parametrize("seed", range(3))
def test_the_sheet_balances_all_along(seed):
    for rules in some_rules(range(40 * seed, 40 * seed + 40)):
        game, choices = Game(rules, seed=seed), random.Random(seed)
        narrator = Narrator(rules, seat=0)
        while not game.session_over and game.game_number < 3:
            game = game.next_game() if game.is_over else game
            while not game.is_over:
                game.act(choices.choice(game.legal_actions()))
                if choices.random() < 0.1:
                    check_sheet(narrator, game)
            check_sheet(narrator, game)
            assert narrator.result(game).endswith(".")


def check_sheet(narrator, game):
    """Check that the sources sum to the scores, and those that are told apart to what the engine has together."""
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


def test_who_won_and_why():
    game = play_out(Game(Rules.preset("kasino-sweden"), seed=3))
    scores, told = game.scores(), Narrator(game.rules, ["", "champion"], 0).result(game)
    best = max(scores)
    winner = "You win" if scores[0] == best else "Champion wins"
    assert told == f"{winner} with {best} to {min(scores)}. Points are good: the highest score wins."
    tied = Game.from_position(
        "rules: kasino-sweden players=2 ranks=(2,3) suits=(0,3) first_deal=((1,2),) most_spades_points=0 "
        "most_cards_points=0 last_capture_points=0 lillan_points=0 storan_points=0 ace_points=0\n"
        "table: -\nhand 0: -\nhand 1: -\ncaptured 0: 2S 3S\ncaptured 1: 2C 3C\nlast-capturer: 0\nstock: -"
    )
    assert ", by spades in the last game" in Narrator(tied.rules, seat=0).result(tied)


# ---------------------------------------------------------------------- what is hidden


@pytest.mark.parametrize("seed", range(2))
def test_no_text_tells_what_the_seat_may_not_know(seed):
    rng = np.random.default_rng(seed)
    for rules in some_rules(range(100 * seed, 100 * seed + 25)):
        game, choices, seat = Game(rules, seed=seed), random.Random(seed), 0
        narrator = Narrator(rules, seat=seat)
        while not game.is_over:
            before = game.copy()
            game.push(choices.choice(some_moves(game)))
            if choices.random() < 0.8:
                continue
            rows = [before.state.copy(), game.state.copy()]
            for row in rows:
                shuffle_hidden(rules, row, seat, rng)
            twin_before, twin = (Game.at_row(rules, row) for row in rows)
            assert _texts(narrator, twin_before, twin) == _texts(narrator, before, game), str(rules)


def _texts(narrator, before, game):
    """All that is told about a game that is not over, for the seat of the narrator."""
    told = [narrator.play(before, game)]
    if game.is_over:
        return told
    told += [narrator.deal(game), narrator.announcement(game)]
    are_many = game.rules.capture == "optional" and len(game.table) > 8
    if game.turn == narrator.seat and not are_many:
        hand = game.hand(narrator.seat)
        told += [narrator.why_card(game, card) for card in hand]
        told += [narrator.why(game, Move(card, tuple(game.table[:2]))) for card in hand]
    return told


# ---------------------------------------------------------------------- why not


MUST_SWEEP = "rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest; stock: -"
TWO_WAYS = "rules: krypkasino; hand 0: 8S 7C; hand 1: 4C KD; table: 3H 5D 8C 5H QS; captured 1: rest; stock: -"
BUILDS = (
    "rules: mulle-glimne; table: 5D 6H; build 9: 4C 5C; owner 9: 0; hand 0: 9S 4S; hand 1: KD KH; captured 1: rest; "
    "stock: -"
)


@pytest.mark.parametrize(
    ("position", "move", "reason"),
    [
        (MUST_SWEEP, Move("9D"), "You must sweep: play 8♠."),
        (MUST_SWEEP, Move("8S"), "You must sweep: play 8♠."),
        (MUST_SWEEP, Move("5C"), "5♣ is not in your hand. You hold 9♦ 8♠."),
        (MUST_SWEEP, Move("8S", ("7C",)), "7♣ is not on the table."),
        (MUST_SWEEP, "8S", "8♠ would take 6♦+2♥: a sweep. It costs you 6 points and takes 5 points off champion."),
        (TWO_WAYS, "8S", "8♠ takes 8♣ 5♦+3♥ or 8♣ 3♥+5♥: choose."),
        (TWO_WAYS, Move("8S", ("8C",)), "8♠ must take all that it can: 8♣ 5♦+3♥ or 8♣ 3♥+5♥."),
        (TWO_WAYS, Move("8S", ("QS",)), "8♠ can't take Q♠: it doesn't make 8."),
        (TWO_WAYS, Move("8S", ("3H", "QS")), "8♠ can't take 3♥ Q♠: they don't split into sums of 8."),
        (TWO_WAYS, Move("7C", ("QS",)), "7♣ can take nothing: no card and no sum on the table makes 7."),
        (BUILDS, Move("4S"), "You own the build of 9, so you can't creep."),
        (BUILDS, Move("4S", ("6H",), build=10), "You would keep no 10 for that build."),
        (BUILDS, Move("4S", ("6H",), build=9), "4♠ 6♥ don't split into sums of 9."),
        (BUILDS, Move("4S", builds=(9,)), "The build of 9 is only taken by a card worth 9."),
        (BUILDS, Move("9S", ("5D",), build=14), "You would keep no ace for that build."),
        (BUILDS, Move("4S", ("5D",), build=9), "That would add 4♠ 5♦ to your build of 9."),
        (BUILDS, Move("9S", builds=(9,)), "9♠ would take your build of 9 (4♣ 5♣). It brings you 1 point."),
    ],
)
def test_the_reason_of_a_move_or_a_card(position, move, reason):
    game = Game.from_position(position)
    narrator = Narrator(game.rules, ["", "champion"], 0)
    assert (narrator.why if isinstance(move, Move) else narrator.why_card)(game, move) == reason
    assert game.moves == []


def split_sums(values, worth):
    """Whether cards, each with some values, can be split into groups that sum to one of a card's values."""

    def cover(left, value):
        if not left:
            return True
        first, rest = left[0], left[1:]
        for size in range(len(rest) + 1):
            for group in itertools.combinations(range(len(rest)), size):
                for chosen in itertools.product(first, *(rest[at] for at in group)):
                    if sum(chosen) == value and (size == 0 or value < 17):  # some pictures are in no sum (H2)
                        if cover([each for at, each in enumerate(rest) if at not in group], value):
                            return True
                        break
        return False

    return any(cover(list(values), value) for value in worth)


@pytest.mark.parametrize("seed", range(3))
def test_every_illegal_move_has_a_reason_and_it_is_true(seed):
    told = set()
    glimne = [Rules.preset("mulle-glimne"), Rules.preset("kasino-finland", building=True)]
    for number, rules in enumerate(
        [*glimne * 12, *[Rules.preset()] * 6, *some_rules(range(500 + 40 * seed, 540 + 40 * seed))]
    ):
        game, choices = Game(rules, seed=number), random.Random(100 * seed + number)
        for _ in range(choices.randint(0, 30)):
            if not game.is_over:
                game.push(choices.choice(_building_moves(game)))
        if game.is_over or not 0 < len(game.table) <= 8:
            continue
        for move in _tries(game, choices):
            twin = game.copy()
            try:
                twin.push(move)
            except ValueError:
                narrator = Noted(rules, seat=game.turn)
                assert narrator.why(game, move).endswith("."), move
                [key, parts] = next(each for each in narrator.said[::-1] if each[0].startswith("why.") and
                                    each[0] not in ("why.no_sum", "why.more", "why.no_rank"))  # fmt: skip
                told.add(key)
                check_reason(game, move, key, parts)
    assert {"why.must_sweep", "why.must_take", "why.no_groups", "why.keep", "why.takes_nothing"} <= told


def _building_moves(game):
    """The moves that build, or all where none does."""
    moves = some_moves(game)
    return [move for move in moves if move.build] or moves


def _tries(game, choices):
    """Moves that a person might try: any card, any cards of the table, any build."""
    for _ in range(12):
        card = choices.choice([*game.hand(game.turn) * 6, "5C"])
        takes = choices.sample(game.table, choices.randint(0, min(4, len(game.table))))
        values = [value for value, *_ in game.builds]
        builds = tuple(sorted(choices.sample(values, choices.randint(0, len(values)))))
        build = choices.choice((None, None, choices.randint(1, 16))) if game.rules.building else None
        yield Move(card, tuple(sorted(takes, key=parse_card)), 0, build, builds)


def check_reason(game, move, key, parts):
    """Check what a reason asserts by a count of its own."""
    rules, hand, table = game.rules, game.hand(game.turn), game.table
    hands, on_table = capture_values(rules)
    kept = list(hand)
    if move.card in hand:
        kept.remove(move.card)
    values = hands[parse_card(move.card)]
    owned = [value for value, _, owner, _ in game.builds if owner == game.turn]

    def adds_up(cards, worth):
        return split_sums([on_table[parse_card(card) % 13] for card in cards], worth)

    if key == "why.not_held":
        assert move.card not in hand
    elif key == "why.not_on_table":
        assert set(move.takes) - set(table)
    elif key.startswith("why.must_sweep"):
        assert rules.forced_sweep
        sweepers = [card for card in hand if adds_up(table, hands[parse_card(card)])]
        assert sweepers
        assert all(card_name(parse_card(card)) in sweepers for card in re.findall(r"(?:10|\w)[♣♦♥♠]", str(parts)))
    elif key == "why.takes_nothing":
        assert not any(adds_up(group, values) for size in range(1, len(table) + 1)
                       for group in itertools.combinations(table, size))  # fmt: skip
    elif key in ("why.must_take", "why.must_take_more"):
        assert rules.capture == "maximal"
        assert any(set(move.takes) <= set(each.takes) and len(each.takes) > len(move.takes)
                   for each in game.legal_moves() if each.card == move.card)  # fmt: skip
    elif key in ("why.no_groups", "why.own_rank"):
        assert not adds_up(move.takes, values)
    elif key == "why.build_sum":
        raised = set(move.builds) - {move.build}
        laid = move.takes if raised else (move.card, *move.takes)
        assert not adds_up(laid, [move.build])
    elif key == "why.keep":
        assert not any(move.build in hands[parse_card(card)] for card in kept)
    elif key == "why.keep_own":
        assert parts["value"] in owned
        assert not any(parts["value"] in hands[parse_card(card)] for card in kept)
    elif key == "why.owner_trails":
        assert parts["value"] in owned
        assert not move.takes
    elif key == "why.build_value":
        assert parts["value"] in move.builds
        assert parts["value"] not in values
    elif key == "why.build_alone":
        assert not move.takes
    elif key == "why.raise_multiple":
        assert {value: is_multiple for value, *_, is_multiple in game.builds}[parts["build"]]
    elif key == "why.raise_value":
        assert parts["build"] + on_table[parse_card(move.card) % 13][0] != parts["value"]
    else:
        raise AssertionError(key)
