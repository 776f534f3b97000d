"""Which statements hold for which players: by samples that were put in, and by what the habits allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.sampled import TWO, positions

from krypenv import Engine, Game, agents
from krypenv.cards import NUM_KINDS, parse_card
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.research.lab.chunks import play_chunk
from krypenv.training.research.lab.habits import tables_left, with_habit
from krypenv.training.research.lab.studying import Setup
from krypenv.training.research.studies import creep, holds
from krypenv.training.research.studies.holds import STATEMENTS, UNCHANGED

SETUP = Setup(TWO, "champion(worlds=0)", 40)
WORSE = "never sets up a sweep if it can"
COUNTS = {"tactician": 100, "search": 80, "network": 60, "champion": 40}  # points that sweeps move in half of the games


def invented(margins: dict[tuple[str, str], float]) -> dict[str, Any]:
    """Results of all tasks: noise about the mean margins given by player and change, and about 0 for others."""
    random, players = np.random.default_rng(0), holds.players_of(SETUP)
    names = {agent: name for name, agent in players.items()}
    results: dict[str, Any] = {}
    for task in holds.tasks(SETUP):
        agent, change = task.key.rsplit(" ", 1)[0].split(": ", 1)
        deals = task.arguments["deals"]
        if change == holds.LEADER:
            scores = random.integers(0, 40, (deals, 2))
            results[task.key] = np.column_stack([scores, np.ones(deals, int)]).tolist()
        elif change == holds.COUNTED:
            counts = [COUNTS[names[agent]], COUNTS[names[agent]] / 4, 2]
            results[task.key] = (random.integers(0, 2, (deals, 1)) * counts).tolist()
        else:
            results[task.key] = random.normal(margins.get((names[agent], change), 0.0), 1.0, deals).tolist()
    return results


def held(figures: dict[str, Any], words: str) -> list[str]:
    return [player for player, figure in figures["statements"][words].items() if figure["holds"]]


def test_a_statement_holds_for_those_who_lose_by_the_other_way() -> None:
    found = holds.answer(SETUP, invented({("tactician", WORSE): -5.0, ("champion", WORSE): -5.0}))
    words = next(each.words for each in STATEMENTS if each.rather == WORSE)
    assert held(found.figures, words) == ["tactician", "champion"]
    assert found.figures["statements"][words]["champion"]["mean"] == pytest.approx(5.0, abs=0.5)
    assert all(not held(found.figures, each.words) for each in STATEMENTS if WORSE not in (each.does, each.rather))


def test_the_opposite_of_a_statement_is_no_support() -> None:
    found = holds.answer(SETUP, invented({(player, WORSE): 5.0 for player in holds.players_of(SETUP)}))
    words = next(each.words for each in STATEMENTS if each.rather == WORSE)
    assert held(found.figures, words) == []
    assert found.figures["statements"][words]["network"]["p"] < 0.001


def test_the_sentence_counts_and_names() -> None:
    both = {(player, WORSE): -5.0 for player in ("network", "champion")}
    told = holds.answer(SETUP, invented(both)).sentence
    assert told.startswith("Of 18 statements 0 hold for every player")
    assert "1 more for network and champion (set up sweeps" in told


def test_figures_are_those_of_each_player() -> None:
    found = holds.answer(SETUP, invented({}))
    for player, points in COUNTS.items():
        figures = found.figures["by player"][player]
        assert figures[holds.SWEEPS]["mean"] == pytest.approx(points / 2, rel=0.3)
        assert figures[holds.TAKEN]["mean"] == pytest.approx(figures[holds.SWEEPS]["mean"] / 4)
        assert figures[holds.ASIDE]["mean"] == pytest.approx(2 * figures[holds.SWEEPS]["mean"] / points)
        assert figures[holds.OPENING]["mean"] == TWO.sweep_points
    heading, *rows = found.rows[-5:]
    assert set(heading[1:]) == {""}
    means = [found.figures["by player"][player][holds.SWEEPS]["mean"] for player in COUNTS]
    assert [cell.partition(" ")[0] for cell in rows[0][1:]] == [f"{mean:.1f}" for mean in means]


def test_what_games_come_to() -> None:
    """Sweeps and the last capture, of games played one by one."""
    player = agents.make(SETUP.agent, TWO)
    found = holds.count_games(str(TWO), SETUP.agent, 1, 12, 3)
    for start, counted in zip(deal_seeds(3, 13)[1:].tolist(), found, strict=True):
        game = Game(TWO, seed=start)
        while not game.is_over:
            before = game.points(0) + game.points(1)
            aside = sum(int(TWO.card_points[parse_card(card)]) for card in game.set_aside)
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
        sweeps = TWO.sweep_points * sum(game.counted_sweeps(seat) for seat in range(2))
        assert counted == [sweeps, game.points(0) + game.points(1) - before, aside]


def test_a_network_is_needed() -> None:
    with pytest.raises(ValueError, match="is no network, which this study needs"):
        holds.STUDY.check(Setup(TWO, "search(worlds=10)", 2))


def test_every_way_to_play_can_be_measured() -> None:
    """Each statement names habits or memories that exist; memories are of networks alone."""
    known = {name for player in holds.players_of(SETUP).values() for name in holds.changes(player, SETUP)}
    assert {name for each in STATEMENTS[:-1] for name in (each.does, each.rather)} <= {*known, UNCHANGED}
    assert len({each.words for each in STATEMENTS}) == len(STATEMENTS)


@pytest.mark.parametrize("allows_single", [True, False])
def test_single_cards_that_are_left(allows_single: bool) -> None:
    engine = positions(TWO, 80)
    seen, masks = engine.observation, engine.action_mask
    habit = holds.leaves_single if allows_single else holds.never_leaves_single
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
