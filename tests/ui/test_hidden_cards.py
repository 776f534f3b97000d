"""What is hidden at a table stays hidden: from seeds, and in whatever is sent to a page or to a program."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import krypenv
from support.tables import Here, Kept, hosted, page, serving

from krypenv import Game, Rules, agents
from krypenv.ui.table import Table, dealt, next_of

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


@pytest.fixture
def anyio_backend():
    return "asyncio"
