"""Duplicate deals: an agent on every side in turn, its margins, and the luck in them."""

import numpy as np
import pytest
from support.arenas import RULES, Highest, Lowest

from krypenv import Engine, Rules, agents
from krypenv.training import deal_seeds, duplicate_match
from krypenv.training.evaluation.luck.control import control_of
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches import duplicate, mixed_table
from krypenv.training.evaluation.matches.duplicate import Duplicates, play_duplicates
from krypenv.training.evaluation.matches.mixed_table import by_side
from krypenv.training.runs import Progress

EVERY = [
    "krypkasino", "krypkasino players=3", "krypkasino players=6 teams=3", "krypkasino games=2", "kasino-sweden",
    "kasino-sweden players=3 goal=low", "kasino-finland games=0 threshold=16", "mulle players=4 teams=2",
]  # fmt: skip
every_table = pytest.mark.parametrize("text", EVERY)


def measured(text: str, other: type = Highest, deals: int = 6, progress: Progress | None = None) -> Duplicates:
    rules = Rules.parse(text)
    meter = Meter(rules, control_of(rules))
    return play_duplicates([Lowest(rules), other(rules)], rules, deal_seeds(3, deals), meter, progress=progress)


@every_table
def test_margins_and_luck_are_those_of_games_played_one_by_one(text: str) -> None:
    """In seating k the agent has side k: its score against the mean of the others, and its own luck."""
    rules, found = Rules.parse(text), measured(text, deals=2)
    sides, agent, opponent = rules.num_teams, Lowest(rules), Highest(rules)
    for deal, seed in enumerate(deal_seeds(3, 2)):
        for own in range(sides):
            engine, meter = Engine(rules, 1, [seed]), Meter(rules, control_of(rules))
            meter.begin(engine)
            while not engine.finished[0]:
                player = agent if engine.seat[0] % sides == own else opponent
                engine.step(player.act(engine.observation, engine.action_mask))
                if not engine.finished[0]:
                    meter.update(engine, np.zeros(1, np.int64))
            scores = [int(engine.final_scores[0, side::sides].sum()) for side in range(sides)]
            others = [score for side, score in enumerate(scores) if side != own]
            assert by_side(found.played.scores, sides)[deal * sides + own].tolist() == scores
            ahead = scores[own] - np.mean(others)
            assert found.margins[deal, own] == pytest.approx(-ahead if rules.goal == "low" else ahead)
            assert found.luck[deal, own] == meter.luck[0, own]
            assert (found.parts[deal, own] == meter.parts[0, own]).all()


@every_table
def test_against_itself_an_agent_gains_nothing_in_any_deal(text: str) -> None:
    """All seatings of a deal are one game, of which the agent has each side once."""
    found = measured(text, Lowest)
    scores = by_side(found.played.scores, found.margins.shape[1]).reshape(6, *[found.margins.shape[1]] * 2)
    assert (scores == scores[:, :1]).all()
    assert found.margins.any()
    assert found.luck.any()
    for figures in (found.margins, found.parts):
        assert figures.sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert found.luck.sum(axis=1) == pytest.approx(0, abs=0.001 * found.luck.shape[1])  # thousandths of a point


@every_table
def test_a_match_has_their_mean_and_counts_wins_after_the_tie_break(text: str) -> None:
    """The ranks of the sides are worked out one by one (K6, F7)."""
    rules, found = Rules.parse(text), measured(text)
    match = duplicate_match(Lowest(rules), Highest(rules), rules, 6, 3, luck="on")
    assert match.margin == pytest.approx(found.margins.mean())
    assert match.adjusted is not None
    assert match.adjusted.margin == pytest.approx((found.margins - found.luck).mean())
    shares = [*control_of(rules).shares.values()]
    assert found.luck == pytest.approx(found.parts @ shares, abs=0.001)

    sides, sign = rules.num_teams, 1 if rules.goal == "high" else -1
    match = duplicate_match(Lowest(rules), Highest(rules), rules, 20, 4, luck="off")
    played = play_duplicates([Lowest(rules), Highest(rules)], rules, deal_seeds(4, 20)).played
    assert played.tie_breaks.any() == (rules.tie_break in ("spades", "finnish"))
    wins = ties = 0
    for row, (scores, keys) in enumerate(zip(played.scores.tolist(), played.tie_breaks.tolist(), strict=True)):
        ranks = [(sign * sum(scores[side::sides]), sign * keys[side]) for side in range(sides)]
        if ranks[row % sides] == max(ranks):
            wins, ties = (wins + 1, ties) if ranks.count(max(ranks)) == 1 else (wins, ties + 1)
    assert (match.win_rate, match.tie_rate) == pytest.approx((wins / len(played.scores), ties / len(played.scores)))


def test_without_a_meter_there_is_no_luck() -> None:
    found = play_duplicates([Lowest(RULES), Highest(RULES)], RULES, deal_seeds(3, 6))
    assert (found.luck, found.parts) == (None, None)
    assert (found.margins == measured("krypkasino").margins).all()


def test_games_in_parts_are_those_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part holds whole deals."""
    whole = measured("krypkasino players=3")
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(duplicate, "CHUNK", 7)
    parts = measured("krypkasino players=3", progress=lambda *done: seen.append(done))
    assert seen == [(6, 18), (12, 18), (18, 18)]
    for name in ("margins", "luck", "parts"):
        assert (getattr(parts, name) == getattr(whole, name)).all()
    assert (parts.played.scores == whole.played.scores).all()
    assert (parts.played.points == whole.played.points).all()


def test_time_is_that_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here by a processor that works for a second in each call of an agent, whatever else goes on."""
    seconds = iter(range(10**6))
    monkeypatch.setattr(mixed_table.time, "process_time", lambda: next(seconds))
    calls = dict.fromkeys(("greedy", "tactician"), 0)

    def counting(name: str) -> agents.Agent:
        agent = agents.make(name, RULES)
        act = agent.act

        def counted(*seen: np.ndarray) -> np.ndarray:
            calls[name] += 1
            return act(*seen)

        agent.act = counted
        return agent

    found = play_duplicates([counting(name) for name in calls], RULES, deal_seeds(3, 6)).played
    assert found.seconds.tolist() == [timed - 1 for timed in calls.values()]  # without the first call
