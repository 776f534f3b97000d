"""What the scripts of studies count, by games played one by one, and what agents lose in the end of a game."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from support.sampled import STRONG, TWO, points_of, positions
from support.scripts import load

from krypenv import Game, Rules, agents
from krypenv.cards import NUM_KINDS
from krypenv.observation import LAYOUT
from krypenv.training import deal_seeds
from krypenv.training.lab import Setup

FOUR = Rules.preset("krypkasino", players=4)
LOW = agents.typed("support.arenas:Lowest")  # plays without chance


class Played(NamedTuple):
    """A game that is over, and what was seen before its plays."""

    game: Game
    opening: int  # sweeps that open a deal
    tables: list[list[int]]  # single cards and larger tables left to the next play in a deal, and those that it swept
    capturer: int | None  # the last capturer, eight cards before the end
    last: list[str]  # the cards that are left for the last play
    moves: list[int]  # legal moves, by play


def played(rules: Rules, agent: str, seed: int, deals: int) -> list[Played]:
    """Play games of an agent in every seat, one by one; the last play leaves no table to the next one."""
    player, found = agents.make(agent, rules), []
    for start in deal_seeds(seed, deals).tolist():
        game, number, opening, capturer = Game(rules, seed=start), 0, 0, None
        tables, moves = np.zeros((2, 2), int), list[int]()
        while not game.is_over:
            if game.pending is None:
                is_fresh, number, lying = game.deal_number != number, game.deal_number, len(game.table)
                hands = [game.hand(seat) for seat in range(rules.players)]
                capturer = game.last_capturer if game.stock_size + sum(map(len, hands)) == 8 else capturer
                last = [*game.set_aside, *game.table, *game.hand(game.turn)]
                moves.append(len(game.legal_moves()))
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
            if game.is_over or game.pending is None:
                opening += is_fresh * game.moves[-1].sweep
                if lying and not (is_fresh or game.is_over):
                    tables[min(lying, 2) - 1] += 1, game.moves[-1].sweep > 0
        found.append(Played(game, opening, tables.tolist(), capturer, last, moves))
    return found


@pytest.mark.parametrize("rules", [TWO, FOUR])
def test_lead_counts_scores_and_the_sweeps_that_open_a_deal(rules: Rules) -> None:
    """The first play of each deal is the leader's, and its sweeps are credited to the dealer, the last seat (R12)."""
    lead = load("lead")
    found = lead.play_deals(str(rules), STRONG, 0, 6, 4)
    games = played(rules, STRONG, 4, 6)
    assert found == [[*each.game.scores(), each.opening] for each in games]
    assert sum(each.opening for each in games) > 0
    figures = lead.answer(Setup(rules, STRONG, 6, 4), {"deals 0": found}).figures
    over = np.mean([each.game.scores()[-1] - each.game.scores()[0] for each in games])  # fewer points are better
    assert figures["the leader over the dealer"]["mean"] == pytest.approx(over)
    assert figures["the leader"]["mean"] - figures["the dealer"]["mean"] == pytest.approx(over)
    opening = np.mean([each.opening for each in games])
    assert figures["credited to the dealer by R12"]["mean"] == pytest.approx(5 * opening)


@pytest.mark.parametrize("text", ["krypkasino", "mini-high", "mini-last goal=high"])
def test_compare_and_misere_large_count_points(text: str) -> None:
    rules = Rules.parse(text)
    found = np.array(load("compare").count_points(text, LOW, 1, 12, 3))
    for each, (cards, moved, further, lead) in zip(played(rules, LOW, 3, 13)[1:], found, strict=True):
        game, scores = each.game, each.game.scores()
        assert cards == game.points(0) + game.points(1)
        assert moved == rules.sweep_points * sum(game.counted_sweeps(seat) for seat in (0, 1))
        assert further == sum(scores) - cards - (moved if rules.sweep_payer == "nobody" else 0)
        assert lead == (scores[1] - scores[0] if rules.goal == "low" else scores[0] - scores[1])
    assert found[:, 1].any()
    assert load("misere_large").play_alone(text, LOW, 1, 12, 3) == found[:, [3, 1]].tolist()


