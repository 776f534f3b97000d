"""The oracle that sees some cards: what it sees, that its worlds hold them, and that nothing else matters to it."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import RULES
from support.positions import decide, played, with_choices
from support.relatives import BUILDING, RELATIVES

from krypenv import Engine, Rules, agents
from krypenv.agents.oracle import OracleCards, draw_around, open_root
from krypenv.agents.search.worlds import Job, begin_decision
from krypenv.runtime.jit import kernel
from krypenv.worlds.invariants import check_state

MAIN = RULES["krypkasino players=2"]
BUILT = next(rules for text, rules in BUILDING.items() if "players=3" in text)
GAMES = {
    text: RULES[text]
    for text in ("krypkasino players=2", "krypkasino players=3", "krypkasino players=4 teams=2", "mini-low players=2")
} | {str(rules): rules for rules in (RELATIVES["kasino-finland players=3"], BUILT)}
every_game = pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)


def look(rules: Rules, number: int, engine: Engine, seed: int = 0) -> tuple[OracleCards, Job, object]:
    """The agent, the job of its decisions and what it sees, in all games of an engine."""
    agent = OracleCards(rules, seed, cards=number, worlds=4)
    seen, sight = agent._look(check_state(rules, engine.state.copy()))
    return agent, agent._ask(seen, engine.action_mask), sight


@every_game
def test_who_sees_no_card_is_search_and_who_sees_all_is_oracle_hand(rules: Rules) -> None:
    engine = with_choices(rules)
    for one, other in (
        ("oracle-cards(cards=0, worlds=3)", "search(worlds=3)"),
        ("oracle-cards(cards=104, worlds=3)", "oracle-hand"),
    ):
        found = (decide(agents.make(spec, rules, 7), engine) for spec in (one, other))
        np.testing.assert_array_equal(*found)


@every_game
@pytest.mark.parametrize("number", [1, 2])
def test_what_is_seen_never_changes_within_a_deal(rules: Rules, number: int) -> None:
    """So many cards of each other hand from its start, the same for all who look, until they are played."""
    engine = Engine(rules, 12, seed=3)
    first: dict[tuple[int, int, int, int], np.ndarray] = {}  # by game, deal and seat: what was seen at first
    looks = 0
    for _ in range(60):
        _, _, sight = look(rules, number, engine)
        state = engine.state
        for row in range(engine.num_games):
            for place in range(1, rules.players):
                seat = int(state.seat[row] + place) % rules.players
                deal = row, int(state.game_number[row]), int(state.deal_number[row]), seat
                seen, hand = sight.cards[row, place], state.hands[row, seat]
                begun = first.setdefault(deal, seen.copy())
                np.testing.assert_array_equal(seen, np.minimum(begun, hand))
                looks += 1
        engine.step(engine.sample_actions())
        for key in [key for key in first if engine.finished[key[0]]]:
            del first[key]
    assert looks > 600


def test_as_many_cards_are_seen_as_are_asked_for() -> None:
    """At the start of a deal, those of the hand that is looked at, which differ from game to game."""
    engine = Engine(MAIN, 200, seed=5)
    for number in (0, 1, 3, 6, 9):
        _, _, sight = look(MAIN, number, engine)
        other = engine.state.hands[np.arange(200), 1 - engine.seat]
        assert (sight.cards[:, 1].sum(axis=1) == min(number, 6)).all()
        assert (sight.cards[:, 1] <= other).all()
        assert sight.is_open.all() == (number >= 6)
        assert not sight.cards[:, 0].any()
    _, _, sight = look(MAIN, 1, engine)
    assert (sight.cards[:, 1].sum(axis=0) > 0).sum() > 40  # of 52 kinds


@kernel
def _draw(job: Job, plan: object, workspaces: np.ndarray, out: np.ndarray) -> int:
    """Write the worlds of each row to `out`, (B, W) of `GAME`; return how many there are."""
    drawn = 0
    for row in range(len(out)):
        begin_decision(job, row, workspaces[0])
        open_root(job, plan, workspaces[0])
        for world in range(out.shape[1]):
            drawn += draw_around(job, plan, workspaces[0])
            out[row, world] = workspaces[0].decision.world
    return drawn


@every_game
@pytest.mark.parametrize("number", [0, 1, 2])
def test_worlds_hold_the_cards_that_are_seen_and_show_what_was_observed(rules: Rules, number: int) -> None:
    engine = with_choices(rules, 30)
    agent, job, sight = look(rules, number, engine)
    worlds = np.zeros((30, 4), engine.state.dtype)
    assert _draw(job, sight, agent._workspaces, worlds) == worlds.size
    assert (worlds["hands"] != worlds["hands"][:, :1]).any()
    for row in range(30):
        for place in range(1, rules.players):
            seats = (worlds["seat"][row, 0] + place) % rules.players
            assert (worlds["hands"][row, :, seats] >= sight.cards[row, place]).all()
        shown = Engine.from_state(rules, worlds[row].view(np.recarray))
        np.testing.assert_array_equal(shown.observation, np.repeat(job.observations[row : row + 1], 4, axis=0))


def with_others_shuffled(engine: Engine, number: int) -> Engine:
    """The same games of two, with what the other seat holds beyond the first cards dealt to it drawn anew."""
    rules, state, rng = engine.rules, engine.state.copy(), np.random.default_rng(2)
    changed = 0
    for row in range(engine.num_games):
        game = state[row]
        other = 1 - int(game.seat)
        _, _, sight = look(rules, number, engine.select(np.array([row])))
        hidden = game.hands[other] - sight.cards[0, 1]
        stock = game.deck[game.next_card : rules.deck_size]
        for kind in np.flatnonzero(hidden == 1):
            at = int(rng.integers(len(stock))) if len(stock) else -1
            new = int(stock[at]) if at >= 0 else kind
            # of a kind that is nowhere else, so that its place in the deck is known; and R10 bars none of these
            if game.cannot_hold[other] or game.hands[other, kind] > 1 or game.hands[other, new] or new == kind:
                continue
            places = np.flatnonzero(game.deck[: game.next_card] == kind)
            if len(places) != 1:
                continue
            game.deck[places[0]], game.deck[game.next_card + at] = new, kind
            game.hands[other, kind], game.hands[other, new] = 0, 1
            game.hand_kinds[other] ^= 1 << int(kind) | 1 << new
            changed += 1
    assert changed > engine.num_games // 2
    return Engine.from_state(rules, state)


@pytest.mark.parametrize("text", ["krypkasino players=2", "mini-low players=2", "kasino-sweden players=2"])
def test_cards_that_it_does_not_see_change_nothing(text: str) -> None:
    rules = Rules.parse(text)
    engine = played(rules, 60, 3)
    other = with_others_shuffled(engine, 1)
    one, two = (decide(agents.make("oracle-cards(cards=1, worlds=5)", rules, 4), each) for each in (engine, other))
    np.testing.assert_array_equal(one, two)
    one, two = (decide(agents.make("oracle-hand", rules, 4), each) for each in (engine, other))
    assert (one != two).any()


def test_actions_are_not_valued() -> None:
    engine = with_choices(MAIN, games=1)
    with pytest.raises(ValueError, match="oracle-cards does not value actions"):
        agents.make("oracle-cards", MAIN).action_values(engine.observation, engine.action_mask)
