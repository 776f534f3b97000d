"""Text and values from outside: rules, cards, moves, positions, records, agents' strings, and what a `Game` is handed.

What is accepted is written and read again; a game goes on to its end.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections import Counter
from functools import lru_cache, partial
from typing import Any

import numpy as np
from support.fuzzing import NASTY_VALUES, NASTY_WORDS, REFUSED, Fuzzer, Tally, attempt, mutate_text
from support.games import RULES
from support.random_rules import draw_rules
from support.relatives import ALL_RELATIVES as RELATIVES

from krypenv import Game, Move, Rules, agents
from krypenv.agents.base import format_spec, parse_spec
from krypenv.cards import NUM_KINDS, RANK_NAMES, action_name, card_name, parse_action, parse_card
from krypenv.game.begun import begin_play
from krypenv.game.records import parse_record
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.runs.parts import GameRules

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
WORDS_OF_RULES = [field.name for field in dataclasses.fields(Rules)] + Rules.presets()


# ---------------------------------------------------------------------- rules


def check_rules(rules: Rules) -> None:
    """Assert that rules are plain Python, and are read again from how they are written."""
    again = Rules.parse(str(rules))
    assert again == rules
    assert hash(again) == hash(rules)
    for field in dataclasses.fields(Rules):
        assert repr(getattr(again, field.name)) == repr(getattr(rules, field.name)), field.name
    assert Rules(**dataclasses.asdict(rules)) == rules


def fuzz_rules(seed: int, mutants: int) -> Tally:
    """Texts of rules, changed; and fields with values of every kind."""
    rng, tally = random.Random(seed), Tally()
    known = [*RULES.values(), *RELATIVES.values(), *(draw_rules(rng) for _ in range(20))]
    fields = [field.name for field in dataclasses.fields(Rules)]
    for number in range(mutants):
        kind = rng.randrange(1, 5)
        if rng.random() < 0.02:
            rules: Any = draw_rules(rng)
            tally["right"] += 1
        elif kind == 1:
            odd = {rng.choice(fields): rng.choice(ODD) for _ in range(rng.choice((1, 1, 2)))}
            rules = attempt(partial(Rules, **odd), tally, odd)
        elif kind == 2:
            name, odd = rng.choice([*Rules.presets(), *ODD]), {rng.choice(fields[1:]): rng.choice(ODD)}
            rules = attempt(partial(Rules.preset, name, **odd), tally, (name, odd))
        elif kind == 3:
            field = f"{rng.choice([*fields, 'cls'])}={rng.choice(NASTY_WORDS)}"
            given = rng.choice((None, 1, 2, 4)), rng.choice((None, 2)), [field]
            rules = attempt(GameRules("krypkasino", *given).parse, tally, given)
        else:
            text = mutate_text(str(rng.choice(known)), rng, (*WORDS_OF_RULES, *LOOKALIKES))
            rules = attempt(partial(Rules.parse, text), tally, text)
        if rules is not REFUSED:
            check_rules(rules)
        if number % 10 == 0:
            odd = rng.choice(ODD)
            attempt(partial(Rules.parse, odd), tally, odd)
    return tally


# ---------------------------------------------------------------------- cards, moves, actions, lists of deals

_SUIT_OF = dict(zip("CDHScdhs♣♦♥♠", (0, 1, 2, 3) * 3, strict=True))
_RANK_OF = {letter: rank for names in (RANK_NAMES, RANK_NAMES.lower()) for rank, letter in enumerate(names)} | {"10": 9}
CARDS = {rank + suit: 13 * _SUIT_OF[suit] + _RANK_OF[rank] for rank in _RANK_OF for suit in _SUIT_OF}


def fuzz_cards(seed: int, mutants: int) -> Tally:
    """Names of cards, actions, moves and lists of deals, changed; a table of all names says which are right."""
    rng, tally = random.Random(seed), Tally()
    for _ in range(mutants):
        kind = rng.randrange(4)
        if kind == 0:
            text = _odd_or(rng, lambda: mutate_text(rng.choice(list(CARDS)), rng, LOOKALIKES))
            card = attempt(partial(parse_card, text), tally, text)
            assert card == (CARDS.get(text.strip(), REFUSED) if isinstance(text, str) else REFUSED), repr(text)
        elif kind == 1:
            text = _odd_or(rng, lambda: mutate_text(action_name(rng.randrange(105)), rng, LOOKALIKES))
            action = attempt(partial(parse_action, text), tally, text)
            if action is not REFUSED:
                assert parse_action(action_name(action)) == action
        elif kind == 2:
            text = _odd_or(rng, lambda: mutate_text(_some_move(rng), rng, (*LOOKALIKES, "x", "#")))
            move = attempt(partial(Move.parse, text), tally, text)
            if move is not REFUSED:
                assert Move.parse(str(move)) == move
                packed = "".join(text.split())
                assert {*packed} <= {*"".join(CARDS), *"xX#"}, repr(text)
        else:
            text = _odd_or(rng, lambda: mutate_text(rng.choice(("dev", "test", "1", "77")), rng, LOOKALIKES))
            seeds = attempt(partial(deal_seeds, text, 2), tally, text)
            if seeds is not REFUSED and isinstance(text, str):
                assert text in ("dev", "test") or {*text} <= {*"0123456789"}, repr(text)
    return tally


def _odd_or(rng: random.Random, other: Any) -> Any:
    return rng.choice(ODD) if rng.random() < 0.1 else other()


def _some_move(rng: random.Random) -> str:
    card, *takes = (card_name(kind) for kind in rng.sample(range(NUM_KINDS), rng.randrange(1, 5)))
    return str(Move(card, tuple(takes), rng.randrange(3)))


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


@lru_cache
def texts(kind: str, seed: int) -> list[str]:
    """Return some positions or records to be changed, and the words that may stand in them."""
    rng = random.Random(seed)
    found = []
    for _ in range(25):
        game = some_game(rng)
        if rng.random() < 0.3:
            game = Game.from_position(game.position())
            for _ in range(rng.randrange(6)):
                if not game.is_over:
                    game.act(rng.choice(game.legal_actions()))
        if kind == "record":
            game.tags = {"Event": 'a "test" \\'}
            game.comments = {rng.randrange(len(game.moves) + 1): "why not"}
        found.append(game.record() if kind == "record" else game.position())
    return found


def fuzz_positions(seed: int, mutants: int) -> Tally:
    """Texts of positions, changed."""
    rng, tally = random.Random(seed), Tally()
    known = texts("position", seed % 8)
    words = (*(line.partition(":")[0] for text in known for line in text.splitlines()), *CARDS, *LOOKALIKES)
    for _ in range(mutants):
        text: Any = _odd_or(rng, lambda: mutate_text(rng.choice(known), rng, words))
        if isinstance(text, str) and rng.random() < 0.2:
            text = text.replace("\n", rng.choice((";", " ; ", "\r\n", "\r")))
        game = attempt(partial(Game.from_position, text), tally, text)
        if game is not REFUSED:
            written = game.position()
            assert Game.from_position(written).position() == written, text
            play_on(game, rng, text)
    return tally


def fuzz_records(seed: int, mutants: int) -> Tally:
    """Texts of records, changed."""
    rng, tally = random.Random(seed), Tally()
    known = texts("record", seed % 8)
    words = (
        "[Rules", "[Deck", "[Seed", "[Game", "[Totals", "[Position", "[Dealer", "]", '"', "Deal 1:", "deal", "1.", "{",
        "}", "{x}", "#", "..", "*", "1-2", "0--5", "1-", *CARDS, *LOOKALIKES,
    )  # fmt: skip
    for _ in range(mutants):
        text = _odd_or(rng, lambda: mutate_text(rng.choice(known), rng, words))
        game = attempt(partial(Game.replay, text), tally, text)
        if game is REFUSED:
            continue
        written = game.record()
        twin = Game.replay(written)
        assert twin.record() == written, text
        assert (twin.tags, twin.comments, twin.moves) == (game.tags, game.comments, game.moves), text
        assert twin.position() == game.position(), text
        play_on(game, rng, text)
    return tally


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


def fuzz_begun_plays(seed: int, mutants: int) -> Tally:
    """Plays that were begun, as cards and what they took: a search through all orders says which can be."""
    rng, tally = random.Random(seed), Tally()
    game = some_game(rng)
    for _ in range(mutants):
        if game.is_over or len(game.table) > FEW or rng.random() < 0.1:
            game = some_game(rng)
        if game.is_over or game.pending is not None or len(game.table) > FEW:
            tally["right"] += 1
            continue
        pending = [card for card in game.legal_actions() if _is_pending(game, card)]
        card = rng.choice(pending or game.legal_actions())
        took = rng.sample(game.table, rng.randrange(min(5, len(game.table) + 1)))
        took += [rng.choice([*CARDS])] * (rng.random() < 0.1)
        kinds = [parse_card(name) for name in took]
        twin = game.copy()
        is_begun = begin_play(twin, card, kinds)
        assert is_begun == _can_take(game, card, kinds), (game.position(), card, took)
        if is_begun:
            assert sorted(map(parse_card, twin.taken)) == sorted(kinds)
            assert Game.from_position(twin.position()).legal_moves() == twin.legal_moves()
        tally["right" if is_begun else "refused"] += 1
        game.act(rng.choice(game.legal_actions()))
    return tally


def _is_pending(game: Game, card: int) -> bool:
    game.act(card)
    pending = game.pending is not None
    game.pop()
    return pending


def _can_take(game: Game, card: int, kinds: list[int]) -> bool:
    twin = game.copy()
    twin.act(card)
    if twin.pending is None:
        return False
    for order in set(itertools.permutations(kinds)):
        trial = twin.copy()
        for kind in order:
            if 52 + kind not in trial.legal_actions():
                break
            trial.act(52 + kind)
        else:
            if trial.pending is not None and Counter(trial.taken) == Counter(map(card_name, kinds)):
                return True
    return False


# ---------------------------------------------------------------------- agents


def fuzz_agents(seed: int, mutants: int) -> Tally:
    """Strings that name agents, changed, and their options with values of every kind; none of them plays."""
    rng, tally = random.Random(seed), Tally()
    rules = [Rules.parse(text) for text in ("krypkasino players=2", "mini-low players=3", "howto players=4 teams=2")]
    numbers = ("0", "-1", "1e3", "1e999", "nan", "inf", "0.5", "99999999999999999999", "10**30", "1000000", "2", "True")
    words = (
        *numbers,
        *LOOKALIKES,
        "worlds=",
        "threads=",
        "ms=",
        "deals=",
        "plies=",
        "explore=",
        "(",
        ")",
        ",",
        ":",
        "os:",
        "'x'",
    )
    for _ in range(mutants):
        game = rng.choice(rules)
        spec: Any = _odd_or(rng, lambda: mutate_text(rng.choice(SPECS), rng, words))
        parsed = attempt(partial(parse_spec, spec), tally, spec)
        if parsed is not REFUSED:
            if not {*parsed[1].values()} & {float("inf"), -float("inf")}:
                assert parse_spec(format_spec(*parsed)) == parsed, spec
            if _is_large(parsed[1]):
                continue
        agent = attempt(partial(agents.make_known, spec, game), tally, spec)  # `make` would import what it may name
        if agent is not REFUSED:
            again = agents.make(agent.name, game)
            assert (again.name, type(again)) == (agent.name, type(agent)), spec
        if rng.random() < 0.1:
            given = rng.choice([game, *ODD]), rng.choice([0, 2**64, *ODD])
            attempt(partial(agents.make, "greedy", *given), tally, given)
            attempt(partial(agents.rules_of, odd := rng.choice(("", "greedy", "\x00", "x" * 10_000, None))), tally, odd)
    return tally


def _is_large(options: dict[str, Any]) -> bool:
    """Return whether an agent with some options is made, and takes long to make."""
    return any(type(value) is int and 8 < value <= 1024 for key, value in options.items() if key == "threads") or any(
        type(value) is int and 1000 < value <= 10**9 for key, value in options.items() if key == "worlds"
    )


# ---------------------------------------------------------------------- what a game is handed


def fuzz_games(seed: int, mutants: int) -> Tally:
    """Values of every kind for what a game is handed; where one is refused nothing changes."""
    rng, tally = random.Random(seed), Tally()
    small = ("mini-low players=2", "mini-double players=2", "mini-high players=3", "kasino-finland players=2")
    game = some_game(rng, small)
    for _ in range(mutants):
        if rng.random() < 0.05:
            game = some_game(rng, small)
        odd = rng.choice(ODD)
        kind = rng.randrange(7)
        before, told = game.position(), None
        if kind == 0:
            told = attempt(partial(game.act, odd), tally, odd)
        elif kind == 1:
            move = rng.choice((odd, Move(odd), Move("8S", odd), Move("8S", ("2C",), odd), Move("8S", (odd,))))
            told = attempt(partial(game.push, move), tally, move)
        elif kind == 2:
            calls = (game.hand, game.captured, game.points, game.sweeps, game.observation, game.action_mask)
            calls += (game.pile_counts, game.counted_sweeps, game.mulles)
            attempt(partial(rng.choice(calls), odd), tally, odd)
        elif kind == 3:
            given = {rng.choice(("rules", "seed", "deck", "dealer")): odd}
            attempt(partial(Game, **{"rules": game.rules, **given}), tally, given)
        elif kind == 4:
            number, totals = rng.choice(((1, odd), (odd, [0, 0]), (odd, [0, 0, 0])))
            given = game.rules, 1, None, 0, number, totals
            attempt(partial(Game.of_session, *given), tally, (number, totals))
        elif kind == 5:
            noted = game.copy()
            noted.tags, noted.comments = rng.choice((({"Event": odd}, {}), ({}, {0: odd}), ({_key(odd): "x"}, {})))
            text = attempt(noted.record, tally, odd)
            if text is not REFUSED:
                assert Game.replay(text).tags == noted.tags
        else:
            attempt(partial(parse_record, odd, Game), tally, odd)
        if kind > 1 or told is REFUSED:
            assert game.position() == before
    return tally


def _key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return "x"
    return value


FUZZERS: dict[str, Fuzzer] = {
    "rules": fuzz_rules,
    "cards": fuzz_cards,
    "positions": fuzz_positions,
    "records": fuzz_records,
    "begun_plays": fuzz_begun_plays,
    "agents": fuzz_agents,
    "games": fuzz_games,
}
