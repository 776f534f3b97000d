"""The oracle that sees some cards: what it sees, and that nothing else matters to it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.games import RULES
from support.positions import decide, with_choices
from support.relatives import BUILDING, RELATIVES

from krypenv import Engine, Game, Rules, agents
from krypenv.agents.oracle import OracleCards
from krypenv.worlds.invariants import check_state

MAIN = RULES["krypkasino players=2"]
BUILT = next(rules for text, rules in BUILDING.items() if "players=3" in text)
GAMES = {
    text: RULES[text] for text in ("krypkasino players=2", "krypkasino players=4 teams=2", "mini-low players=2")
} | {str(rules): rules for rules in (RELATIVES["kasino-finland players=3"], BUILT)}
every_game = pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)


@every_game
def test_who_sees_no_card_is_search_and_who_sees_all_is_oracle_hand(rules: Rules) -> None:
    engine = with_choices(rules)
    for one, other in (
        ("oracle-cards(cards=0, worlds=3)", "search(worlds=3)"),
        ("oracle-cards(cards=104, worlds=3)", "oracle-hand"),
    ):
        found = (decide(agents.make(spec, rules, 7), engine) for spec in (one, other))
        np.testing.assert_array_equal(*found)


@pytest.mark.few(6)
@every_game
@pytest.mark.parametrize("number", [1, 3, 104])
def test_what_is_seen_is_as_many_cards_as_are_asked_for_and_never_changes_within_a_deal(
    rules: Rules, number: int
) -> None:
    """Cards of each other hand from its start, the same for all who look, until they are played."""
    engine, oracle, ended = Engine(rules, 12, seed=3), OracleCards(rules, cards=number), np.zeros(12, int)
    first: dict[tuple[int, ...], np.ndarray] = {}  # by game, deal and seat: what was seen at first
    for _ in range(60):
        sight, state = oracle._look(check_state(rules, engine.state.copy()))[1], engine.state
        for row, place in itertools.product(range(12), range(1, rules.players)):
            seat = int(state.seat[row] + place) % rules.players
            deal = row, int(ended[row]), int(state.game_number[row]), int(state.deal_number[row]), seat
            seen, hand = sight.cards[row, place], state.hands[row, seat]
            has_played = hand.sum() < state.hand_size[row].max()
            assert deal in first or has_played or seen.sum() == min(number, hand.sum())
            np.testing.assert_array_equal(seen, np.minimum(first.setdefault(deal, seen.copy()), hand))
        others = state.hand_size.sum(axis=1) - state.hand_size[np.arange(12), state.seat]
        np.testing.assert_array_equal(sight.is_open, sight.cards.sum(axis=(1, 2)) == others)
        engine.step(engine.sample_actions())
        ended += engine.finished
    assert len(first) > 100
    kinds = np.sum([*first.values()], axis=0) > 0  # they differ from game to game
    assert kinds.sum() > (rules.deck_counts > 0).sum() * 3 // 4


def twins(rules: Rules, seed: int) -> list[Game]:
    """The beginning of two games of two that differ in the last card dealt to the other seat."""
    game = Game(rules, seed=seed)
    for place in reversed(range(rules.deck_size - game.stock_size)):
        deck = list(game.deck)
        deck[place], deck[-1] = deck[-1], deck[place]
        twin = Game(rules, deck=deck)
        shown = [(each.hand(0), each.table, each.set_aside) for each in (game, twin)]
        if shown[0] == shown[1] and game.hand(1) != twin.hand(1):
            return [game, twin]
    raise AssertionError("no such card")


@pytest.mark.parametrize("text", ["krypkasino players=2", "mini-low players=2", "kasino-sweden players=2"])
def test_cards_that_it_does_not_see_change_nothing(text: str) -> None:
    rules = Rules.parse(text)
    both = [[each.state for each in games] for games in zip(*(twins(rules, seed) for seed in range(60)), strict=True)]
    engines = [Engine.from_state(rules, np.array(states).view(np.recarray)) for states in both]
    one, two = (decide(agents.make("oracle-cards(cards=1, worlds=5)", rules, 4), each) for each in engines)
    np.testing.assert_array_equal(one, two)
    one, two = (decide(agents.make("oracle-hand", rules, 4), each) for each in engines)
    assert (one != two).any()
