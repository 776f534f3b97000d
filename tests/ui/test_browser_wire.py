"""On the wire: over whole games, no page gets a card that its seat must not know."""

from __future__ import annotations

import contextlib
import json
import random
import re

import pytest
from support.tables import KEYS, hosted, page, serving

from krypenv import Game, Rules
from krypenv.cards import parse_card
from krypenv.ui.browser.seats import PERSON
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.view import view

RULES = (
    "krypkasino players=2", "krypkasino players=4 teams=2", "howto players=3", "kasino-finland players=2",
    "mulle-glimne players=2", "mini-hidden players=2",
)  # fmt: skip
CARD = re.compile(r"10[♣♦♥♠]|[A2-9TJQK][CDHS♣♦♥♠]")
SAME_FOR_ALL = {"texts", "rules", "language"}  # what is told once, before anything of the game


def cards_in(message):
    """The kinds of all cards that a message names, in whatever place."""
    told = {key: value for key, value in message.items() if key not in SAME_FOR_ALL}
    return {parse_card(card) for card in CARD.findall(json.dumps(told, ensure_ascii=False))}


def test_cards_are_seen_wherever_they_stand():
    message = {"view": {"moves": [{"move": "8Sx2HTD[9]"}], "log": ["You played 10♣."]}, "texts": {"x": "AS"}}
    assert cards_in(message) == {parse_card(card) for card in ("8S", "2H", "TD", "TC")}


@pytest.mark.parametrize("rules", RULES)
def test_no_page_gets_a_card_that_its_seat_must_not_know(rules):
    parsed, rng = Rules.parse(rules), random.Random(rules)
    game, seats = Game(parsed, seed=3), [None, *range(parsed.players)]
    names = [f"player {seat + 1}" for seat in range(parsed.players)]
    words = {seat: Narrator(parsed, names, seat) for seat in seats}
    shown = {seat: set() for seat in seats}  # the kinds that it has seen
    hidden = 0  # messages that could have named a card that they must not
    with serving(lambda: hosted(rules, (PERSON,) * parsed.players)) as client, contextlib.ExitStack() as held:
        keys = {seat: KEYS.watch if seat is None else KEYS.seats[seat] for seat in seats}
        pages = {seat: held.enter_context(page(client, key)) for seat, key in keys.items()}
        heard = {seat: noting(one) for seat, one in pages.items()}
        while True:
            for seat, one in pages.items():
                shown[seat] |= open_cards(game) | {*map(parse_card, () if seat is None else game.hand(seat))}
                told = one.until(lambda told: told["moves"] == len(game.moves))
                assert told["view"] == json.loads(json.dumps(view(game, words[seat])))
                for message in heard[seat]:
                    assert cards_in(message) <= shown[seat], f"seat {seat}"
                heard[seat].clear()
                hidden += any(parse_card(card) not in shown[seat] for card in unseen(game, seat))
            if game.is_over:
                break
            mover = pages[game.turn]
            if rng.random() < 0.2:
                mover.ask("hint")
                mover.read(lambda told: "hint" in told)
            moves = mover.told["view"]["moves"] or [{"move": str(some_move(game))}]
            move = rng.choice(moves)["move"]
            mover.ask("play", move=move)
            game.push(move)
            shown_now = {parse_card(move[:2])}
            for seat in seats:
                shown[seat] |= shown_now
    assert hidden > 10


def noting(one):
    """The messages that a page gets, from now on: a list that grows."""
    heard, receive = [], one.socket.receive_json

    def receive_json():
        heard.append(receive())
        return heard[-1]

    one.socket.receive_json = receive_json
    return heard


def open_cards(game):
    """The kinds that lie open on the table and aside, and at the end in the piles."""
    built = [card for _, cards, *_ in game.builds for card in cards]
    piles = [card for seat in range(game.rules.players) for card in game.captured(seat)] if game.is_over else []
    return set(map(parse_card, [*game.table, *game.set_aside, *built, *piles]))


def unseen(game, seat):
    """The cards in the hands of others."""
    return [card for other in range(game.rules.players) if other != seat for card in game.hand(other)]


def some_move(game):
    """A legal move where there are too many to list."""
    twin, before = game.copy(), len(game.moves)
    while len(twin.moves) == before:
        twin.act(twin.legal_actions()[-1])
    return twin.last_move
