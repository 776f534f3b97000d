"""Text and values from outside: rules, cards, moves, positions, records, agents' strings, and what a `Game` is handed.

What is accepted is written and read again, and a game is played on to its end.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st
from support.fuzzing import ODD, REFUSED, attempt, fuzz, mutate_text, seeded
from support.games import RULES
from support.random_rules import some_rules
from support.relatives import ALL_RELATIVES

from krypenv import Game, Move, Rules, agents
from krypenv.agents.base import format_spec, parse_spec
from krypenv.cards import NUM_BUILDING_ACTIONS, action_name, card_name, parse_action, parse_card

LOOKALIKES = ("\u212a", "\u017f", "\u0131", "\uff21", "\uff13", "\u0663", "\u0410", "\uff33", "\u00b2", "\u00a0")
SPECS = (
    "random", "greedy", "tactician", "tactician(shed=True)", "rollout(worlds=3, deals=2)",
    "ismcts(worlds=20, explore=2.5, ms=3.5, threads=2)", "search(worlds=4, plies=2, method='paranoid')",
    "learned(model='nowhere', temperature=0.5, solver=False)", "guided(model='no where', prior=0.5, proposals=2)",
    "champion(worlds=0)", "oracle-hand(plies=3)", "oracle-deck(deals=3, value='sweep')",
)  # fmt: skip
FIELDS = [field.name for field in dataclasses.fields(Rules)]
SESSIONS = ("mini-double players=2 games=3", "mini-low players=3 games=0 threshold=40", "mini-high players=2 games=9")
NAMES = tuple(map(card_name, range(52)))
LETTERS = [*'{;#%\n\t"\\[é', "\u2028", "\U0001f0a1"]
odd = st.sampled_from(ODD)


def check_rules(rules: Rules) -> None:
    """Assert that rules are plain Python, and are read again from how they are written."""
    again = Rules.parse(str(rules))
    assert again == rules
    assert hash(again) == hash(rules)
    for field in FIELDS:
        assert repr(getattr(again, field)) == repr(getattr(rules, field)), field
    assert Rules(**dataclasses.asdict(rules)) == rules


def some_game(rng: random.Random) -> Game:
    """Return a game somewhere on its way, at its end, or late in a session; it may have begun from a position."""
    game = Game(Rules.parse(rng.choice([*RULES, *SESSIONS, *ALL_RELATIVES])), seed=rng.randrange(1 << 64))
    while rng.random() < 0.8:
        for _ in range(rng.choice((0, 5, 20, 60, 1000))):
            if not game.is_over:
                game.act(rng.choice(game.legal_actions()))
        game = Game.from_position(game.position()) if rng.random() < 0.3 else game
        game = game.next_game() if game.is_over and not game.session_over else game
    game.tags = {"Event": 'a "test" \\', "Odd": "".join(rng.sample(LETTERS, 3))}
    game.comments = {rng.randrange(len(game.moves) + 1): "why not " + "".join(rng.sample(LETTERS, 3)).strip()}
    return game


def play_on(game: Game) -> None:
    """Play a game by random legal actions to its end, or to a crowded table."""
    rng, plies = random.Random(1), 0
    while not game.is_over and len(game.table) <= 12:
        game.act(rng.choice(game.legal_actions()))
        plies += 1
        assert plies <= 3 * game.rules.deck_size
    if game.is_over:
        assert Game.from_position(game.position()).scores() == game.scores()


def check_record(game: Game) -> None:
    """Assert that a record keeps all of a game, and play it on."""
    twin = Game.replay(game.record())
    assert (twin.tags, twin.comments, twin.moves) == (game.tags, game.comments, game.moves)
    assert (twin.position(), twin.seed) == (game.position(), game.seed)
    play_on(game)


def check_spec(parsed: tuple[str, dict[str, Any]]) -> None:
    """Assert that an agent is made again from its name, unless making it takes long; none is imported or plays."""
    most = {"threads": 8, "worlds": 1000}
    if any(type(value) is int and value > most.get(key, value) for key, value in parsed[1].items()):
        return
    for rules in ("krypkasino players=2", "howto players=4 teams=2"):
        agent = attempt(partial(agents.make_known, format_spec(*parsed), Rules.parse(rules)), parsed)
        if agent is not REFUSED:
            again = agents.make(agent.name, agent.rules)
            assert (again.name, type(again)) == (agent.name, type(agent))


def some_move(rng: random.Random) -> str:
    """Return a move that may never be made."""
    return "x".join(rng.sample(NAMES, rng.randrange(1, 5))) + rng.choice(("", "#", "x[9]", "=9", "+8S", ".."))


class Kind(NamedTuple):
    """A kind of text: how it is read and written, what is right, what it is damaged by, and what holds of it."""

    read: Callable[[Any], Any]
    write: Callable[[Any], str]
    right: Callable[[random.Random], str]
    words: tuple[str, ...]
    holds: Callable[[Any], None] = lambda found: None
    is_exact: bool = True  # what is right is written as it was


KINDS = {
    "rules": Kind(Rules.parse, str, lambda rng: str(some_rules(rng)), (*FIELDS, *Rules.presets()), check_rules),
    "cards": Kind(parse_card, card_name, lambda rng: rng.choice(NAMES), ("10♦", *NAMES)),
    "actions": Kind(
        parse_action, action_name, lambda rng: action_name(rng.randrange(NUM_BUILDING_ACTIONS)), ("take", *NAMES)
    ),
    "moves": Kind(Move.parse, str, some_move, ("x", "#", *NAMES), is_exact=False),
    "positions": Kind(
        Game.from_position, Game.position, lambda rng: some_game(rng).position(),
        ("rules", "dealer", "turn", "hand 0", "table", "stock", "captured 1", "last-capturer", "pending", "took",
         "game", "totals", "build 9", "owner 9", "counted", "mulles", "cannot-hold 0", "bonus", "sweeps", *NAMES),
        play_on,
    ),
    "records": Kind(
        Game.replay, Game.record, lambda rng: some_game(rng).record(),
        ("[Rules", "[Deck", "[Seed", "[Game", "[Totals", "[Position", "[Dealer", "]", '"', "Deal 1:", "deal", "1.", "{",
         "}", "{x}", "#", "..", "*", "1-2", "0--5", "1-", *NAMES), check_record,
    ),
    "specs": Kind(
        parse_spec, lambda parsed: format_spec(*parsed), lambda rng: rng.choice(SPECS),
        ("0", "1e3", "0.5", "10**30", "runs/x", "2", "worlds=", "ms=", "(", ")", ",", ":", "os:", "'x'"), check_spec,
    ),
}  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", KINDS)
@fuzz(share=8, rng=seeded, value=odd)
def test_a_damaged_text_is_refused_or_read_and_written_again(kind: str, rng: random.Random, value: Any) -> None:
    read, write, right, words, holds, is_exact = KINDS[kind]
    text = right(rng)
    if rng.random() < 0.3 and is_exact:
        assert write(read(text)) == text, text
    text = text.replace("\n", rng.choice(("\n", "\n", "\r\n", "\r", *[";", " ; "] * (kind == "positions"))))
    text = mutate_text(text, rng, (*words, *LOOKALIKES)) if rng.random() < 0.9 else text
    text = text if rng.random() < 0.9 else value
    found = attempt(partial(read, text), text)
    if found is not REFUSED:
        written = write(found)
        assert write(read(written)) == written, text
        holds(found)


@fuzz(
    share=8,
    make=st.sampled_from((Rules, Rules.preset)),
    fields=st.dictionaries(st.sampled_from(FIELDS), odd, min_size=1, max_size=2),
)
def test_fields_of_rules_are_kept_plain_or_refused(make: Callable[..., Rules], fields: dict[str, Any]) -> None:
    rules = attempt(partial(make, **fields), fields)
    if rules is not REFUSED:
        check_rules(rules)


def noted(game: Game, value: Any) -> None:
    """Write and read a game with some tags and comments."""
    key = value if type(value).__hash__ else "x"
    for tags, comments in (({"Event": value}, {}), ({key: "x"}, {}), ({}, {0: value})):
        game.tags, game.comments = tags, comments
        twin = Game.replay(game.record())
        assert (twin.tags, twin.comments) == (game.tags, game.comments)


ASKED: tuple[Callable[[Game, Any], Any], ...] = (
    Game.hand, Game.captured, Game.points, Game.sweeps, Game.observation, Game.action_mask, Game.pile_counts,
    Game.counted_sweeps, Game.mulles, noted,
)  # fmt: skip
MADE: tuple[Callable[[Game, Any], Any], ...] = (
    Game.act, Game.push, lambda game, odd: game.push(Move(odd)), lambda game, odd: game.push(Move("8S", odd)),
    lambda game, odd: game.push(Move("8S", (odd,), odd)),
)  # fmt: skip


@fuzz(share=4, rng=seeded, ask=st.sampled_from(ASKED + MADE), value=odd)
def test_a_game_that_refuses_what_it_is_handed_is_unchanged(
    rng: random.Random, ask: Callable[[Game, Any], Any], value: Any
) -> None:
    game = some_game(rng)
    before = game.position()
    if attempt(partial(ask, game, value), value) is REFUSED or ask in ASKED:
        assert game.position() == before
