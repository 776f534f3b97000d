"""What a seat may see as text: all that it may know, and nothing that is hidden from it."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from support.games import RULES, shuffle_hidden, viewers_of
from support.relatives import ALL_RELATIVES

from krypenv import Game, Rules, determinize
from krypenv.game.display import MOST_LISTED

GAMES = {
    **RULES,
    **ALL_RELATIVES,
    **{name: Rules.preset(name) for name in Rules.presets()},
    "howto players=3 games=2": Rules.parse("howto players=3 games=2"),
}
every_rules = pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)


def some_games(rules, seed, count=4):
    """Games somewhere on their way, half of them in the middle of a play if there is a choice of captures."""
    rng = random.Random(seed)
    for number in range(count):
        game = Game(rules, seed=rng.randrange(1 << 32))
        for _ in range(rng.randrange(2 * rules.deck_size)):
            game.act(rng.choice(game.legal_actions()))
            if game.is_over:
                if game.session_over:
                    break
                game = game.next_game()
        plies = 0
        while number % 2 and not game.is_over and not game.pending and plies < 30:
            game.act(rng.choice(game.legal_actions()))
            plies += 1
        yield game


@pytest.mark.few(12)
@every_rules
def test_cards_that_a_seat_can_t_see_change_nothing(rules):
    """Dealt anew at will, and as in a world that it can't tell from the true one."""
    rng, changed = np.random.default_rng(0), 0
    for number, game in enumerate(some_games(rules, 1, 4 if rules.deck_size > 40 else 12)):
        for seat in range(rules.players):
            twin = game.copy()
            shuffle_hidden(rules, twin.state, seat, rng)
            assert twin.view(seat) == game.view(seat)
            changed += str(twin) != str(game)
        if number == 0 and not game.is_over:
            seen = game.observation()
            [own] = viewers_of(seen[None], rules.players)
            worlds = determinize(np.repeat(seen[None], 3, axis=0), number, rules)
            assert len({Game.at_row(rules, world).view(own) for world in worlds}) == 1
    assert changed > 0 or rules.deck_size <= 12


@pytest.mark.few(20)
@every_rules
def test_what_a_seat_knows_is_there(rules):
    for game in some_games(rules, 3):
        for seat in range(rules.players):
            text = game.view(seat)
            known = {"table": game.table, "set aside": game.set_aside, f"seat {seat}": game.hand(seat)}
            for label, cards in known.items():
                if cards:
                    [line] = re.findall(rf"^[> ] {label} +(.*)$", text, re.MULTILINE)
                    assert line.startswith(" ".join(cards))
            for value, cards, _, _ in game.builds:
                assert re.search(rf"^  build {value:2} +{' '.join(cards)}  \(seat", text, re.MULTILINE)
            seen = game.observation(seat)[rules.layout["seen"]]
            [unseen] = re.findall(r"^  unseen +(.*)$", text, re.MULTILINE)
            assert len(unseen.replace("-", "").split()) == rules.deck_size - seen.sum()
            barred = [rules.layout[name] for name in ("cannot_hold", "cannot_hold_special") if name in rules.layout]
            assert ("can't hold" in text) == any(game.observation(seat)[block].any() for block in barred)
            if game.turn == seat:
                check_moves(game, text.splitlines()[-1])
            else:
                assert "Your moves" not in text


def check_moves(game, line):
    """Assert that a line lists the legal moves as `push` reads them."""
    if line.startswith("You have more than"):
        with pytest.raises(ValueError, match="more than"):
            game.legal_moves(MOST_LISTED)
        return
    moves = line.removeprefix("Your moves: ").removesuffix(".").split(", ")
    assert moves == [str(move) for move in game.legal_moves()]
    twin = game.copy()
    twin.push(moves[-1])


def test_positions_that_look_alike_are_alike():
    """Whatever the observation with the plays of the deal tells apart, the text does too."""
    for rules in (Rules.preset("mini-low"), Rules.preset("mini-copies"), Rules.preset("mini-hidden", players=2)):
        looks = {}
        for seed in range(12):
            game, rng = Game(rules, seed=seed), random.Random(seed)
            while not game.is_over:
                for seat in range(rules.players):
                    seen = game.observation(seat, history=True).tobytes()
                    assert looks.setdefault(game.view(seat), seen) == seen
                game.act(rng.choice(game.legal_actions()))


def test_the_last_plays_of_the_deal_before_are_told_to_those_who_have_not_played_since():
    game = Game(Rules.preset(players=3), seed=1)
    while game.deal_number == 1:
        game.push(game.legal_moves()[0])
    deal = len(game.moves)
    numbers = [int(number) for number in re.findall(r"^ +([0-9]+)\. seat", game.view(0), re.MULTILINE)]
    assert numbers == [deal - 2, deal - 1, deal], "its own last play and the answers"
    game.push(game.legal_moves()[0])
    numbers = [int(number) for number in re.findall(r"^ +([0-9]+)\. seat", game.view(0), re.MULTILINE)]
    assert numbers == [deal + 1]


def test_teams_and_totals_of_a_session_are_told():
    game = Game(Rules.preset(players=6, teams=2, games=2), seed=1)
    assert game.view(1).startswith("You are seat 1, in a team with seat 3 and seat 5.\n")
    while not game.is_over:
        game.push(game.legal_moves()[0])
    after = game.next_game()
    totals = ", ".join(f"seat {seat} {total}" for seat, total in enumerate(game.totals))
    assert f"  totals     {totals}\n" in after.view(0)