def test_compare_counts_moves() -> None:
    found = load("compare").count_moves("mini-choice", LOW, 0, 3, 5)
    counts = [np.array(each.moves) for each in played(Rules.parse("mini-choice"), LOW, 5, 3)]
    assert found == [[pytest.approx(each.mean()), pytest.approx((each > 1).mean())] for each in counts]


def test_advice_counts_sweeps_tables_and_the_last_capture() -> None:
    """What sweeps move and open a deal with, what the last capture takes in, and tables that are swept at once."""
    for counted, each in zip(load("advice").count(str(TWO), STRONG, 0, 4, 2), played(TWO, STRONG, 2, 4), strict=True):
        assert counted["lead"] == each.game.scores()[1] - each.game.scores()[0]  # fewer points are better
        assert counted["moved"] == 5 * (each.game.sweeps(0) + each.game.sweeps(1))
        assert counted["opening"] == 5 * each.opening
        assert counted["tables"] == each.tables
        assert counted["taken"] == sum(map(points_of, each.last))
        if counted["taken"]:
            assert counted["stays"] == 100 * (each.capturer == each.game.last_capturer)


def test_late_measures_what_agents_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer cards, agents and hands; an equilibrium wins no more than a best response."""
    late = load("late")
    small = {
        "FEW": 2, "MORE": 3, "WHOLE": 4, "RARER": 2, "HANDS": (2, 0), "SAMPLES": 1, "SMALL": "mini-sweep",
        "ASKED": {"greedy": 1, "tactician": 1}, "COMPARED": ("greedy",), "MOST_HANDS": {"tactician": 2},
    }  # fmt: skip
    for name, value in small.items():
        monkeypatch.setitem(late.tasks.__globals__, name, value)
    setup = Setup(TWO, "greedy", 2)
    figures = late.answer(setup, {task.key: task.function(**task.arguments) for task in late.tasks(setup)}).figures
    for name in ("greedy", "tactician"):
        lost, best = (figures[f"{what}, 2 cards, {name}"]["mean"] for what in (late.LOST, late.BEST))
        assert -1e-6 < lost <= best + 1e-6
    told = figures["bounds"][f"{late.BOUND}, 2 cards, all hands, greedy"]["mean"]
    assert told == pytest.approx(figures[f"{late.BEST}, 2 cards, greedy"]["mean"])
    assert figures["mini-sweep"] == pytest.approx({late.RESOLVED: 0, "search": 0}, abs=0.01)


MEMORY = load("memory")


@pytest.mark.parametrize("kept", [MEMORY.NONE, (MEMORY.RANKS == 1) | (MEMORY.RANKS > 10)])
def test_a_forgetful_player_knows_the_cards_that_it_keeps_in_mind_and_no_others(kept: np.ndarray) -> None:
    """What lies there, the cards kept in mind, and how many have been seen; the rest is any of the other cards."""
    player = MEMORY.forgetful(kept, MEMORY.NOBODY, 1, STRONG, FOUR, 0)
    before, part = positions(FOUR, 100).observation, LAYOUT["seen"]
    draws = [player.imagine(before, np.zeros((100, NUM_KINDS), np.int64)) for _ in range(30)]
    lying = sum(before[:, LAYOUT[name]] for name in ("hand", "table", "set_aside", "pending"))
    for after in draws:
        assert (after[:, part] >= lying).all()
        assert (after[:, part] <= FOUR.deck_counts).all()
        assert (after[:, part].sum(axis=1) == before[:, part].sum(axis=1)).all()
        assert (after[:, part][:, kept] == before[:, part][:, kept]).all()
        assert not after[:, LAYOUT["cannot_hold"]].any()
        same = np.ones(before.shape[1], np.bool_)
        same[part] = same[LAYOUT["cannot_hold"]] = False
        assert (after[:, same] == before[:, same]).all()
    assert len({after.tobytes() for after in draws}) == 30
