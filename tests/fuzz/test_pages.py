"""Messages of pages: whatever a page sends is done, or answered by one sentence, and the game stays one that can be."""

from __future__ import annotations

import json
import random
from functools import cache, partial
from typing import Any

from support.fuzzing import NASTY_WORDS, REFUSED, attempt, check_sentence, fuzz, mutate_json, mutate_text, seeded
from support.studies import ANALYST, played
from support.tables import KEYS, Here

from krypenv import Game, Rules
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.requests import OF_PACE, REQUESTS, Request, parse_key, parse_message
from krypenv.ui.browser.sockets import Refused
from krypenv.ui.seats import PERSON
from krypenv.ui.study.studies import VISITS, Studies, parse_visit

RULES = ("mini-low", "mini-double players=4 teams=2", "mini-mulle", "mini-kasino games=2")


def damaged(message: Any, rng: random.Random) -> str:
    """Return a message as it is, with another value in it, or as a damaged text."""
    kind = rng.randrange(4)
    text = json.dumps(mutate_json(message, rng) if kind == 0 else message)
    return mutate_text(text, rng, (*REQUESTS, *VISITS)) if kind == 1 else text


def some_request(hosted: Hosted, rng: random.Random) -> Any:
    """Return what a page at a table may send, right or wrong."""
    asked = rng.choice(tuple(REQUESTS))
    more: dict[str, Any] = {"stand_in": {"seat": rng.randrange(6)}, "pace": {"pace": "fast"}, "pause": {"on": True}}
    if rng.random() < 0.05:
        return {"do": "sit", "key": rng.choice(("", "x" * 22, *NASTY_WORDS))}
    if asked == "play" or rng.random() < 0.3:
        move = "8S" if hosted.game.is_over else str(rng.choice(hosted.game.legal_moves()))
        move = mutate_text(move, rng, ("x", "[9]", "=9", "+")) if rng.random() < 0.5 else move
        return {"do": "play", "edit": hosted.edit, "move": move}
    return {"do": asked, "edit": hosted.edit, **more.get(asked, {})}


@fuzz(share=4, rng=seeded)
def test_a_message_to_a_table_is_carried_out_or_changes_nothing(rng: random.Random) -> None:
    rules, people = Rules.parse(rng.choice(RULES)), rng.choice((1, 1, 2))
    players = [PERSON if seat < people else "random" for seat in range(rules.players)]
    hosted = Hosted(Game(rules, seed=rng.randrange(1 << 32)), players, "random", lambda record, is_new: None)
    for _ in range(20):
        text = damaged(some_request(hosted, rng), rng)
        attempt(partial(parse_key, text), text)
        found = attempt(partial(parse_message, text, REQUESTS), text)
        if found is REFUSED or found["do"] in OF_PACE:
            continue
        request = Request(**found)
        before = hosted.record()
        said = hosted.do(rng.choice((0, 0, 0, 0, 1, None)), request)
        if said:
            check_sentence(ValueError(said), text)
            assert hosted.record() == before, text
        else:
            assert Game.replay(hosted.record().decode()).position() == hosted.game.position(), text
        while (seat := hosted.thinker) is not None:
            assert seat not in hosted.people or seat in hosted.stand_ins
            hosted.push(str(rng.choice(hosted.game.legal_moves())))


finished = cache(lambda rules: played(rules, players=()).record())


@fuzz(share=4, rng=seeded)
def test_a_record_or_a_position_that_a_page_sends_is_studied_or_refused(rng: random.Random) -> None:
    record = finished(rng.choice(RULES))
    if rng.random() < 0.2:
        record = Game.replay(record).rewound().position()
    if rng.random() < 0.8:
        record = mutate_text(record, rng, ("*", "Deal 2:", '[Seed "1"]', "##", "rest", "hand 0:", ";"))
    message: Any = {"do": "open", "record": record}
    if rng.random() < 0.2:
        message["moves"] = [rng.choice(("8S", "2Cx2D", *NASTY_WORDS)) for _ in range(rng.randrange(3))]
    elif rng.random() < 0.1:
        message = {"do": "move", "at": 1, "move": "8S"}
    text = damaged(message, rng)
    request = attempt(partial(parse_visit, text), text)
    if request is REFUSED or "record" not in request:
        return
    studies = Studies(KEYS, Here, ANALYST)
    try:
        subject = studies.subject(request["record"], None)
        assert not subject.is_line or not request["record"].lstrip().startswith("["), text
        if "moves" in request:
            subject = studies.played_on(subject, 0, request["moves"])
    except Refused as reason:
        check_sentence(reason, text)
    else:
        assert subject.game.is_over or subject.is_line, text
