"""What is typed or handed in from outside is read in one strict way, in time, and refused in one short sentence."""

import itertools
import re
import subprocess

import numpy as np
import pytest
from support.fuzzing import refusal

from krypenv import Engine, Game, Move, Rules
from krypenv.cards import RANK_NAMES, SUIT_NAMES, card_name, parse_card, parse_rank
from krypenv.inputs.words import command_line
from krypenv.training.evaluation.matches.deal_lists import deal_seeds, describe_list
from krypenv.training.settings.groups import GameSettings

MAIN = Rules.preset("krypkasino")
MANY = 200_000
BASE = "rules: krypkasino; hand 0: 2C; hand 1: 2D; captured 1: rest"
HEAD = '[Rules "mini-low"] [Seed "7"]\n'


def test_a_shell_reads_a_command_as_it_was_meant():
    words = [
        "",
        "plain",
        "tactician(shed=True)",
        "learned(model='runs/mine')",
        *(f"a'{c}'b" for c in '"$`\\!*~#&|; \t'),
    ]
    line = f"for word in {command_line(*words)}; do printf '<%s>' \"$word\"; done"
    for shell in (["sh", "-c"], ["bash", "--norc", "-ic"]):  # in an interactive one ! has a meaning
        done = subprocess.run([*shell, line], capture_output=True, text=True, check=True)
        assert done.stdout == "".join(f"<{word}>" for word in words)


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("name=3", "no field 'name'"),
        ("cls=3", "no field 'cls'"),
        ("=3", "no field ''"),
        ("players", "'players' in the rules .* is no field"),
        ("players={[]:1}", "not played by '{\\[\\]:1}' players"),
        ("teams={{}}", "'{{}}' equal teams"),
        ("games=" + "-" * 100_000, "games is a whole number"),
        ("games=(" + "-" * 1000 + "1)", "games is a whole number"),
        ("later_deal=" + "(" * 1000, "later_deal is batches"),
        ("later_deal=((((2,0),),),)", "later_deal is batches"),
        ("later_deal=(2,0)-1", "later_deal is batches"),
        ("later_deal=((0,0),)" + "*1000", "later_deal is batches"),
        ("players=" + "9" * 5000, "not played by '999"),
        ("players=\u0662", "not played by '\u0662' players"),
        ("players=2 players=3", "'players' appears in the rules .* more than once"),
        ("players=2.0", "not played by '2.0' players"),
        ("packs=True", "packs is a whole number from 1 to 2, not True"),
        ("goal=most", "goal is 'low' or 'high', not 'most'"),
    ],
)
def test_a_field_that_is_none_is_refused_in_one_sentence(field, sentence):
    assert re.search(sentence, refusal(Rules.parse, f"krypkasino {field}"))
    if " " not in field:
        assert re.search(sentence, refusal(GameSettings(rule=(field,)).game_rules))


# ---------------------------------------------------------------------- cards, positions and records


def test_only_its_own_letters_name_a_card():
    ranks, suits = {*RANK_NAMES, *RANK_NAMES.lower(), "10"}, {*"CDHScdhs♣♦♥♠"}
    for letter in map(chr, (*range(0x250), *range(0x600, 0x700), *range(0x2000, 0x2700), *range(0xFF00, 0xFFF0))):
        if letter not in suits:
            refusal(parse_card, f"8{letter}")
            refusal(Move.parse, f"8Sx9{letter}")
        if letter not in ranks and letter.strip():
            refusal(parse_rank, letter)
            refusal(parse_card, f"{letter}S")
    for rank, suit in itertools.product(ranks, suits):
        name = rank.upper().replace("10", "T") + SUIT_NAMES["CDHScdhs♣♦♥♠".index(suit) % 4]
        assert card_name(parse_card(rank + suit)) == name


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (Game.from_position, BASE.replace("2C", "\u212aC")),
        (Game.from_position, BASE.replace("2C", "2\u017f")),
        (Game.from_position, BASE + "; cannot-hold 0: \u212a"),
        (Game.from_position, BASE + "; dealer: \u0661"),
        (Game.from_position, BASE.replace("captured 1: rest", "stoc\u212a: rest")),
        (Game.from_position, BASE + "; game: \uff11"),
        (Game.replay, HEAD + "Deal \u0661: *"),
        (Game.replay, HEAD + "\u0661. *"),
        (Game.replay, HEAD.replace("7", "\u0667") + "*"),
        (Game.replay, HEAD + "2\u017f *"),
        (Game.replay, HEAD.replace("]\n", '] [Dealer "\u0661"]') + "*"),
    ],
)
def test_lookalikes_are_refused(read, text):
    refusal(read, text)


