"""What is hidden at a table stays hidden: from seeds, and in whatever is sent to a page or to a program."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from support.commands import krypenv
from support.hidden import Whole, twin_of
from support.tables import Here, Kept, hosted, page, serving

from krypenv import Game, Rules, agents
from krypenv.agents.programs.peer import Peer
from krypenv.agents.programs.player import Program
from krypenv.ui.browser.seats import PERSON
from krypenv.ui.table import Table, dealt, decided, next_of

# ---------------------------------------------------------------------- decks and seeds


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


def test_no_seed_is_in_the_record_of_a_game_for_which_nobody_chose_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert krypenv("play", "--rules", "mini-low", "--against", "random", typed="1\nq\n").exit_code == 0
    assert Game.replay(Path("game.krk").read_text()).seed is None


def test_games_dealt_anew_at_a_table_follow_from_no_seed():
    kept = Kept()
    with serving(lambda: hosted("mini-low games=2", keep=kept)) as client, page(client) as one:
        one.my_turn()
        one.ask("new")
        one.until(lambda told: told["game"] == 2)
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
    table.hint("greedy")
    terminal, thinker = list(seeds), Here(7)
    await thinker.prepare(rules, {"random": 0})
    await thinker.prepare_advice("tactician", 0, rules)
    for seat in range(4):
        await thinker.decide("random", seat, Game(rules, seed=7))
    assert len(set(terminal)) == 4
    assert len(set(seeds)) == 4, "one for each seat"
    assert all(Game(rules, seed=seed).deck != Game(rules, seed=7).deck for seed in seeds)


# ---------------------------------------------------------------------- messages

TABLES = {
    "mini-low": (PERSON, "greedy"),
    "mini-mulle": ("greedy", PERSON),
    "mini-double players=4 teams=2": (PERSON, "greedy", PERSON, "greedy"),
}


def of_a_deck(rules, seed):
    """A game of a seed's deck, without the seed."""
    return Game(Rules.parse(rules), deck=Game(Rules.parse(rules), seed=seed).deck)


@pytest.mark.anyio
@pytest.mark.parametrize("rules", TABLES)
async def test_no_message_to_a_page_depends_on_what_its_seat_can_not_see(rules):
    chance, players, compared, reports = random.Random(rules), TABLES[rules], 0, []
    for seed in range(3):
        table = Whole(of_a_deck(rules, seed), players, seed=seed)
        await table.play()
        reports += table.reports
        for seat in table.pages:
            for at in chance.sample(range(len(table.events)), min(6, len(table.events))):
                event, before = table.events[at], [each.game for each in table.events[:at]]
                other = None if event.game.is_over else twin_of(event.game, seat, chance, before=before)
                if other:
                    twin = Whole(other.rewound(), players, (seat,), table.agents.made[: event.decided])
                    await twin.follow(table.events[: at + 1], seat)
                    assert twin.pages[seat].heard == table.pages[seat].heard[: event.heard[seat]]
                    compared += 1
    assert reports, "an agent has failed"
    assert compared > 5


@pytest.mark.parametrize("rules", ["mini-low", "mini-mulle", "krypkasino players=4 teams=2"])
def test_no_message_to_a_program_depends_on_what_its_seat_can_not_see(rules, monkeypatch):
    class Noted(Peer):
        def __init__(self, command, farewell):
            self.lines = []

        def ask(self, message, seconds):
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
            other, move = twin_of(game, game.turn, chance, 20), decided(one, game)
            if other:
                one._asked = two._asked = compared  # questions are numbered
                compared += 1
                assert decided(one, game) == decided(two, other)
                assert one._peer.lines[-1] == two._peer.lines[-1]
            game.push(move)
    assert compared > 5


@pytest.fixture
def anyio_backend():
    return "asyncio"
