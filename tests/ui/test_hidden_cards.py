"""What is hidden at a table stays hidden: from seeds, in what a page or a program is sent, and in whole games."""

from __future__ import annotations

import contextlib
import json
import random
import re

import pytest
from support.hidden import Whole, some_moves, twin_of
from support.tables import KEYS, Here, Kept, hosted, page, serving

from krypenv import Game, Rules, agents
from krypenv.agents.programs.peer import Peer
from krypenv.agents.programs.player import Program
from krypenv.cards import parse_card
from krypenv.game.base_agent import move_of
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON
from krypenv.ui.table import Table, dealt, hint_of, next_of
from krypenv.ui.view import Story, view


def test_a_deck_for_which_nobody_chose_a_seed_follows_from_none():
    rules = Rules.parse("mini-low games=2")
    game = dealt(rules)
    assert game.seed is None
    while not game.is_over:
        game.push(game.legal_moves()[0])
    following = [next_of(each) for each in (game, game.copy())]
    assert following[0].deck != following[1].deck
    assert [(each.dealer, each.totals, each.game_number, each.seed) for each in following] == [
        (0, game.totals, 2, None)
    ] * 2
    assert Game.replay(following[0].record()).position() == following[0].position()
    assert dealt(rules, 5).deck == Game(rules, seed=5).deck


def test_games_dealt_anew_at_a_table_follow_from_no_seed():
    kept = Kept()
    with serving(lambda: hosted("mini-low games=2", keep=kept)) as client, page(client) as one:
        one.my_turn()
        one.begin("mini-low games=2", PERSON, "greedy")
        while not one.my_turn()["view"]["over"]:
            one.play()
        one.ask("next")
        one.until(lambda told: told["game"] == 3)
    games = list(map(Game.replay, kept.games[-1]))
    assert {game.game_number for game in games} == {1, 2}
    assert {game.seed for game in games} == {None}


@pytest.mark.anyio
async def test_each_agent_of_a_table_has_a_seed_from_which_no_deck_follows(monkeypatch):
    rules, seeds, plain = Rules.parse("mini-double players=4"), [], agents.make_known

    def make(spec, given, seed):
        seeds.append(seed)
        return plain(spec, given, seed)

    monkeypatch.setattr("krypenv.ui.table.agents.make_known", make)
    table = Table(Game(rules, seed=7), 0, ["greedy"], 7)
    hint_of(table.game, "greedy")
    terminal, thinker = list(seeds), Here(7)
    await thinker.prepare(rules, {"random": 0})
    await thinker.prepare(rules, {"tactician": 0}, helps=True)
    for seat in range(4):
        await thinker.decide("random", seat, Game(rules, seed=7))
    assert len(set(terminal)) == 4
    assert len(set(seeds)) == 5, "one for each seat, and one for hints"
    assert all(Game(rules, seed=seed).deck != Game(rules, seed=7).deck for seed in seeds)


TABLES = {
    "mini-low": (PERSON, "greedy"),
    "mini-mulle": ("greedy", PERSON),
    "mini-double players=4 teams=2": (PERSON, "greedy", PERSON, "greedy"),
}


def of_a_deck(rules, seed):
    """A game of a seed's deck, without the seed."""
    return Game(Rules.parse(rules), deck=Game(Rules.parse(rules), seed=seed).deck)


@pytest.mark.few(1)
@pytest.mark.anyio
@pytest.mark.parametrize("rules", TABLES)
async def test_no_message_to_a_page_depends_on_what_its_seat_can_not_see(rules):
    chance, players, compared, reports = random.Random(rules), TABLES[rules], 0, []
    for seed in range(2):
        table = Whole(of_a_deck(rules, seed), players, seed=seed)
        await table.play()
        reports += table.reports
        for seat in table.pages:
            for at in chance.sample(range(len(table.events)), min(12 // len(players), len(table.events))):
                event, before = table.events[at], [each.game for each in table.events[:at]]
                other = None if event.game.is_over else twin_of(event.game, seat, chance, before=before)
                if other:
                    twin = Whole(other.rewound(), players, (seat,), table.agents.made[: event.decided])
                    await twin.follow(table.events[: at + 1], seat)
                    assert twin.pages[seat].heard == table.pages[seat].heard[: event.heard[seat]]
                    compared += 1
    assert reports, "an agent has failed"
    assert compared > 5


@pytest.mark.few(1)
@pytest.mark.parametrize("rules", ["mini-low", "mini-mulle", "mini-double players=4 teams=2"])
def test_no_message_to_a_program_depends_on_what_its_seat_can_not_see(rules, monkeypatch):
    class Noted(Peer):
        def __init__(self, command, farewell):
            self.words, self.lines = [command], []

        def ask(self, message, seconds, check):
            self.lines.append(json.dumps(message))
            return (
                {"name": "noted"} if message["type"] == "hello" else {"id": message["id"], "move": message["moves"][0]}
            )

    monkeypatch.setattr("krypenv.agents.programs.player.Peer", Noted)
    chance, compared = random.Random(rules), 0
    one, two = (Program(Rules.parse(rules), 1, command="noted") for _ in range(2))
    for seed in range(3):
        game = of_a_deck(rules, seed)
        while not game.is_over:
            other, move = twin_of(game, game.turn, chance, 20), move_of(one, game)
            if other:
                one._asked = two._asked = compared  # questions are numbered
                compared += 1
                assert move_of(one, game) == move_of(two, other)
                assert one._peer.lines[-1] == two._peer.lines[-1]
            game.push(move)
    assert compared > 5


ON_THE_WIRE = ("mini-double players=4 teams=2", "mini-high players=3", "kasino-finland", "mulle-glimne", "mini-hidden")
CARD = re.compile(r"10[♣♦♥♠]|[A2-9TJQK][CDHS♣♦♥♠]")
SAME_FOR_ALL = {"texts", "rules", "language"}  # what is told once, before anything of the game


def cards_in(message):
    """The kinds of all cards that a message names, in whatever place."""
    told = {key: value for key, value in message.items() if key not in SAME_FOR_ALL}
    return {parse_card(card) for card in CARD.findall(json.dumps(told, ensure_ascii=False))}


@pytest.mark.few(2)
@pytest.mark.parametrize("rules", ON_THE_WIRE)
def test_no_page_gets_a_card_that_its_seat_must_not_know(rules):
    parsed, rng = Rules.parse(rules), random.Random(rules)
    game, seats = Game(parsed, seed=3), [None, *range(parsed.players)]
    names = [f"player {letter}" for letter in "ABCDEF"[: parsed.players]]
    words = {seat: Narrator(parsed, names, seat) for seat in seats}
    stories = {seat: Story(words[seat]) for seat in seats}
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
                assert told["view"] == json.loads(json.dumps(view(game, words[seat], stories[seat])))
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
            move = str(rng.choice(some_moves(game)))
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
