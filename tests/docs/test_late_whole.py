"""What the pages say of whole late deals: bounds of exploitability that fall, and end at the exact figures."""

from __future__ import annotations

import pytest
from answer_tables import stored

from krypenv import Game
from krypenv.training.research.solved import late_deals
from krypenv.training.research.solved.late_bounds import COMPARED, HANDS, MOST_HANDS, WHOLE

FIGURES = stored("late-2")["figures"]


def told(cards: int, hands: int, agent: str) -> float:
    """The mean of what a best response gains on an agent, told so many hands."""
    return float(FIGURES["bounds"][f"{cards} cards, {hands or 'all'} hands, {agent}"]["mean"])


@pytest.mark.parametrize("agent", COMPARED)
def test_bounds_fall_to_what_an_agent_can_be_exploited_by(agent: str) -> None:
    for cards in (late_deals.FEW, late_deals.MORE):
        exact = FIGURES["intervals"][f"{late_deals.BEST}, {cards} cards, {agent}"]["mean"]
        falling = [told(cards, hands, agent) for hands in HANDS]
        assert falling == sorted(falling, reverse=True)
        assert falling[-1] == pytest.approx(exact)


def test_whole_deals_begin_with_all_cards_in_hand() -> None:
    assert len(FIGURES["whole deals"]) == 6
    for each in FIGURES["whole deals"]:
        game = Game.from_position(each["position"])
        assert [game.deal_number, len(game.hand(0)), len(game.hand(1))] == [11, 4, 4]
        assert set(each["gains"]) == set(late_deals.ASKED)


def test_agents_can_be_exploited_more_in_whole_deals_than_in_their_second_halves() -> None:
    for agent in late_deals.ASKED:
        hands = MOST_HANDS.get(agent, 0)
        falling = [told(WHOLE, each, agent) for each in HANDS if each or not hands]
        assert falling[0] > falling[-1]
        assert falling[-1] > FIGURES["intervals"][f"{late_deals.BEST}, {late_deals.MORE} cards, {agent}"]["mean"]