def test_lists_of_deals_are_named_strictly():
    numbers = "\u0667", "\u00b2", "-1", "9" * 5000, "9" * 20, "de\u017f", "", None, True, 1.5, -1, 2**64, [], b"dev"
    for source in numbers:
        refusal(deal_seeds, source, 3)
        refusal(describe_list, source)
    assert (deal_seeds("007", 3) == deal_seeds(7, 3)).all()


# records and positions: what they begin with, what is written many times, and what they end with
READ = [
    *((HEAD, piece, "*") for piece in (" ", "\n", "{a}\n", "1. ", "Deal 1: ", '[T%n "x"]')),
    (HEAD + '[T "', "\\\\", '"] *'),
    *((BASE, piece, "") for piece in (";", "\n", "\r\n", "#", "\n# x")),
]
LONG = [
    *((HEAD, piece, "") for piece in ('[Tag "x ', '[Deck "AC"]', "[", "{", "1", "*", "1-", "[ ", "[a")),
    *((HEAD + '[Tag "', piece, "") for piece in ("x", "\\x")),
    *((HEAD + "[", piece, "") for piece in " a"),
    *((HEAD + "8Sx", "2H", end) for end in (" *", ".. *")),
    *((BASE, piece, "") for piece in (":", "; x", "; x: 1")),
    *((f"{BASE}; {key}: ", " 2C", "") for key in ("table", "took", "sweeps", "pending: 2C; took")),
    (f"{BASE}; cannot-hold 0: A", "; x", ""),
]


@pytest.mark.few(6)
@pytest.mark.parametrize(("start", "piece", "end"), [*READ, *LONG])
def test_a_long_text_is_read_or_refused_in_linear_time(start, piece, end):
    """In quadratic time each would take an hour, and a test ends after ten minutes."""
    repeated = "".join(piece.replace("%n", str(at)) for at in range(MANY // 10)) if "%n" in piece else piece * MANY
    read = Game.replay if start.startswith(HEAD) else Game.from_position
    if (start, piece, end) in READ:
        game = read(start + repeated + end)
        assert Game.replay(game.record()).comments == game.comments
    else:
        assert re.match(r"line \d+: ", refusal(read, start + repeated + end))


# ---------------------------------------------------------------------- games


@pytest.mark.parametrize(
    ("make", "values", "reason"),
    [
        (Game, (Rules, 3), "rules are those of"),
        (Game, ("mullle",), "unknown preset"),
        (lambda seed: Game(MAIN, seed=seed), (1.5, -1, 2**64, "7", True, [], float("nan")), "a seed is a whole number"),
        (lambda dealer: Game(MAIN, dealer=dealer), (True, 1.0, "0", -1, 2, [], 10**30), "can't deal"),
        (lambda deck: Game(MAIN, deck=deck), (["AS"] * 10**6, "AS " * 10**6, itertools.repeat("AS"), []), "the deck"),
        (lambda deck: Game(MAIN, deck=deck), ("AS", 3, type(None), [None] * 104, [1] * 104), ""),
        (
            lambda given: Game(Rules.preset(games=0, threshold=100), 1, None, 0, *given),
            ((10**20, [0, 0]), (0, [0, 0]), (1.0, [0, 0]), (2, [10**20, 0]), (2, [-(10**9), 0]), (2, [0]), (2, "00")),
            "",
        ),
        (
            lambda given: Game.replay(f'[Rules "krypkasino games=0 threshold=100"] [Seed "7"] {given} *'),
            (f'[Game "{10**15}"] [Totals "1 1"]', f'[Game "3"] [Totals "1 -{10**15}"]'),
            "",
        ),
    ],
)
def test_what_makes_no_game_is_refused(make, values, reason):
    for value in values:
        assert reason in refusal(make, value)


def test_a_game_is_made_of_what_it_says():
    assert Game(seed=3) == Game("krypkasino", 3) == Game({"players": 2}, 3) != Game("howto", 3)
    assert repr(Engine("mulle", 8)) == "<Engine: mulle players=2, 8 games>"
    assert Game(MAIN, dealer=np.int64(1)).dealer == 1
    assert Game(MAIN, seed=np.int64(3)).deck == Game(MAIN, seed=3).deck
    assert Game(MAIN, seed=2**64 - 1).deck
    fresh = Game(MAIN)
    assert (Game(MAIN, seed=fresh.seed).deck, Game(MAIN, deck=fresh.deck).seed) == (fresh.deck, None)
    text = '[Rules "krypkasino games=0 threshold=100"] [Seed "7"] [Game "100000"] [Totals "1 1"] *'
    assert Game.replay(text).game_number == 100_000
