"""The features of an observation, against the reference and against every legal move of small tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import hypergeom
from support.games import RULES, full_deck, stacked
from support.optional_moves import entries, moves_after, positions, takers, worth
from support.reference import Move, Reference
from support.relatives import BUILDING, GLIMNE, RELATIVES

from krypenv import Engine, Game, Rules, agents
from krypenv.cards import STOP, TAKE, TAKE_BUILD, parse_card
from krypenv.features import COLUMNS, WIDTH, append_features, shape_of
from krypenv.observation import SIZE

TRIED = [*RELATIVES.values(), *map(Rules.parse, ("kasino-sweden players=2 goal=low", "mulle players=3 goal=low"))]
BUILT = [rules for rules in (*GLIMNE.values(), *BUILDING.values()) if rules.games == 1]

# ---------------------------------------------------------------------- Krypkasino


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_features_say_what_a_play_does(rules: Rules) -> None:
    """Each entry against the reference: what the play takes, leaves, and who could sweep that."""
    rng = np.random.default_rng(4)
    deck = rng.permutation(full_deck(rules)).tolist()
    engine, reference = stacked(rules, np.array([deck]), features=True), Reference(rules, deck)
    while not reference.over:
        block = engine.observation[0, SIZE:].reshape(52, WIDTH)
        legal = reference.legal_actions()
        assert np.flatnonzero(block.any(1)).size <= len(legal)
        for action in legal:
            row = block[action % 52]
            plays = plays_of(reference, action)
            assert row[COLUMNS["creeps"]] == (not plays[0][1])
            points = [gained(reference, move) for move in plays]
            assert row[COLUMNS["least_points"]] == min(points)
            assert int(row[COLUMNS["points"]][0]) in points
            assert int(row[COLUMNS["sweeps"]][0]) in {move[2] for move in plays}
            if len(plays) == 1:
                check_sweepers(reference, plays[0], row)
        action = int(rng.choice(legal))
        reference.act(action)
        if not reference.over:
            engine.step([action])


def plays_of(reference: Reference, action: int) -> list[Move]:
    """All whole plays that an action may lead to."""
    twin = reference.copy()
    if action < 52:
        return [move for move in twin.legal_moves() if move[0] == action]
    wanted = [*twin.taken, action - 52]
    return [move for move in twin.legal_moves() if all(move[1].count(kind) >= wanted.count(kind) for kind in wanted)]


def gained(reference: Reference, move: Move) -> int:
    twin, seat = reference.copy(), reference.turn
    twin.push(move)
    return twin.points(seat) - reference.points(seat)


def check_sweepers(reference: Reference, move: Move, row: np.ndarray) -> None:
    twin, seat = reference.copy(), reference.turn
    seen = np.array(reference.seen_by(seat))
    new_deal = twin.deal_number
    twin.push(move)
    expected = [0] * 13
    chance = 0.0
    if not twin.over and twin.table:
        known = set() if twin.deal_number != new_deal else reference.cannot_hold((seat + 1) % reference.rules.players)
        unseen = (reference.rules.deck_counts - seen).reshape(4, 13).sum(0)
        sweepers = [rank for rank in range(13) if rank + 1 in reference.rules.ranks and twin.can_sweep(rank + 1)]
        for rank in sweepers:
            expected[rank] = 0 if rank + 1 in known else int(unseen[rank])
        if twin.turn == (seat + 1) % reference.rules.players:
            pool = sum(int(unseen[rank]) for rank in range(13) if rank + 1 not in known)
            drawn, hits = len(twin.hands[twin.turn]), sum(expected)
            chance = 1 - math.comb(pool - hits, drawn) / math.comb(pool, drawn) if pool >= drawn else 0.0
    assert row[COLUMNS["sweepers"]].tolist() == expected
    assert abs(int(row[COLUMNS["chance"]][0]) - 100 * chance) <= 1


# ---------------------------------------------------------------------- optional captures, majorities and builds


@pytest.mark.parametrize("rules", [*TRIED, *BUILT], ids=str)
def test_b1_g2_the_row_of_an_action_describes_a_capture_that_is_worth_most(rules: Rules) -> None:
    tried = with_builds = 0
    for game in positions(rules, 25 if rules.building else 12, seed=1):
        for action in [action for action in game.legal_actions() if action <= STOP and not game.building]:
            seat, row, moves = game.turn, entries(game, action), moves_after(game, action)
            if not moves:  # a card that can only build
                assert row["creeps"] == [1]
                continue
            best, described = max(worth(game, move) for move in moves), set()
            for move in [move for move in moves if worth(game, move) > best - 1e-9]:
                after = game.copy()
                after.push(move)
                if after.deal_number != game.deal_number or after.is_over:
                    break
                cards, spades = np.subtract(after.pile_counts(seat), game.pile_counts(seat)).tolist()
                points, mulle = after.points(seat) - game.points(seat), after.mulles(seat) - game.mulles(seat)
                described.add((points, cards, spades, mulle, move.sweep, int(cards == 0)))
                with_builds += bool(move.builds)
            else:
                names = "points", "cards", "spades", "mulle", "sweeps", "creeps"
                assert tuple(row[name][0] for name in names) in described
                tried += 1
    assert tried > (20 if rules.building else 10)
    assert with_builds > 1 or not rules.building


@pytest.mark.parametrize("rules", TRIED, ids=str)
def test_greedy_plays_an_action_that_leads_to_what_is_worth_most(rules: Rules) -> None:
    greedy = agents.make("greedy", rules)
    for game in positions(rules, 12, seed=2):
        best = max(worth(game, move) for move in game.legal_moves())
        [action] = greedy.act(game.observation()[None], game.action_mask()[None])
        assert max(worth(game, move) for move in moves_after(game, int(action))) > best - 1e-9


@pytest.mark.parametrize("rules", TRIED, ids=str)
def test_what_a_card_that_trails_leaves_is_told_for_the_next_seat(rules: Rules) -> None:
    tried = 0
    for game in positions(rules, 40, seed=3):
        unseen = rules.deck_counts - game.observation()[rules.layout["seen"]]
        for action in [action for action in game.legal_actions() if action < TAKE]:
            after, [*moves] = game.copy(), moves_after(game, action)
            after.push(moves[0])  # the first one takes nothing
            following = (game.turn + 1) % rules.players
            if entries(game, action)["creeps"] == [1] and after.turn == following and not after.is_over:
                left = sum(int(rules.card_points[parse_card(name)]) for name in after.table)
                assert entries(game, action)["left_points"] == [left]
                hits = int(unseen[takers(rules, after.table)].sum())
                chance = 1 - hypergeom.pmf(0, unseen.sum(), hits, len(game.hand(following)))
                if after.deal_number == game.deal_number:
                    assert abs(entries(game, action)["take_chance"][0] - 100 * chance) <= 0.5 + 1e-6
                    tried += 1
    assert tried > 3


@pytest.mark.parametrize("rules", [*RULES.values(), *RELATIVES.values(), *GLIMNE.values(), *BUILDING.values()], ids=str)
def test_the_engine_writes_the_features_that_follow_from_the_observation(rules: Rules) -> None:
    engine, size = Engine(rules, 32, seed=5, features=True), rules.observation_size
    assert engine.observation.shape[1] == size + np.prod(shape_of(rules))
    for _ in range(60):
        plain = engine.observation[:, :size].copy()
        appended = append_features(rules, plain, engine.action_mask)
        assert (appended == engine.observation).all()
        assert append_features(rules, appended, engine.action_mask) is appended
        engine.step(engine.sample_actions())


def test_b1_b6_what_a_build_leaves_to_the_next_seat() -> None:
    rules = GLIMNE["mulle-glimne players=2"]
    game = Game.from_position(
        "rules: mulle-glimne players=2; table: 5D KH; hand 0: 4S 9C; hand 1: 9D QC; build 12: 7C 5C; owner 12: 1; "
        "captured 1: rest"
    )
    trails = entries(game, parse_card("4S"))
    assert trails["creeps"] == [1]
    kinds = takers(rules, [*game.table, "4S"])
    assert parse_card("9D") in kinds
    assert trails["left_points"] == [1]  # the four of spades; the cards of the build count nothing
    assert trails["take_chance"] == [100]  # seat 1 has both unseen cards, and either takes something
    assert trails["chance"] == [0]  # the build and the loose cards are not one capture
    game.act(parse_card("4S"))
    game.act(105 + 9)
    laid = entries(game, TAKE + parse_card("5D"))
    assert (laid["creeps"], laid["points"], laid["cards"]) == ([0], [0], [0])
    assert laid["left_points"] == [1]


def test_b6_the_chance_of_a_sweep_of_a_lone_build() -> None:
    game = Game.from_position(
        "rules: mulle-glimne players=2; table: KH; hand 0: KC 2C; hand 1: QC 3D; build 12: 7C 5C; owner 12: 1; "
        "captured 1: rest"
    )
    game.act(parse_card("KC"))
    take = entries(game, TAKE + parse_card("KH"))
    assert (take["sweeps"], take["chance"], take["take_chance"]) == ([0], [100], [100])
    assert TAKE_BUILD + 12 not in game.legal_actions()
