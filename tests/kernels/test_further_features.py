"""The features of optional captures and majorities, and greedy's choice, against every legal move of small tables."""

import numpy as np
import pytest
from scipy.stats import hypergeom
from support.optional_moves import entries, moves_after, positions, takers, worth
from support.relatives import BUILDING, GLIMNE, RELATIVES

from krypenv import Engine, Rules, agents
from krypenv.cards import TAKE, parse_card
from krypenv.features import append_features, shape_of

TRIED = [*RELATIVES.values(), *map(Rules.parse, ("kasino-sweden players=2 goal=low", "mulle players=3 goal=low"))]


@pytest.mark.parametrize("rules", TRIED, ids=str)
def test_the_row_of_an_action_describes_a_capture_that_is_worth_most(rules):
    tried = 0
    for game in positions(rules, 12, seed=1):
        for action in game.legal_actions():
            seat, found = game.turn, entries(game, action)
            moves = moves_after(game, action)
            best = max(worth(game, move) for move in moves)
            described = set()
            for move in moves:
                if worth(game, move) > best - 1e-9:
                    after = game.copy()
                    after.push(move)
                    if after.deal_number != game.deal_number or after.is_over:
                        break
                    cards, spades = np.subtract(after.pile_counts(seat), game.pile_counts(seat)).tolist()
                    mulle = after.mulles(seat) - game.mulles(seat)
                    points = after.points(seat) - game.points(seat)
                    described.add((points, cards, spades, mulle, move.sweep, not move.takes))
            else:
                row = (
                    *(found[name][0] for name in ("points", "cards", "spades", "mulle", "sweeps")),
                    bool(found["creeps"][0]),
                )
                assert row in described
                tried += 1
    assert tried > 10


@pytest.mark.parametrize("rules", TRIED, ids=str)
def test_greedy_plays_an_action_that_leads_to_what_is_worth_most(rules):
    greedy = agents.make("greedy", rules)
    for game in positions(rules, 12, seed=2):
        best = max(worth(game, move) for move in game.legal_moves())
        [action] = greedy.act(game.observation()[None], game.action_mask()[None])
        assert max(worth(game, move) for move in moves_after(game, int(action))) > best - 1e-9


@pytest.mark.parametrize("rules", TRIED, ids=str)
def test_what_a_card_that_trails_leaves_is_told_for_the_next_seat(rules):
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


@pytest.mark.parametrize("rules", [*RELATIVES.values(), *GLIMNE.values(), *BUILDING.values()], ids=str)
def test_the_engine_writes_the_features_that_follow_from_the_observation(rules):
    engine, size = Engine(rules, 32, seed=5, features=True), rules.observation_size
    assert engine.observation.shape[1] == size + np.prod(shape_of(rules))
    for _ in range(60):
        plain = engine.observation[:, :size].copy()
        assert (append_features(rules, plain, engine.action_mask) == engine.observation).all()
        engine.step(engine.sample_actions())
