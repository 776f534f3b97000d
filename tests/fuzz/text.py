"""Text and values from outside: rules, cards, moves, positions, records, agents' strings, and what a `Game` is handed.

What is accepted is written and read again; a game goes on to its end.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.fuzzing import NASTY_VALUES, NASTY_WORDS, REFUSED, Tally, attempt, fuzzer, mutants, seeded
from support.games import RULES
from support.relatives import ALL_RELATIVES as RELATIVES

from krypenv import Game, Move, Rules, agents
from krypenv.agents.base import format_spec, parse_spec
from krypenv.cards import NUM_BUILDING_ACTIONS, RANK_NAMES, action_name, card_name, parse_action, parse_card
from krypenv.game.records import parse_record
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.settings.groups import GameSettings

LOOKALIKES = ("\u212a", "\u017f", "\u0131", "\uff21", "\uff13", "\u0663", "\u0410", "\uff33", "\u00b2", "\u00a0")
ODD: tuple[Any, ...] = (
    *NASTY_VALUES, *NASTY_WORDS, True, 10**5000, -(10**5000), np.int64(1), np.int64(-1), np.bool_(True), np.float64(1),
    np.str_("8S"), np.array([1, 2]), np.array(["AS"]), np.zeros((2, 2)), b"8S", {1}, object(), Game, ("AS",), (((),),),
    1j, "x" * 100_000, "-" * 100_000, ["AS"] * 1000,
)  # fmt: skip
FEW = 12  # cards on the table up to which a game is played on
SESSIONS = ("mini-double players=2 games=3", "mini-low players=3 games=0 threshold=40", "mini-high players=2 games=9")
SPECS = (
    "random", "greedy", "tactician", "tactician(shed=True)", "rollout(worlds=3, deals=2, value='margin')",
    "ismcts(worlds=20, explore=2.5, guided=False, ms=3.5, threads=2)", "search(worlds=4, plies=2, method='paranoid')",
    "learned(model='nowhere', temperature=0.5, solver=False)",
    "guided(model='no where', prior=0.5, proposals=2, deals=3)",
    "guided(proposals=2)", "champion(worlds=0)", "oracle-hand(plies=3)", "runs/missing/model",
    "oracle-deck(deals=3, value='sweep')", "oracle-cards(cards=2)",
)  # fmt: skip
odd = st.sampled_from(ODD)


def texts(known: Any, words: tuple[str, ...] = ()) -> Any:
    """Mutants of texts, and now and then a value of any kind."""
    return st.one_of(*[mutants(known, (*words, *LOOKALIKES))] * 9, odd)


# ---------------------------------------------------------------------- rules

FIELDS = [field.name for field in dataclasses.fields(Rules)]
seeds = st.integers(0, (1 << 64) - 1)
known_rules = st.sampled_from([*map(str, RULES.values()), *map(str, RELATIVES.values())]) | seeds.map(Rules.random).map(
    str
)


def odd_fields(fields: list[str]) -> Any:
    """One or two fields, with values of any kind."""
    return st.dictionaries(st.sampled_from(fields), odd, min_size=1, max_size=2)


def check_rules(rules: Rules) -> None:
    """Assert that rules are plain Python, and are read again from how they are written."""
    again = Rules.parse(str(rules))
    assert again == rules
    assert hash(again) == hash(rules)
    for field in dataclasses.fields(Rules):
        assert repr(getattr(again, field.name)) == repr(getattr(rules, field.name)), field.name
    assert Rules(**dataclasses.asdict(rules)) == rules


def words_of_rules(players: Any, teams: Any, field: str, word: str) -> Rules:
    """Return rules by the words of a command."""
    return GameSettings(players=players, teams=teams, rule=(f"{field}={word}",)).game_rules()


@fuzzer(
    share=4,
    make=st.one_of(
        *[st.tuples(st.just(Rules.parse), st.tuples(texts(known_rules, (*FIELDS, *Rules.presets()))))] * 2,
        st.tuples(st.just(Rules), st.just(()), odd_fields(FIELDS)),
        st.tuples(st.just(Rules.preset), st.tuples(st.sampled_from(Rules.presets()) | odd), odd_fields(FIELDS[1:])),
        st.tuples(
            st.just(words_of_rules),
            st.tuples(st.sampled_from((None, 1, 2, 4)), st.sampled_from((None, 2)), st.sampled_from([*FIELDS, "cls"]),
                      st.sampled_from(NASTY_WORDS)),
        ),
    ),
)  # fmt: skip
def rules(tally: Tally, make: tuple[Any, ...]) -> None:
    """Texts of rules, changed; and fields with values of every kind."""
    function, given, *fields = make
    rules = attempt(partial(function, *given, **dict(*fields)), tally, make)
    if rules is not REFUSED:
        check_rules(rules)


# ---------------------------------------------------------------------- cards, moves, actions, lists of deals

_SUIT_OF = dict(zip("CDHScdhs♣♦♥♠", (0, 1, 2, 3) * 3, strict=True))
_RANK_OF = {letter: rank for names in (RANK_NAMES, RANK_NAMES.lower()) for rank, letter in enumerate(names)} | {"10": 9}
CARDS = {rank + suit: 13 * _SUIT_OF[suit] + _RANK_OF[rank] for rank in _RANK_OF for suit in _SUIT_OF}
card_names = st.lists(st.sampled_from(list(CARDS)), min_size=1, max_size=5)
move_texts = st.builds(lambda cards, more: "x".join(cards) + more, card_names, st.sampled_from(("", "#", "x[9]", "..")))
NAMED: dict[
    str, tuple[Callable[[Any], Any], Callable[[Any], str], Any, str]
] = {  # parse, write, known texts, characters
    "cards": (parse_card, card_name, list(CARDS), "".join(CARDS)),
    "actions": (parse_action, action_name, list(map(action_name, range(NUM_BUILDING_ACTIONS))), ""),
    "moves": (Move.parse, str, move_texts, "".join(CARDS) + "xX#=+[]."),
    "deal_lists": (partial(deal_seeds, count=2), lambda seeds: "", ("dev", "test", "1", "77"), "devtest0123456789"),
}


def _named(kind: str, tally: Tally, text: Any) -> None:
    """Names of cards, of actions, of moves, and of lists of deals; a table of all cards says which are right."""
    parse, write, _, characters = NAMED[kind]
    found = attempt(partial(parse, text), tally, text)
    if kind == "cards":
        assert found == (CARDS.get(text.strip(), REFUSED) if isinstance(text, str) else REFUSED), repr(text)
    if found is not REFUSED and kind != "deal_lists":
        assert parse(write(found)) == found
    if found is not REFUSED and characters and isinstance(text, str):
        assert {*"".join(text.split())} <= {*characters}, repr(text)


for _kind in NAMED:
    fuzzer(share=2, name=f"text.{_kind}", text=texts(NAMED[_kind][2], ("x", "#")))(partial(_named, _kind))


# ---------------------------------------------------------------------- positions and records


def some_game(rng: random.Random, texts: tuple[str, ...] = (*RULES, *SESSIONS, *RELATIVES)) -> Game:
    """Return a game somewhere on its way, with a card pending, at its end, or late in a session."""
    game = Game(Rules.parse(rng.choice(texts)), seed=rng.randrange(1 << 64))
    plies = rng.choice((0, 5, 20, 60, 1000))
    while True:
        for _ in range(plies):
            if game.is_over:
                break
            game.act(rng.choice(game.legal_actions()))
        if not game.is_over or game.session_over or rng.random() < 0.3:
            return game
        game = game.next_game()


@lru_cache(1)
def some_games() -> list[Game]:
    """Return games to be written, some of which began from a position."""
    rng, found = random.Random(1), []
    for number in range(60):
        game = some_game(rng)
        if number % 3 == 0:
            game = Game.from_position(game.position())
            for _ in range(rng.randrange(6)):
                if not game.is_over:
                    game.act(rng.choice(game.legal_actions()))
        game.tags = {"Event": 'a "test" \\'}
        game.comments = {rng.randrange(len(game.moves) + 1): "why not"}
        found.append(game)
    return found


@lru_cache(1)
def keys_of_positions() -> tuple[str, ...]:
    """Return the keys that stand in positions."""
    return tuple({line.partition(":")[0] for game in some_games() for line in game.position().splitlines()})


LINE_ENDS = ("\n", "\n", "\n", ";", " ; ", "\r\n", "\r")
WORDS_OF_RECORDS = (
    "[Rules", "[Deck", "[Seed", "[Game", "[Totals", "[Position", "[Dealer", "]", '"', "Deal 1:", "deal", "1.", "{",
    "}", "{x}", "#", "..", "*", "1-2", "0--5", "1-", *CARDS,
)  # fmt: skip


@fuzzer(
    share=4,
    text=st.deferred(lambda: texts([game.position() for game in some_games()], (*keys_of_positions(), *CARDS))),
    line_end=st.sampled_from(LINE_ENDS),
    rng=seeded,
)
def positions(tally: Tally, text: Any, line_end: str, rng: random.Random) -> None:
    """Texts of positions."""
    text = text.replace("\n", line_end) if isinstance(text, str) else text
    game = attempt(partial(Game.from_position, text), tally, text)
    if game is not REFUSED:
        written = game.position()
        assert Game.from_position(written).position() == written, text
        play_on(game, rng, text)


@fuzzer(
    share=4, text=st.deferred(lambda: texts([game.record() for game in some_games()], WORDS_OF_RECORDS)), rng=seeded
)
def records(tally: Tally, text: Any, rng: random.Random) -> None:
    """Texts of records."""
    game = attempt(partial(Game.replay, text), tally, text)
    if game is not REFUSED:
        written = game.record()
        twin = Game.replay(written)
        assert twin.record() == written, text
        assert (twin.tags, twin.comments, twin.moves) == (game.tags, game.comments, game.moves), text
        assert twin.position() == game.position(), text
        play_on(game, rng, text)


def play_on(game: Game, rng: random.Random, text: str) -> None:
    """Play a game by random legal actions to its end, or to a crowded table."""
    plies = 0
    while not game.is_over and len(game.table) <= FEW:
        legal = game.legal_actions()
        assert legal, text
        game.act(rng.choice(legal))
        plies += 1
        assert plies <= 3 * game.rules.deck_size, text
    if game.is_over:
        assert len(game.captured(0)) <= game.rules.deck_size
        assert Game.from_position(game.position()).scores() == game.scores(), text


# ---------------------------------------------------------------------- agents

WORDS_OF_AGENTS = (
    "0", "-1", "1e3", "1e999", "nan", "inf", "0.5", "99999999999999999999", "10**30", "1000000", "2", "True", "worlds=",
    "threads=", "ms=", "deals=", "plies=", "explore=", "(", ")", ",", ":", "os:", "'x'",
)  # fmt: skip
PLAYED = [Rules.parse(text) for text in ("krypkasino players=2", "mini-low players=3", "howto players=4 teams=2")]


@fuzzer(share=4, spec=texts(SPECS, WORDS_OF_AGENTS), game=st.sampled_from(PLAYED))
def specs(tally: Tally, spec: Any, game: Rules) -> None:
    """Strings that name agents; none of them plays."""
    parsed = attempt(partial(parse_spec, spec), tally, spec)
    if parsed is not REFUSED:
        if not {*parsed[1].values()} & {float("inf"), -float("inf")}:
            assert parse_spec(format_spec(*parsed)) == parsed, spec
        if _is_large(parsed[1]):
            return
    agent = attempt(partial(agents.make_known, spec, game), tally, spec)  # `make` would import what it may name
    if agent is not REFUSED:
        again = agents.make(agent.name, game)
        assert (again.name, type(again)) == (agent.name, type(agent)), spec


def _is_large(options: dict[str, Any]) -> bool:
    """Return whether an agent with some options takes long to make."""
    most = {"threads": 8, "worlds": 1000}
    return any(type(value) is int and value > most.get(key, value) for key, value in options.items())


# ---------------------------------------------------------------------- what a game is handed


def _noted(tags: Callable[[Any], Any], comments: Callable[[Any], Any]) -> Callable[[Game, Any], None]:
    def write(game: Game, odd: Any) -> None:
        noted = game.copy()
        noted.tags, noted.comments = tags(odd), comments(odd)
        assert Game.replay(noted.record()).tags == noted.tags

    return write


CHANGING: tuple[Callable[[Game, Any], Any], ...] = (
    Game.act,
    Game.push,
    lambda game, odd: game.push(Move(odd)),
    lambda game, odd: game.push(Move("8S", odd)),
    lambda game, odd: game.push(Move("8S", (odd,))),
    lambda game, odd: game.push(Move("8S", ("2C",), odd)),
)
READING: tuple[Callable[[Game, Any], Any], ...] = (
    Game.hand, Game.captured, Game.points, Game.sweeps, Game.observation, Game.action_mask, Game.pile_counts,
    Game.counted_sweeps, Game.mulles,
    lambda game, odd: Game(odd),
    *(lambda game, odd, key=key: Game(game.rules, **{key: odd}) for key in ("seed", "deck", "dealer")),
    lambda game, odd: Game(game.rules, 1, None, 0, 1, odd),
    lambda game, odd: Game(game.rules, 1, None, 0, odd, [0, 0]),
    lambda game, odd: Game(game.rules, 1, None, 0, odd, [0, 0, 0]),
    _noted(lambda odd: {"Event": odd}, lambda odd: {}),
    _noted(lambda odd: {odd if type(odd).__hash__ else "x": "x"}, lambda odd: {}),
    _noted(lambda odd: {}, lambda odd: {0: odd}),
    lambda game, odd: parse_record(odd, Game),
    lambda game, odd: agents.make("greedy", odd),
    lambda game, odd: agents.make("greedy", game.rules, odd),
    lambda game, odd: agents.rules_of(odd if isinstance(odd, str) else ""),
)  # fmt: skip


@fuzzer(
    share=4,
    game=st.deferred(lambda: st.sampled_from(some_games())),
    ask=st.sampled_from(CHANGING + READING),
    value=odd,
)
def games(tally: Tally, game: Game, ask: Callable[[Game, Any], Any], value: Any) -> None:
    """Values of every kind for what a game is handed; where one is refused nothing changes."""
    game = game.copy()
    before = game.position()
    told = attempt(partial(ask, game, value), tally, value)
    if ask in READING or told is REFUSED:
        assert game.position() == before
