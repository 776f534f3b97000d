"""What is typed or handed in from outside is read in one strict way, in time, and refused in one short sentence."""

import dataclasses
import itertools
import random
import re
import subprocess
from collections import Counter
from functools import partial

import numpy as np
import pytest
from fuzz.text import CARDS, ODD, check_rules
from support.fuzzing import REFUSED, attempt, check_sentence
from support.places import DOCS
from support.random_rules import draw_rules

from krypenv import Game, Move, Rules, agents
from krypenv.agents.base import LIMITS, options_of, parse_spec
from krypenv.agents.search.sampler import MOST_SHARED
from krypenv.cards import parse_card, parse_rank
from krypenv.engine import IllegalMove
from krypenv.game.begun import begin_play
from krypenv.game.history import History
from krypenv.inputs.words import as_argument, command_line, listed, shown
from krypenv.notation import NotationError
from krypenv.training.evaluation.matches.deal_lists import deal_seeds, describe_list
from krypenv.training.runs.parts import GameRules

MAIN = Rules.preset("krypkasino")
MANY = 300_000
BASE = "rules: krypkasino; hand 0: 2C; hand 1: 2D; captured 1: rest"
HEAD = '[Rules "mini-low"] [Seed "7"]\n'


def refusal(call, *args, **kwargs):
    """The sentence with which something is refused."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        call(*args, **kwargs)
    check_sentence(caught.value, args)
    return str(caught.value)


# ---------------------------------------------------------------------- commands

WORDS = ["", "plain", "tactician(shed=True)", "learned(model='runs/mine')", *(f"a'{c}'b" for c in '"$`\\!*~#&|; \t')]


def test_a_shell_reads_a_command_as_it_was_meant() -> None:
    line = f"for word in {command_line(WORDS)}; do printf '<%s>' \"$word\"; done"
    for shell in (["sh", "-c"], ["bash", "--norc", "-ic"]):  # in an interactive one ! has a meaning
        done = subprocess.run([*shell, line], capture_output=True, text=True, check=True)
        assert done.stdout == "".join(f"<{word}>" for word in WORDS)
    assert as_argument(WORDS[3]) == f'"{WORDS[3]}"'


# ---------------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("name=3", "no field 'name'"),
        ("name=howto", "no field 'name'"),
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
        ("packs=True", "packs is 1 or 2, not True"),
    ],
)
def test_a_field_that_is_none_is_refused_in_one_sentence(field, sentence):
    assert re.search(sentence, refusal(Rules.parse, f"krypkasino {field}"))
    if " " not in field:
        assert re.search(sentence, refusal(GameRules("krypkasino", rule=(field,)).parse))


def test_every_field_refuses_every_odd_value_or_keeps_it_plain():
    for field, value in itertools.product(dataclasses.fields(Rules), ODD):
        for make in (Rules, Rules.preset):
            rules = attempt(partial(make, **{field.name: value}), Counter(), (field.name, value))
            if rules is not REFUSED:
                check_rules(rules)


def test_rules_that_can_be_made_are_read_again():
    rng = random.Random(5)
    for _ in range(100):
        check_rules(draw_rules(rng))


def test_the_name_of_rules_is_a_preset():
    for name in ("foo", "", 3, None, [], np.str_("x")):
        assert "unknown preset" in refusal(Rules, name=name)
        assert "unknown preset" in refusal(Rules.preset, name)
    assert Rules.preset(np.str_("howto")) == Rules.preset("howto")
    for text in ("players=4", " goal=low players=2"):
        said = f"the rules {text!r} begin with a field; a preset comes first, as in krypkasino players=4"
        assert refusal(Rules.parse, text) == said


def test_rules_hold_plain_python():
    rules = Rules(players=np.int64(3), ranks=np.arange(1, 14), later_deal=[[2, 0], [2, 0]])
    assert rules == Rules(players=3)
    assert type(rules.players) is int
    assert {type(rank) for rank in rules.ranks} == {int}
    assert "not played by True players" in refusal(Rules, players=True)
    assert "True or False" in refusal(Rules, forced_sweep=1)
    assert "later_deal is batches" in refusal(Rules, later_deal=((0, 0),) * 200 + ((2, 0),), short_last_deal=True)


# ---------------------------------------------------------------------- cards and numbers


def test_only_its_own_letters_name_a_card():
    letters = [chr(code) for code in range(0x3000)] + [chr(code) for code in range(0xFF00, 0xFFF0)]
    ranks, suits = {name[:-1] for name in CARDS}, {name[-1] for name in CARDS}
    for letter in letters:
        if letter not in suits:
            refusal(parse_card, f"8{letter}")
            refusal(Move.parse, f"8Sx9{letter}")
        if letter not in ranks:
            refusal(parse_rank, letter)
            refusal(parse_card, f"{letter}S") if letter.strip() else None
    for name, kind in CARDS.items():
        assert parse_card(name) == kind


@pytest.mark.parametrize(
    "text",
    [
        BASE.replace("2C", "\u212aC"),
        BASE.replace("2C", "2\u017f"),
        BASE + "; cannot-hold 0: \u212a",
        BASE + "; dealer: \u0661",
        BASE.replace("captured 1: rest", "stoc\u212a: rest"),
        BASE + "; game: \uff11",
    ],
)
def test_lookalikes_are_refused_in_positions(text):
    refusal(Game.from_position, text)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "Deal \u0661: *",
        HEAD + "\u0661. *",
        HEAD.replace("7", "\u0667") + "*",
        HEAD + "2\u017f *",
        HEAD.replace("]\n", '] [Dealer "\u0661"]') + "*",
    ],
)
def test_lookalikes_are_refused_in_records(text):
    refusal(Game.replay, text)


def test_lists_of_deals_are_named_strictly():
    for source in (
        "\u0667",
        "\u00b2",
        "-1",
        "9" * 5000,
        "9" * 20,
        "de\u017f",
        "",
        None,
        True,
        1.5,
        -1,
        2**64,
        [],
        b"dev",
    ):
        refusal(deal_seeds, source, 3)
        refusal(describe_list, source)
    assert (deal_seeds("007", 3) == deal_seeds(7, 3)).all()


# ---------------------------------------------------------------------- length


def check_line(error):
    """Assert that a notation error is one sentence with its line."""
    check_sentence(error, "a long text")
    assert str(error).startswith(f"line {error.line}: ")


LONG_RECORDS = {
    "spaces": " " * MANY + "*",
    "lines": "\n" * MANY + "*",
    "comments": "{a}\n" * MANY + "*",
    "numbers": "1. " * MANY + "*",
    "deals": "Deal 1: " * MANY + "*",
    "tags": "".join(f'[T{number} "x"]' for number in range(MANY // 10)) + "*",
    "escapes": '[T "' + "\\\\" * MANY + '"] *',
    "decks": '[Deck "AC"]' * MANY + "*",
    "open tags": '[Tag "x ' * MANY,
    "an open tag": '[Tag "' + "x" * MANY,
    "an open tag of escapes": '[Tag "' + "\\x" * MANY,
    "open brackets": "[" * MANY,
    "open braces": "{" * MANY,
    "a tag of spaces": "[" + " " * MANY,
    "a tag of letters": "[" + "a" * MANY,
    "digits": "1" * MANY,
    "scores": "1-" * MANY + "x",
    "cards": "8Sx" + "2H" * MANY + " *",
    "a begun play": "8Sx" + "2H" * MANY + ".. *",
    "results": "*" * MANY,
}


@pytest.mark.parametrize("name", LONG_RECORDS)
def test_a_long_record_is_read_in_time(name):
    text = HEAD + LONG_RECORDS[name]
    try:
        game = Game.replay(text)
    except NotationError as error:
        check_line(error)
    else:
        assert Game.replay(game.record()).comments == game.comments


@pytest.mark.parametrize(
    "more",
    [";", "\n", "\r\n", ":", "; x", "#", "; x: 1", " 2C", "\n# x"],
)
@pytest.mark.parametrize(
    "key", ["", "; table: ", "; took: ", "; sweeps: ", "; cannot-hold 0: A", "; pending: 2C; took: "]
)
def test_a_long_position_is_read_in_time(key, more):
    try:
        Game.from_position(BASE + key + more * MANY)
    except NotationError as error:
        check_line(error)


def test_lines_are_counted_as_an_editor_does():
    for end in ("\n", "\r\n", "\r"):
        assert refusal(Game.from_position, end.join(["", "rules: krypkasino", "", "x"])).startswith("line 4: ")
    assert refusal(Game.replay, "\n\n{}").startswith("line 3: ")


def test_what_a_play_took_is_not_tried_in_every_order(monkeypatch):
    cards = ["AC", "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C"]
    text = f"rules: krypkasino; table: {' '.join(cards)}; hand 0: KC; hand 1: 2D; captured 1: rest; turn: 0"
    legal = set()
    _walk(Game.from_position(text), parse_card("KC"), legal)
    assert len(legal) > 20
    acts, reached = [], set()
    act = History.act
    monkeypatch.setattr(History, "act", lambda *given: acts.append(given) or act(*given))
    game = Game.from_position(text)
    for number in range(len(cards) + 1):
        for took in itertools.combinations(cards, number):
            acts.clear()
            twin = game.copy()
            if begin_play(twin, parse_card("KC"), map(parse_card, took)):
                reached.add(tuple(twin.taken))
                assert sorted(twin.taken) == sorted(took)
            assert len(acts) <= 1 + number
    assert reached == legal
    assert "can't be choosing" in refusal(
        Game.from_position, text.replace("hand 0: KC", "pending: KC; took:" + " 2C" * 1000)
    )


def _walk(game, action, found):
    """Add what a begun play may have taken to `found`, by all legal actions."""
    game.act(action)
    if game.pending and tuple(game.taken) not in found:
        found.add(tuple(game.taken))
        for more in game.legal_actions():
            _walk(game, more, found)
    game.pop()


# ---------------------------------------------------------------------- sentences


def test_values_are_shown_on_one_short_line():
    for value in (*ODD, "\n" * 200, "\u2028", np.zeros((50, 50)), [[[[[[1]]]]]], {"x": "y" * 1000}):
        assert len(shown(value)) <= 80
        assert shown(value).isprintable()
    assert shown("8S") == "'8S'"
    assert listed(["a", "b"]) == "a, b"
    assert listed(map(str, range(1000)), 20) == "0, 1, 2, 3, 4, 5, and 994 more"


# ---------------------------------------------------------------------- agents


def test_every_number_of_every_agent_has_bounds():
    for name, agent in agents._AGENTS.items():
        for option, default in options_of(agent).items():
            if type(default) in (int, float):
                low, high, _ = LIMITS.get(f"{name}.{option}", LIMITS.get(option))
                assert low <= default <= high
                for value in ("-1", str(high + 1), "9" * 30, "1e999", "-1e999"):
                    sentence = refusal(agents.make, f"{name}({option}={value})", MAIN)
                    assert sentence.startswith(option if "e" not in value or type(default) is float else name)


def test_the_bounds_stand_in_the_documentation():
    text = (DOCS / "agents.md").read_text(encoding="utf-8")
    for option, (low, high, _) in LIMITS.items():
        agent, _, key = option.rpartition(".")
        assert f"| `{key}`{f' of `{agent}`' if agent else ''} | {low:,} to {high:,} |" in text
    assert f"is {MOST_SHARED:,} at most" in text


@pytest.mark.parametrize(
    "spec",
    [
        "tactician(shed={[]:1})", "tactician(shed=" + "-" * 100_000 + "1)", "search(worlds=10**30)", "", "(", ")",
        "search(worlds=9" + "9" * 5000 + ")", "search(" + "worlds=1, " * 500 + ")", "tactician(shed=True, shed=True)",
        "tactician(shed=True,,)", "tactician(shed=\u0661)", "search(worlds=\u0663)", "\uff47reedy", None, 3, b"greedy",
        "greedy(" + "(" * 5000, "learned(model='\x00')", "learned(model='a\nb')", "learned(model='a\\tb')", ["greedy"],
        "learned(model='" + "a" * 2000 + "')", "runs/a\tb", "\x00", "a/\x00", "/" * 100_000, "x" * 10**6, "greedy)",
        "greedy(", "greedy()x",
    ],
)  # fmt: skip
def test_a_string_that_names_no_agent_is_refused_in_one_sentence(spec):
    refusal(agents.make, spec, MAIN)
    assert agents.rules_of(spec) is None


def test_options_are_read_as_before():
    assert parse_spec(" tactician ( shed = True , ) ") == ("tactician", {"shed": True})
    assert parse_spec("a-b_c(x=-1.5e-3, y='a\\'b', z=\"(,)\", w=None)") == (
        "a-b_c",
        {"x": -0.0015, "y": "a'b", "z": "(,)", "w": None},
    )


def test_an_agent_is_made_of_rules_and_a_seed():
    for rules in ("krypkasino", None, Rules):
        assert "rules are those of" in refusal(agents.make, "greedy", rules)
    for seed in (-1, 2**64, 1.5, "7", None, True):
        assert "a seed is a whole number" in refusal(agents.make, "greedy", MAIN, seed)
    assert agents.make("search", MAIN, np.uint64(2**64 - 1)).name == "search"
    for options in ({"worlds": "x"}, {"ms": float("nan")}, {"worlds": True}, {"method": []}, {"value": None}):
        refusal(agents.search.Search, MAIN, **options)
    assert agents.search.Search(MAIN, worlds=np.int64(8)).name == "search(worlds=8)"


# ---------------------------------------------------------------------- games


def test_a_game_is_made_of_what_it_says():
    for rules in ("krypkasino", None, Rules, 3):
        assert "rules are those of" in refusal(Game, rules)
    for seed in (1.5, -1, 2**64, "7", True, [], float("nan")):
        assert "a seed is a whole number" in refusal(Game, MAIN, seed=seed)
    for dealer in (True, 1.0, "0", -1, 2, [], 10**30):
        assert "can't deal" in refusal(Game, MAIN, dealer=dealer)
    for deck in (
        3,
        None.__class__,
        [None] * 104,
        [1] * 104,
        "AS",
        itertools.repeat("AS"),
        ["AS"] * 10**6,
        "AS " * 10**6,
        [],
    ):
        refusal(Game, MAIN, deck=deck)
    assert Game(MAIN, dealer=np.int64(1)).dealer == 1


def test_a_game_of_a_session_is_checked():
    rules = Rules.preset(games=0, threshold=100)
    for number, totals in (
        (10**20, [0, 0]),
        (0, [0, 0]),
        (2, [10**20, 0]),
        (2, [0]),
        (2, "00"),
        (1.0, [0, 0]),
        (2, [-(10**9), 0]),
    ):
        refusal(Game.of_session, rules, 1, None, 0, number, totals)
    text = '[Rules "krypkasino games=0 threshold=100"] [Seed "7"] [Game "{}"] [Totals "{}"] *'
    for number, totals in ((10**15, "1 1"), (3, f"1 -{10**15}")):
        refusal(Game.replay, text.format(number, totals))
    assert Game.replay(text.format(100_000, "1 1")).game_number == 100_000


def test_a_game_does_not_go_on_from_the_middle_of_a_play():
    pending = Game.from_position(
        "rules: krypkasino; table: 2C 3C 4C 5C 8C TD; hand 1: 2D; captured 1: rest; pending: AC; took: 2C"
    )
    assert "no card is pending" in refusal(Game.from_state, MAIN, pending.state, np.zeros((2, 52), np.int64))


def test_moves_and_actions_of_a_wrong_kind_are_illegal():
    game = Game(Rules.preset("mini-low"), seed=3)
    before = game.position()
    for action in (10**30, -(10**30), "x", "play 8S", None, 1.5, True, [], np.zeros(2)):
        with pytest.raises(IllegalMove) as caught:
            game.act(action)
        check_sentence(caught.value, action)
    for move in (None, 3, ("8S",), [], b"8S"):
        with pytest.raises(IllegalMove) as caught:
            game.push(move)
        check_sentence(caught.value, move)
    for move in (
        Move(3),
        Move("8S", None),
        Move("8S", (3,)),
        Move("8S", (), "x"),
        Move("8S", (), 3),
        "x" * 10**6,
        "8Sx" + "2H" * 10**5,
    ):
        refusal(game.push, move)
    assert game.position() == before
    for call in (game.hand, game.captured, game.points, game.sweeps, game.observation, game.action_mask):
        for seat in (True, "0", 1.0, 10**30, []):
            assert "there is no seat" in refusal(call, seat)


def test_tags_and_comments_are_texts():
    game = Game(Rules.preset("mini-low"), seed=3)
    for tags, comments in (
        ({"Event": 3}, {}),
        ({3: "x"}, {}),
        ({"a b" * 1000: "x"}, {}),
        ({}, {0: None}),
        ({}, {0: "}" * 10**6}),
    ):
        game.tags, game.comments = tags, comments
        refusal(game.record)
