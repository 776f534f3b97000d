"""What networks are told of each action where captures are optional, against every capture and every hand."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from support.optional_moves import moves_after, positions, shares, worth
from support.reference_relatives import LILLAN, STORAN, list_captures
from support.relatives import MIXTURES, RELATIVES

from krypenv import Engine, Game, Rules, agents
from krypenv.agents.neural.action_features import (
    COLUMNS,
    WIDTH,
    columns_of,
    descriptions_of,
    gather_action_features,
    version_of,
    width_of,
)
from krypenv.cards import STOP, TAKE, parse_card
from krypenv.features import columns_of as block_columns_of
from krypenv.features import shape_of
from krypenv.worlds.determinize import determinize

TRIED = [*RELATIVES.values(), MIXTURES["kasino-sweden players=2 goal=low"]]
MOST_HANDS = 3000  # that the next seat may hold, where all of them are tried
ROUNDED = {"gain", "threat", "next_gain", "worth", "mulle_chance", "take_chance", "chance"}


def class_of(rules, kind):
    """The place of a kind in the blocks that count by rank: lillan and storan apart where they have own values."""
    special = {LILLAN: (13, rules.lillan_hand_value), STORAN: (14, rules.storan_hand_value)}
    place, value = special.get(kind, (0, None))
    return kind % 13 if value is None else place


def values_of(rules, kind):
    """The hand values of a kind."""
    special = {LILLAN: rules.lillan_hand_value, STORAN: rules.storan_hand_value}
    values = special.get(kind) or rules.hand_values[kind % 13]
    return values if isinstance(values, tuple) else (values,)


def captures_by(rules, kind, table):
    """All captures of a kind from a table."""
    values = [rules.table_values[card % 13] for card in table]
    choices = tuple(value if isinstance(value, tuple) else (value,) for value in values)
    return list_captures(tuple(table), choices, values_of(rules, kind), False)


def most_worth(rules, kind, table, counts, prices):
    """What the best capture of a kind from a table is worth, without mulles; 0 for none.

    `prices` are what a card and a spade are worth on the way to the majorities.
    """
    if rules.goal == "low":
        return 0.0
    return max(
        [
            sum(int(rules.card_points[card]) + prices[0] + prices[1] * (card >= 39) for card in takes)
            + rules.sweep_points * counts * (len(takes) == len(table))
            for takes in captures_by(rules, kind, table)
        ],
        default=0.0,
    )


def sweeps_count(game):
    """Whether a sweep would count now (F5)."""
    rules = game.rules
    if not rules.last_deal_sweeps and game.deal_number == len(rules.deal_sizes()):
        return False
    sides = [sum(game.scores()[side :: rules.num_teams]) for side in range(rules.num_teams)]
    return rules.sweep_limit is None or max(sides) < rules.sweep_limit


def majority(own, others, left):
    """The lead, what is open, and whether it is decided."""
    sure = all(own > other + left for other in others) - any(other >= own + left for other in others)
    return [own - max(others)], [left], [sure]


def expected(game, action, move):
    """The features of an action that leads to a move, by name."""
    rules, seat, after = game.rules, game.turn, game.copy()
    after.push(move)
    table = [] if after.is_over else sorted(map(parse_card, after.table))
    hand = Counter(map(parse_card, game.hand(seat)))
    hand[parse_card(move.card)] -= action < TAKE
    kind = parse_card(move.card) if action == STOP else action % 52
    unseen = rules.deck_counts - game.observation()[rules.layout["seen"]]
    pool = [card for card in range(52) for _ in range(unseen[card])]
    following = (seat + 1) % rules.players
    drawn = 0 if after.is_over else len(after.hand(following))
    counts = sweeps_count(game)
    prices = shares(game)
    known = {card: most_worth(rules, card, table, counts, prices) for card in {*pool, *hand}}
    takers = {card for card in known if captures_by(rules, card, table)}
    by_class = {"takers": np.zeros(15), "own_takers": np.zeros(15), "worth": np.zeros(15)}
    for card in takers:
        by_class["takers"][class_of(rules, card)] += unseen[card]
        by_class["own_takers"][class_of(rules, card)] += hand[card]
        if unseen[card] or hand[card]:
            by_class["worth"][class_of(rules, card)] = 10 * known[card]
    copies = sum(int(unseen[card]) for card in set(table))
    chance = 1 - comb(len(pool) - copies, drawn) / comb(len(pool), drawn) if drawn <= len(pool) else float(copies > 0)
    played = action < TAKE
    piles = np.array([after.pile_counts(each) for each in range(rules.players)])
    sides = [piles[(seat + place) % rules.num_teams :: rules.num_teams].sum(0) for place in range(rules.num_teams)]
    decks = rules.deck_size, 13 * rules.packs
    found = {
        "gain": [10 * worth(game, move)],
        "next_gain": [10 * max((known[card] for card in hand if hand[card] > 0), default=0.0)],
        "left": [sum(card % 13 == rank for card in table) for rank in range(13)],
        "left_cards": [len(table)],
        "left_spades": [sum(card >= 39 for card in table)],
        **{name: each.tolist() for name, each in by_class.items()},
        "own_mulles": [sum(hand[card] > 0 for card in set(table)) * (rules.mulle_points > 0)],
        "mulle_chance": [100 * chance * (rules.mulle_points > 0)],
        "held": [game.hand(seat).count(_name(kind))],
        "seen": [int(game.observation()[rules.layout["seen"]][kind])],
        "sweeps_count": [int(counts)],
    }
    for at, name in enumerate(("cards", "spades")):
        left = decks[at] - sum(int(side[at]) for side in sides)
        its = majority(int(sides[0][at]), [int(other[at]) for other in sides[1:]], left)
        found |= dict(zip((f"{name}_lead", f"{name}_open", f"{name}_sure"), its, strict=True))
    assert played == (game.pending is None)
    if table and comb(len(pool), min(drawn, len(pool))) <= MOST_HANDS:
        hands = list(combinations(range(len(pool)), min(drawn, len(pool))))
        gains = np.array([known[card] for card in pool])
        found["threat"] = [10 * float(np.mean([gains[list(each)].max(initial=0.0) for each in hands]))]
    return found


def _name(kind):
    return "A23456789TJQK"[kind % 13] + "CDHS"[kind // 13]


def agree(game, row, told):
    """Whether a row of features is what was expected; tenths and percentages may be rounded either way."""
    for name, values in told.items():
        off = np.abs(row[columns_of(game.rules)[name]] - np.array(values, float)).max()
        if off > (0.5 + 1e-4 if name in ROUNDED else 0):
            return False
    return True


@pytest.mark.parametrize("rules", TRIED, ids=str)
def test_the_features_of_an_action_are_those_of_a_best_capture(rules):
    threats, acts = 0, Counter()
    for game in positions(rules, 14, seed=4):
        found = gather_action_features(rules, game.observation()[None], game.action_mask()[None])
        assert found.actions.tolist() == game.legal_actions()
        for action, features in zip(found.actions.tolist(), found.features.astype(int), strict=True):
            moves = moves_after(game, action)
            best = max(worth(game, move) for move in moves)
            told = [expected(game, action, move) for move in moves if worth(game, move) > best - 1e-9]
            assert any(agree(game, features, each) for each in told), (game.position(), action)
            threats += any("threat" in each for each in told)
            acts[min(action // 52, 2)] += 1
    assert threats > 3
    assert acts[0] > 5


@pytest.mark.parametrize("rules", [*RELATIVES.values(), *MIXTURES.values()], ids=str)
def test_actions_counts_and_first_columns_are_those_of_masks_and_of_the_features_block(rules):
    engine, (rows_of_block, width) = Engine(rules, 32, seed=5, features=True), shape_of(rules)
    stops = 0
    for step in range(50):
        if step % 7 == 0:
            found = gather_action_features(rules, engine.observation, engine.action_mask)
            rows, actions = np.nonzero(engine.action_mask)
            assert found.counts.tolist() == np.bincount(rows, minlength=engine.num_games).tolist()
            assert found.actions.tolist() == actions.tolist()
            assert found.features.shape == (len(actions), width_of(rules))
            block = engine.observation[:, rules.observation_size :].reshape(-1, rows_of_block, width)
            kinds = np.where(actions == STOP, 52, actions % 52)
            assert (found.features[:, :width] == block[rows, kinds]).all()
            stops += (actions == STOP).sum()
        engine.step(engine.sample_actions())
    assert stops > 0 or rules.capture == "maximal"


@pytest.mark.parametrize("rules", list(RELATIVES.values()), ids=str)
def test_the_tactician_plays_an_action_of_the_best_balance(rules):
    engine, tactician = Engine(rules, 32, seed=7), agents.make("tactician", rules)
    balance = columns_of(rules)["balance"].start
    for _ in range(20):
        found = gather_action_features(rules, engine.observation, engine.action_mask)
        played = tactician.act(engine.observation, engine.action_mask)
        rows = np.repeat(np.arange(32), found.counts)
        for row in range(32):
            values = found.features[rows == row, balance]
            assert values[found.actions[rows == row] == played[row]] == values.max()
        engine.step(played)


@pytest.mark.parametrize("rules", list(RELATIVES.values()), ids=str)
def test_nothing_depends_on_hidden_cards(rules):
    engine = Engine(rules, 16, seed=6)
    for step in range(40):
        if step % 9 == 0:
            found = gather_action_features(rules, engine.observation, engine.action_mask)
            world = Engine.from_state(rules, determinize(engine.observation, step, rules))
            other = gather_action_features(rules, world.observation, world.action_mask)
            assert all((mine == its).all() for mine, its in zip(found, other, strict=True))
        engine.step(engine.sample_actions())


def test_a_position_by_hand():
    """Most cards and spades are the other side's, so only points and sweeps are worth anything."""
    game = Game.from_position(
        "rules: kasino-sweden players=2; table: 4D AC; hand 0: AH QH 4C; hand 1: KC KD 4H; "
        "captured 1: rest; stock: -; last-capturer: 1"
    )
    rules = game.rules
    found = gather_action_features(rules, game.observation()[None], game.action_mask()[None])
    rows = dict(zip(found.actions.tolist(), found.features, strict=True))
    ace, queen = (
        {name: rows[parse_card(card)][part].tolist() for name, part in columns_of(rules).items()}
        for card in ("AH", "QH")
    )
    assert ace["gain"] == [20]
    assert ace["left"] == [0, 0, 0, 1] + [0] * 9
    assert ace["takers"] == [0, 0, 0, 1] + [0] * 11  # the four of hearts
    assert ace["worth"] == [0, 0, 0, 10] + [0] * 11  # a sweep
    assert ace["threat"] == ace["next_gain"] == [10]
    assert queen["gain"] == [0]
    assert queen["left_cards"] == [3]
    assert queen["takers"] == [0, 0, 0, 1] + [0] * 8 + [2, 0, 0]  # a king takes the queen and the ace
    assert queen["own_takers"] == [1, 0, 0, 1] + [0] * 11
    assert queen["worth"] == [10] + [0] * 11 + [10, 0, 0]
    assert queen["threat"] == queen["next_gain"] == [10]
    assert queen["cards_sure"] == queen["spades_sure"] == [-1]


def test_columns_are_data_of_the_rules():
    for rules in (Rules.preset(), Rules.preset("howto", players=4), *RELATIVES.values()):
        columns = columns_of(rules)
        covered = sorted(at for part in columns.values() for at in range(part.start, part.stop))
        assert covered == list(range(width_of(rules)))
        assert set(descriptions_of(rules)) == set(columns)
        assert list(columns)[: len(block_columns_of(rules))] == list(block_columns_of(rules))
    assert columns_of(Rules.preset()) == COLUMNS
    assert (version_of(Rules.preset()), width_of(Rules.preset()), WIDTH) == (1, 87, 87)
    assert len({version_of(rules) for rules in RELATIVES.values()} - {1}) == 1
