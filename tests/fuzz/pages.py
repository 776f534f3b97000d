"""Messages of pages: whatever a page sends is done, or answered by one sentence, and the game stays one that can be."""

from __future__ import annotations

import json
import random
from functools import partial
from typing import Any

from support.fuzzing import (
    NASTY_VALUES,
    NASTY_WORDS,
    REFUSED,
    Fuzzer,
    Tally,
    attempt,
    check_sentence,
    mutate_json,
    mutate_text,
)
from support.studies import ANALYST, played
from support.tables import KEYS, Here

from krypenv import Game, Rules
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.requests import OF_PACE, WORDS, parse_key, parse_request
from krypenv.ui.browser.seats import PERSON
from krypenv.ui.browser.sockets import Refused
from krypenv.ui.study.studies import Studies, parse_visit

RULES = ("mini-low", "mini-double players=4 teams=2", "mini-mulle", "mini-kasino games=2")
SEATS = (0, 0, 0, 0, 1, None)


def some_message(hosted: Hosted, rng: random.Random) -> str:
    """Return what a page may send, right or wrong."""
    number, moves = hosted.stamp
    message: Any = {"do": rng.choice(WORDS), "game": number, "moves": moves}
    more = {"stand_in": {"seat": rng.randrange(6)}, "pace": {"pace": "fast"}, "pause": {"on": True}}
    message |= more.get(message["do"], {})
    if rng.random() < 0.05:
        message = {"do": "sit", "key": rng.choice(("", "x" * 22, *NASTY_WORDS))}
    elif message["do"] == "play" or rng.random() < 0.3:
        legal = [] if hosted.game.is_over else hosted.game.legal_moves()
        message = {"do": "play", "game": number, "moves": moves}
        message["move"] = str(rng.choice(legal)) if legal else "8S"
        if rng.random() < 0.5:
            message["move"] = mutate_text(message["move"], rng, ("x", "[9]", "=9", "+"))
    kind = rng.randrange(4)
    if kind == 0:
        message = mutate_json(message, rng)
    text = json.dumps(message) if rng.random() < 0.95 else str(rng.choice(NASTY_VALUES))
    return mutate_text(text, rng, WORDS) if kind == 1 else text


def fuzz_messages(seed: int, mutants: int) -> Tally:
    """Messages of pages at tables of several games, changed."""
    rng, tally = random.Random(seed), Tally()
    hosted = some_table(rng)
    for number in range(mutants):
        if number % 50 == 49:
            hosted = some_table(rng)
        text = some_message(hosted, rng)
        attempt(partial(parse_key, text), Tally(), text)
        request = attempt(partial(parse_request, text), tally, text)
        if request is REFUSED or request.do in OF_PACE:
            continue
        before = hosted.record()
        said = hosted.do(rng.choice(SEATS), request)
        if said:
            check_sentence(ValueError(said), text)
            assert hosted.record() == before, text
        else:
            assert Game.replay(hosted.record().decode()).position() == hosted.game.position(), text
        while (seat := hosted.thinker) is not None:
            assert seat not in hosted.people or seat in hosted.stand_ins
            hosted.push(str(rng.choice(hosted.game.legal_moves())))
    return tally


def some_table(rng: random.Random) -> Hosted:
    """Return a table of one person or of two."""
    rules = Rules.parse(rng.choice(RULES))
    people = rng.choice((1, 1, 2))
    players = [PERSON if seat < people else "random" for seat in range(rules.players)]
    return Hosted(Game(rules, seed=rng.randrange(1 << 32)), players, "random", lambda record, is_new: None)


def fuzz_visits(seed: int, mutants: int) -> Tally:
    """Messages of pages that study games, and the records in them, changed: a game is opened if it is over."""
    rng, tally = random.Random(seed), Tally()
    studies = Studies(KEYS, Here(), ANALYST)
    games = [played(rules, players=(), seed=seed) for rules in RULES]
    for _ in range(mutants):
        record = rng.choice(games).record()
        if rng.random() < 0.7:
            record = mutate_text(record, rng, ("*", "Deal 2:", '[Seed "1"]', "##"))
        message: Any = {"do": rng.choice(("open", "open", "look", "challenge")), "record": record, "at": 1}
        text = json.dumps(mutate_json(message, rng) if rng.random() < 0.3 else message)
        text = mutate_text(text, rng, WORDS) if rng.random() < 0.2 else text
        request = attempt(partial(parse_visit, text), tally, text)
        if request is REFUSED or "record" not in request:
            continue
        try:
            game = studies.subject(request["record"], None).game
        except Refused as reason:
            check_sentence(ValueError(str(reason)), text)
        else:
            assert game.is_over, text
    return tally


FUZZERS: dict[str, Fuzzer] = {"messages": fuzz_messages, "visits": fuzz_visits}
