"""Which statements hold for which players: by samples that were put in, and by what the habits allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.sampled import TWO, positions

from krypenv import Engine, Game, agents
from krypenv.cards import NUM_KINDS
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.lab.chunks import play_chunk
from krypenv.training.lab.habits import tables_left, with_habit
from krypenv.training.lab.studying import Setup
from krypenv.training.research.studies import advice, creep, memory, statements
from krypenv.training.research.studies.statements import GUIDE, LEADER, RULEBOOKS, STATEMENTS, UNCHANGED

SETUP = Setup(TWO, "champion(worlds=0)", 40)
WORSE = "never sets up a sweep if it can"
LEFT_TABLES = [[9, 9, 9], [4, 2, 2], [6, 1, 2], [10, 1, 1], [5, 0, 0], [5, 1, 1]]  # left, swept, sweeps, by kind
COUNTS = {"tactician": 100, "search": 80, "network": 60, "champion": 40}  # points that sweeps move in half of the games


def invented(margins: dict[tuple[str, str], float]) -> dict[str, Any]:
    """Results of all tasks: noise about the mean margins given by player and change, and about 0 for others."""
    random, players = np.random.default_rng(0), advice.players_of(SETUP)
    names = {agent: name for name, agent in players.items()}
    results: dict[str, Any] = {}
    for task in advice.tasks(SETUP):
        agent, change = task.key.rsplit(" ", 1)[0].split(": ", 1)
        deals = task.arguments["deals"]
        if change.startswith(f"{advice.SPREAD}: "):
            of_habit = 3.0 if change.endswith(WORSE) else 4.0
            results[task.key] = [[of_habit, -of_habit]] * deals
            continue
        if change == LEADER:
            scores = random.integers(0, 40, (deals, 2))
            results[task.key] = np.column_stack([scores, np.ones(deals, int)]).tolist()
        elif change == advice.MOVED:
            results[task.key] = (random.integers(0, 2, deals) * COUNTS[names[agent]]).tolist()
        elif change == advice.LEFT:
            results[task.key] = [LEFT_TABLES] * deals
        elif change == advice.ENDS:
            results[task.key] = [[deal % 3, 4, [None, 0, 0, deal % 2, 1, 1, 1, 1, 1]] for deal in range(deals)]
        else:
            results[task.key] = random.normal(margins.get((names[agent], change), 0.0), 1.0, deals).tolist()
    return results


def held(figures: dict[str, Any], words: str) -> list[str]:
    return [player for player, figure in figures["statements"][words].items() if figure["holds"]]


def test_a_statement_holds_for_those_who_lose_by_the_other_way() -> None:
    found = advice.answer(SETUP, invented({("tactician", WORSE): -5.0, ("champion", WORSE): -5.0}))
    words = next(each.words for each in STATEMENTS if each.rather == WORSE)
    assert held(found.figures, words) == ["tactician", "champion"]
    assert found.figures["statements"][words]["champion"]["mean"] == pytest.approx(5.0, abs=0.5)
    assert all(not held(found.figures, each.words) for each in STATEMENTS if WORSE not in (each.does, each.rather))


def test_the_opposite_of_a_statement_is_no_support() -> None:
    found = advice.answer(SETUP, invented({(player, WORSE): 5.0 for player in advice.players_of(SETUP)}))
    words = next(each.words for each in STATEMENTS if each.rather == WORSE)
    assert held(found.figures, words) == []
    assert found.figures["statements"][words]["network"]["p"] < 0.001


def test_all_tests_of_the_answer_are_corrected_together() -> None:
    """An interval just above zero is not enough where more than a hundred are looked at (Holm 1979)."""
    results = invented({})
    keys = [key for key in results if key.startswith(f"network: {WORSE}".replace("network", SETUP.agent))]
    for key in keys:
        around = np.random.default_rng(1).normal(size=len(results[key]))
        results[key] = (-((around - around.mean()) / around.std(ddof=1) + 0.4)).tolist()  # t = 3.6, p = 0.0006
    words = next(each.words for each in STATEMENTS if each.rather == WORSE)
    figure = advice.answer(SETUP, results).figures["statements"][words]["network"]
    assert figure["low"] > 0
    assert figure["p"] > 0.05
    assert not figure["holds"]


def test_a_lead_is_that_of_the_leader_over_the_dealer() -> None:
    results = invented({})
    scores = [[10, 14, 1], [20, 22, 1]]  # few points win
    for key in results:
        if f": {LEADER} " in key:
            results[key] = (scores * len(results[key]))[: len(results[key])]
    figures = advice.answer(SETUP, results).figures["statements"]
    lead = next(each.words for each in STATEMENTS if each.does == LEADER)
    assert {figure["mean"] for figure in figures[lead].values()} == {3.0}
    assert set(figures[lead]) == set(COUNTS)


def test_the_unit_is_the_spread_of_a_game_in_the_matches_of_the_statement() -> None:
    figures = advice.answer(SETUP, invented({})).figures["statements"]
    for each in STATEMENTS:
        for player, figure in figures[each.words].items():
            if each.does == LEADER:
                assert figure["spread"] == pytest.approx(16, rel=0.2)  # of a difference of two scores, 0 to 39 each
                continue
            deals = 2 * advice.rarer(SETUP, advice.players_of(SETUP)[player]).deals
            known = [3.0 if name == WORSE else 4.0 for name in (each.does, each.rather) if name != UNCHANGED]
            wanted = np.sqrt(np.mean(np.square(known)) * deals / (deals - 1))
            assert figure["spread"] == pytest.approx(wanted)


def test_games_of_a_match_are_those_of_its_deals() -> None:
    """Their means by deal are the margins of the match."""
    change = with_habit(creep.creep_always)
    games = advice.play_games(str(TWO), "tactician", 0, 3, 5, change)
    assert np.shape(games) == (3, 2)
    assert np.mean(games, axis=1).tolist() == pytest.approx(play_chunk(str(TWO), "tactician", 0, 3, 5, change))


def test_memories_are_asked_of_the_network_alone() -> None:
    figures = advice.answer(SETUP, invented({})).figures["statements"]
    for each in STATEMENTS:
        asks = {each.does, each.rather} & memory.CHANGES.keys()
        assert set(figures[each.words]) == ({"network"} if asks else set(COUNTS))


def test_two_ways_to_play_that_are_one_measure_nothing() -> None:
    results = invented({})
    for key in results:
        if key.startswith(f"{SETUP.agent}: {memory.WHOLE}"):
            results[key] = [0.0] * len(results[key])
    found = advice.answer(SETUP, results)
    words = next(each.words for each in STATEMENTS if each.rather == memory.WHOLE)
    assert found.figures["statements"][words] == {}
    assert f"Of {len(STATEMENTS) - 1} statements 0 hold" in found.sentence
    assert "opposite" not in found.sentence


def test_the_sentence_counts_and_names() -> None:
    both = {(player, WORSE): -5.0 for player in ("network", "champion")}
    told = advice.answer(SETUP, invented(both)).sentence
    assert told.startswith(f"Of {len(STATEMENTS)} statements 0 hold for every player")
    assert "1 more for network and champion (set up sweeps" in told
    assert "opposite" not in told
    contrary = {(player, WORSE): 5.0 for player in ("network", "champion")}
    told = advice.answer(SETUP, invented(contrary)).sentence
    assert "The opposite holds for them of 1 (set up sweeps: never doing so is worse than to choose)." in told


def test_figures_are_those_of_each_player() -> None:
    found = advice.answer(SETUP, invented({}))
    for player, points in COUNTS.items():
        means = {what: figure["mean"] for what, figure in found.figures["by player"][player].items()}
        assert means[advice.SWEEPS] == pytest.approx(points / 2, rel=0.3)
        assert means[advice.OPENING] == TWO.sweep_points
        assert means[advice.ASIDE] == pytest.approx(1, abs=0.05)
        assert means[advice.TAKEN] == pytest.approx(5, abs=0.05)
        assert means[advice.SINGLE] == pytest.approx(30)
        assert means[advice.LARGER] == pytest.approx(10)
        assert means[advice.STAYS] == pytest.approx(50)
    heading, *rows = found.rows[-1 - len(advice.WHATS) :]
    assert set(heading[1:]) == {""}
    shown = [found.figures["by player"][player][advice.SWEEPS]["mean"] for player in COUNTS]
    assert [cell.partition(" ")[0] for cell in rows[0][1:]] == [f"{mean:.1f}" for mean in shown]


def test_what_sweeps_move_in_games_played_one_by_one() -> None:
    player = agents.make(SETUP.agent, TWO)
    found = advice.move_by_sweeps(str(TWO), SETUP.agent, 1, 12, 3)
    for start, moved in zip(deal_seeds(3, 13)[1:].tolist(), found, strict=True):
        game = Game(TWO, seed=start)
        while not game.is_over:
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
        assert moved == TWO.sweep_points * sum(game.counted_sweeps(seat) for seat in range(2))


def test_a_network_is_needed() -> None:
    with pytest.raises(ValueError, match="is no network, which this study needs"):
        advice.STUDY.check(Setup(TWO, "search(worlds=10)", 2))


def test_every_way_to_play_can_be_measured() -> None:
    """Each statement names habits or memories that exist; memories are of networks alone."""
    known = {name for player in advice.players_of(SETUP).values() for name in advice.changes(player, SETUP)}
    named = {name for each in STATEMENTS for name in (each.does, each.rather)}
    assert named <= {*known, UNCHANGED, LEADER}
    assert {each.source for each in STATEMENTS} == {GUIDE, RULEBOOKS}


def test_no_test_is_counted_twice() -> None:
    pairs = [frozenset((each.does, each.rather)) for each in STATEMENTS]
    assert len(set(pairs)) == len({each.words for each in STATEMENTS}) == len(STATEMENTS)


def test_each_rule_is_told_against_free_play_too() -> None:
    """Who reads that a rule beats its opposite can read what choosing freely is worth beside it."""
    free = {each.rather for each in STATEMENTS if each.does == UNCHANGED}
    assert {each.does for each in STATEMENTS if each.does in statements.HABITS} <= free


@pytest.mark.parametrize("allows_single", [True, False])
def test_single_cards_that_are_left(allows_single: bool) -> None:
    engine = positions(TWO, 80)
    seen, masks = engine.observation, engine.action_mask
    habit = statements.leaves_single if allows_single else statements.never_leaves_single
    allowed = habit(TWO, seen, masks)
    concerned = 0
    for row in np.flatnonzero((masks[:, :NUM_KINDS] > 0).any(axis=1)):
        cards = np.flatnonzero(masks[row, :NUM_KINDS])
        single = []
        for card in cards:
            game = Engine.from_state(TWO, engine.state[[row]].view(np.recarray))
            game.step(np.array([card]))
            while game.state.pending[0] >= 0:
                game.step(game.action_mask.argmax(axis=1))
            (left,) = np.nonzero(game.state.table[0])
            single.append(game.state.table[0].sum() == 1 and left[0] % 13 + 1 <= 10)
        if any(single) and not all(single):
            concerned += 1
            assert allowed[row, cards].tolist() == [each == allows_single for each in single]
        else:
            assert allowed[row, cards].all()
    assert concerned > 3


def test_tables_left_of_no_plays() -> None:
    engine = positions(TWO, 4)
    rows, cards, tables = tables_left(TWO, engine.observation, np.zeros_like(engine.action_mask))
    assert (len(rows), len(cards), tables.shape) == (0, 0, (0, NUM_KINDS))


def test_a_scripted_player_with_a_habit_keeps_to_it() -> None:
    """It chooses among the cards that creep as it would if only these were legal."""
    engine = positions(TWO, 60)
    seen, masks = engine.observation, engine.action_mask
    player = with_habit(creep.creep_always)("tactician", TWO, 0)
    chosen = player.act(seen, masks)
    allowed = creep.creep_always(TWO, seen, masks) & (masks > 0)
    concerned = allowed.any(axis=1)
    assert allowed[np.arange(len(chosen)), chosen][concerned].all()
    free = agents.make("tactician", TWO, 0).act(seen, masks)
    assert (free != chosen)[concerned].any()


def test_habits_of_a_player_that_reads_the_plays() -> None:
    """The champion is given the history block, which habits don't read."""
    margins = play_chunk(str(TWO), "champion(worlds=2)", 0, 2, 0, with_habit(creep.creep_always))
    assert len(margins) == 2
